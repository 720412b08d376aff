# SPDX-License-Identifier: Apache-2.0
"""Old kernels and containers refuse new system calls: with ENOSYS, or with EPERM. Everything goes on working."""

import pytest

from harness import http, process, tools
from harness.variants import SCHEDULERS

CALLS = ["openat2", "statx", "epoll_pwait2", "close_range", "openat2,statx,epoll_pwait2,faccessat2,close_range,pidfd_open"]
FILES = {"index.html": "root", "dir/index.html": "dir", "dir/a.txt": "a", ".hidden": "hidden", "large.bin": b"l" * 500_000}


@pytest.fixture(params=["ENOSYS", "EPERM"])
def error(request):
    return request.param


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_serves_without(start, calls, error, scheduler):
    server = start(wrapper=[tools.helper("refuse.c"), error, calls], server=f"Scheduler {scheduler}", files=FILES,
                   handlers="Match ^/echo echo")
    (server.root / "link").symlink_to("dir/a.txt")
    (server.root / "out").symlink_to("/etc")
    assert server.get("/").text == "root"
    assert server.get("/dir").status == 301
    assert server.get("/dir/").text == "dir"
    assert server.get("/dir/a.txt").text == "a"
    assert server.get("/large.bin").body == FILES["large.bin"]
    assert server.get("/missing").status == 404
    assert server.get("/dir/a.txt/b").status == 404
    assert server.get("/.hidden").status in (403, 404)
    assert server.get("/../etc/passwd").status == 403
    assert server.get("/link").status in (403, 404)
    assert server.get("/out/passwd").status in (403, 404)
    assert server.request("/echo", "POST", body=b"hello").body.endswith(b"hello")


@pytest.mark.parametrize("calls", ["sendfile", "splice"])
def test_sends_files_without_the_fast_ways(start, calls):
    """sendfile fails on some file systems with EINVAL; then files are read and written."""
    server = start(wrapper=[tools.helper("refuse.c"), "EINVAL", calls], files=FILES)
    with server.connect() as connection:
        for _ in range(3):
            assert connection.request("/large.bin").body == FILES["large.bin"]
            response = connection.request("/large.bin", headers={"Range": "bytes=100000-299999"})
            assert response.body == FILES["large.bin"][100000:300000]


def test_the_last_piece_of_a_file_leaves_at_once_without_sendfile(start, tmp_path):
    """A piece that is said to be followed by another waits in the kernel, for the time of a delayed acknowledgement."""
    if process.is_sanitized():
        pytest.skip("a sanitizer's build cannot be traced")
    trace = tmp_path / "trace"
    server = start(wrapper=[tools.require("strace"), "-D", "-f", "-o", trace, "-e", "trace=/send", "-e",
                            "inject=/sendfile:error=EINVAL"], files=FILES, server="Workers 1")
    with server.connect() as connection:
        assert connection.request("/large.bin").body == FILES["large.bin"]
        assert connection.request("/").text == "root"
    server.stop()
    sent = [line for line in trace.read_text().splitlines() if "send" in line and "EINVAL" not in line and "MSG_" in line]
    assert len(sent) > 10
    assert ["MSG_MORE" in line for line in sent[-4:]] == [True, True, False, False]


def test_reloads_without(start, error):
    server = start(wrapper=[tools.helper("refuse.c"), error, CALLS[-1]], files=FILES)
    server.reload(host="Header X-Version 2")
    assert http.parse_one(server.raw(http.request("/", headers={"Connection": "close"}))).header("X-Version") == "2"
