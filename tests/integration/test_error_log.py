# SPDX-License-Identifier: Apache-2.0
"""The error log, whoever reads it: workers never wait for it."""

import os
import re
import signal

import pytest

from harness.client import eventually


@pytest.fixture
def pipe(tmp_path):
    """A named pipe with a reader that does not read."""
    path = tmp_path / "error.pipe"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, fd
    os.close(fd)


def everything(fd):
    text = b""
    while True:
        try:
            piece = os.read(fd, 1 << 20)
        except BlockingIOError:
            return text.decode()
        if not piece:
            return text.decode()
        text += piece


def fill(path):
    fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(fd, b"x" * 1024)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(fd, b"x")
    os.close(fd)


def test_pipe_that_nobody_reads_holds_no_worker(start, pipe):
    path, fd = pipe
    server = start(server=f"Workers 1\nErrorLog {path}\nLogLevel trace", files={"index.html": "x"}, wait=False)
    begun = []
    assert eventually(lambda: begun.append(everything(fd)) or "listening address=" in "".join(begun))
    server.stderr.write_text("".join(begun))  # where the harness looks for the address
    fill(path)
    for _ in range(40):  # each connection's end is a line; all but the last one's are lost by now
        assert server.get("/").status == 200
    heard = [everything(fd)]  # the worker may log while this reads

    def said():
        assert server.get("/").status == 200
        heard.append(everything(fd))
        return re.search(r"in=\w+ lines lost count=\d+\n", "".join(heard))

    assert eventually(said, every=0.3)


def test_pipe_without_a_reader_is_named(start, tmp_path):
    path = tmp_path / "error.pipe"
    os.mkfifo(path)
    server = start(server=f"ErrorLog {path}", wait=False)
    assert server.expect_exit() == 1
    assert f"ErrorLog: cannot open {path}: no process reads this pipe" in server.log()


UNREACHED = {"silent": "[HOST]\n    DocumentRoot /\n"}
WARNING = "warning: no request reaches this site: [HOST] has no ServerName"


def test_warnings_of_the_start_are_in_the_log(start, tmp_path):
    path = tmp_path / "error.log"
    server = start(server=f"ErrorLog {path}", sites=UNREACHED, wait=False)
    assert eventually(lambda: path.exists() and "started workers=" in path.read_text())
    lines = [line for line in path.read_text().splitlines() if WARNING in line]
    assert len(lines) == 1 and re.match(r"\S+ level=warn in=conf \S+/sites/silent:1:", lines[0])
    assert server.log().count(WARNING) == 1  # on the terminal as before
    server.signal(signal.SIGHUP)  # which says it again, and no line of the start
    assert eventually(lambda: "configuration reloaded" in path.read_text())
    assert path.read_text().count(WARNING) == 2


def test_a_log_on_the_terminal_says_them_once(start):
    assert start(sites=UNREACHED, files={"a.txt": "text"}).log().count(WARNING) == 1
