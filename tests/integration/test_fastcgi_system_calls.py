# SPDX-License-Identifier: Apache-2.0
"""What a FastCGI request costs in system calls, seen by strace."""

import re

import pytest

from harness import fastcgi, process
from harness.tools import require

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")
REQUESTS = 40


def calls_of(start, tmp_path, application, ask):
    """The worker's calls for REQUESTS requests on one connection, once all is warm: name -> how often."""
    out = tmp_path / "calls"
    server = start(wrapper=[require("strace"), "-D", "-f", "-o", out],
                   **fastcgi.config(application, location="KeepAlive on", match=r"\.php(/|$)",
                                    files={"a.php": "<?php"}), server="Workers 1")
    with server.connect() as connection:
        for _ in range(3):
            ask(connection)
        before = out.stat().st_size
        for _ in range(REQUESTS):
            ask(connection)
        seen = out.read_bytes()[before:].decode(errors="replace")
    server.stop()
    counts = {}
    for name in re.findall(r"^\d+ +(\w+)\(", seen, re.M):
        name = {"sendto": "send", "sendmsg": "send", "write": "send", "writev": "send",
                "recvfrom": "recv", "read": "recv", "readv": "recv"}.get(name, name)
        counts[name] = counts.get(name, 0) + 1
    return counts


def check(counts, sends, receives):
    slack = 5  # the script is looked for once a second
    assert counts.pop("send", 0) <= sends * REQUESTS + slack
    assert counts.pop("recv", 0) <= receives * REQUESTS + slack
    waits = sum(counts.pop(name, 0) for name in ("epoll_wait", "epoll_pwait", "epoll_pwait2"))
    assert waits <= 3 * REQUESTS + slack  # two when the machine is quiet
    assert sum(counts.values()) <= 20, counts


@pytest.mark.parametrize("size", [0, 200, 15000])
def test_a_get_is_two_reads_and_two_writes(start, tmp_path, size):
    def ask(connection):
        answer = connection.request("/a.php")
        assert (answer.status, len(answer.body), answer.framing) == (200, size, "length")

    with fastcgi.Application(lambda call: call.answer(b"x" * size), path=tmp_path / "s") as application:
        check(calls_of(start, tmp_path, application, ask), sends=2, receives=2)


def test_a_post_looks_at_the_connection_once_more(start, tmp_path):
    def ask(connection):
        assert connection.request("/a.php", "POST", body=b"x" * 500).body == b"x" * 500

    with fastcgi.Application(lambda call: call.answer(call.body()), path=tmp_path / "s") as application:
        check(calls_of(start, tmp_path, application, ask), sends=2, receives=3)
