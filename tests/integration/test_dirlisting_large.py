# SPDX-License-Identifier: Apache-2.0
"""Listings of directories with very many entries: whole, in bounded memory, and beside other clients."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import time

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import section
from harness.latency import best_percentile_99

pytestmark = pytest.mark.slow

MANY = 100_000
TOO_MANY = 40_000  # of the longest names: more than the 8 MB that one listing may keep
MB = 1 << 20


def name_of(number):
    return f"entry number {number}.txt"


def long_name_of(number):
    return f"{number:06}".rjust(255, "x")


@pytest.fixture(scope="module")
def root():
    """One file with many names, in memory where there is room: made in seconds."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    folder.chmod(0o755)
    (folder / "small.txt").write_text("small")
    for directory, name, count in (("many", name_of, MANY), ("long", long_name_of, TOO_MANY)):
        (folder / directory).mkdir()
        fd = os.open(folder / directory, os.O_RDONLY)
        for number in range(count):
            if number % 20_000 == 0:  # some file systems allow so many names, not many more
                (folder / directory / name(number)).write_text("x")
                first = name(number)
            else:
                os.link(first, name(number), src_dir_fd=fd, dst_dir_fd=fd)
        os.close(fd)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server(start, root):
    return start(server="Workers 1", host=f"DocumentRoot {root}",
                 site=section("DIRLISTING", "Listing on"),
                        extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('dirlisting')}")})


def memory(server, what="VmRSS"):
    """Bytes: VmRSS now, VmHWM at most."""
    text = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+) kB", text)[1]) * 1024


def json_of(server, target):
    return json.loads(server.get(target, {"Accept": "application/json"}).body)


def test_a_hundred_thousand_entries_are_sorted(server):
    before = memory(server)
    listing = json_of(server, "/many/")
    assert listing["sorted"]
    assert [entry["name"] for entry in listing["entries"]] == [name_of(number) for number in range(MANY)]
    if not process.is_sanitized():
        assert memory(server, "VmHWM") - before < 14 * MB
    assert json_of(server, "/many/?order=desc")["entries"][0]["name"] == name_of(MANY - 1)


def test_the_page_is_whole(server):
    text = server.get("/many/").text
    assert text.count('<tr class="file">') == MANY
    assert f"{MANY} files" in text
    assert text.rstrip().endswith("</html>")


def test_more_than_fits_comes_unsorted_and_says_so(server):
    before = memory(server)
    listing = json_of(server, "/long/")
    assert not listing["sorted"]
    assert sorted(entry["name"] for entry in listing["entries"]) == sorted(map(long_name_of, range(TOO_MANY)))
    text = server.get("/long/").text
    assert "Too many entries" in text
    assert text.count('<tr class="file">') == TOO_MANY
    if not process.is_sanitized():
        assert memory(server, "VmHWM") - before < 14 * MB


def test_many_at_once_share_a_bounded_memory(server):
    """Clients that do not read keep what is to be sent to them waiting."""
    before = memory(server)
    stuck = [server.connect(receive_buffer=4096) for _ in range(30)]
    for connection in stuck:
        connection.send(http.request("/many/"))
    time.sleep(3)
    if not process.is_sanitized():
        assert memory(server, "VmHWM") - before < 90 * MB
    assert server.get("/small.txt").text == "small"
    descriptors = server.open_descriptors()
    for connection in stuck:
        connection.reset()
    assert eventually(lambda: server.open_descriptors() <= descriptors - len(stuck))
    if not process.is_sanitized():
        assert eventually(lambda: memory(server) - before < 30 * MB)


def test_clients_that_leave_leave_nothing_behind(server):
    assert server.head("/many/").status == 200  # the document root and its table are open
    descriptors = server.open_descriptors()
    for _ in range(50):
        with server.connect() as connection:
            connection.send(http.request("/many/"))
            connection.reset()
    left = eventually(lambda: server.open_descriptors() <= descriptors, within=20)
    assert left, [os.readlink(path) for path in pathlib.Path(f"/proc/{server.pid}/fd").iterdir()]
    assert server.get("/small.txt").text == "small"


@pytest.mark.timed
def test_another_client_of_the_worker_does_not_wait(server):
    """Four clients read large listings all the time; p99 of a fifth stays small."""
    limit = 0.1 if process.is_sanitized() else 0.01
    readers = []
    for target in ("/many/", "/many/?sort=size", "/long/", "/many/?order=desc"):
        urls = [f"http://127.0.0.1:{server.port}{target}"] * 200
        readers.append(process.subprocess.Popen(["curl", "--silent", *urls], stdin=process.subprocess.DEVNULL,
                                                stdout=process.subprocess.DEVNULL))
    try:
        time.sleep(0.5)
        best = best_percentile_99(server, "/small.txt", limit)
        assert all(reader.poll() is None for reader in readers), "a reader was done too early to disturb anybody"
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
    assert best < limit, f"p99 of another client: {best * 1000:.1f} ms"
    print(f"p99 of another client: {best * 1000:.1f} ms")


def test_a_directory_that_goes_away_meanwhile(start, tmp_path):
    """The answer ends whole or is broken off; the server serves on."""
    server = start(server="Workers 1", files={"small.txt": "small"},
                   site=section("DIRLISTING", "Listing on"),
                        extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('dirlisting')}")})
    for _ in range(3):
        folder = server.root / "going"
        folder.mkdir()
        for number in range(3000):
            (folder / f"{number}".zfill(200)).touch()
        with server.connect(receive_buffer=4096) as connection:
            connection.send(http.request("/going/", headers={"Connection": "close"}))
            shutil.rmtree(folder)
            answer = connection.rest_until_cut()
        assert answer.startswith(b"HTTP/1.1 200") or answer.startswith(b"HTTP/1.1 404")
        if not http.is_cut_off(answer):
            http.parse_one(answer)
        assert server.get("/going/").status in (403, 404)  # for a second it is remembered as a directory
    assert server.get("/small.txt").text == "small"
