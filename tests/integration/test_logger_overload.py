# SPDX-License-Identifier: Apache-2.0
"""More lines than their file takes: nothing stalls, and every line is written or counted."""

import os
import re
import subprocess
import time

import pytest

from harness.client import eventually
from harness.logs import PATIENT, Crowd, check_numbers, lines_of, logging, told_lost

SITE = {"index.html": "hello"}


def test_four_workers_at_full_speed_lose_nothing(start):
    server = start(**logging("", server=f"Workers 4\n{PATIENT}", files=SITE))
    crowd = Crowd(server.port, clients=8, depth=200, each=10000)
    crowd.start()
    crowd.join()
    assert crowd.faults == []
    server.stop()
    assert check_numbers(lines_of(server.conf / "access.log"), crowd.answers) == crowd.answers == 80000
    assert told_lost(server) == 0


def ask_a_hundred_times(server):
    """Each answer comes although its line cannot be written."""
    with server.connect() as connection:
        for _ in range(100):
            assert connection.request("/").status == 200


def test_a_fifo_that_nobody_reads_stalls_nobody(start, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = open_reader(tmp_path / "fifo")
    server = start(**logging("FlushTimeout 0", log=f"AccessLog {tmp_path}/fifo", server=f"Workers 2\n{PATIENT}", files=SITE))
    crowd = Crowd(server.port, each=20000)  # fifo and pipes hold about 3 MB: half of it
    crowd.start()
    crowd.join()
    assert crowd.faults == []
    server.wait_for_log("log cannot be written.*its reader is too slow")
    ask_a_hundred_times(server)
    with open(reader, "rb") as fifo:
        server.stop()
        text = fifo.read()
    assert server.log().count("log cannot be written") == 1
    assert text.endswith(b"\n")
    assert text.count(b"\n") + told_lost(server) == crowd.answers + 100


def open_reader(path):
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def read_some(fd):
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return b""


def ask_until_told(server, words):
    """Lines are what makes the logger look again. The number of requests is returned."""
    count = 0
    while not re.search(words, server.log()):
        assert count < 100, server.log()
        server.get("/")
        count += 1
        time.sleep(0.1)
    return count


def test_a_fifo_whose_reader_left_and_comes_back(start, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = open_reader(tmp_path / "fifo")
    server = start(**logging("FlushTimeout 0\nFormat '%U'", log=f"AccessLog {tmp_path}/fifo"))
    server.get("/1")
    assert eventually(lambda: read_some(reader)) == b"/1\n"
    os.close(reader)
    server.get("/2")
    server.wait_for_log("log cannot be written")
    reader = open_reader(tmp_path / "fifo")
    server.get("/3")
    assert eventually(lambda: read_some(reader)) == b"/3\n"
    ask_until_told(server, "log can be written again.* lost=1")
    os.close(reader)


def test_a_fifo_without_reader_refuses_the_start(start, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    server = start(wait=False, **logging(log=f"AccessLog {tmp_path}/fifo"))
    assert server.expect_exit() == 1
    assert "no process reads this fifo" in server.log()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KB; a mount needs root."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "monkey-test", disk], check=False).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_neither_stalls_nor_ends_the_server(start, small_disk):
    server = start(**logging("FlushTimeout 0", log=f"AccessLog {small_disk}/access.log",
                             server=f"Workers 2\n{PATIENT}", files=SITE))
    crowd = Crowd(server.port, each=5000)
    crowd.start()
    crowd.join()
    assert crowd.faults == []
    server.wait_for_log("log cannot be written.*No space left on device")
    ask_a_hundred_times(server)
    log = small_disk / "access.log"
    # What finds no room is tried, and half a line taken back, with each request: it may be there for a moment.
    assert eventually(lambda: log.read_bytes().endswith(b"\n"))
    assert eventually(lambda: len(lines_of(log)) > 1000)
    kept = len(lines_of(log))
    os.truncate(log, 0)  # room again
    asked = ask_until_told(server, "log can be written again")
    server.stop()
    assert server.log().count("log cannot be written") == 1
    assert server.log().count("log can be written again") == 1
    assert kept + told_lost(server) + len(lines_of(log)) == crowd.answers + 100 + asked
