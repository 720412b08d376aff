# SPDX-License-Identifier: Apache-2.0
"""Bodies to scripts and from them: streamed both ways, at the pace of the slower one, in little memory."""

import hashlib
import pathlib
import threading
import time

import pytest

from harness import http, process
from harness.cgi import start_site
from harness.client import eventually
from harness.family import peak_kb

HEAD = "#!/bin/sh\necho 'Content-Type: application/octet-stream'\necho\n"
SUM = HEAD + "md5sum\n"
ECHO = HEAD + "exec cat\n"
# Answers at once, then line by line as it is told to go on.
FLUSH = "#!/usr/bin/python3\nimport os\nos.write(1, b'Content-Type: text/plain\\n\\nready\\n')\n" \
        "while data := os.read(0, 65536):\n    os.write(1, b'got ' + data)\n"
LARGE = 64 << 20
SMALLER = 2 << 20
LITTLE_KB = 4096 if process.is_sanitized() else 1024


def piece(number):
    return hashlib.md5(str(number).encode()).digest() * 4096  # 64 KB


def pieces(total):
    return (piece(number) for number in range(total // len(piece(0))))


def digest(parts):
    md5 = hashlib.md5()
    for part in parts:
        md5.update(part)
    return md5.hexdigest()


def upload(server, path, size, framing="length"):
    """@return seconds that its sending took."""
    headers = {"Content-Length": str(size)} if framing == "length" else {"Transfer-Encoding": "chunked"}
    with server.connect(timeout=30) as connection:
        connection.send(http.request(path, "POST", headers=headers))
        began = time.monotonic()
        for part in pieces(size):
            connection.send(part if framing == "length" else http.chunk(part))
        if framing == "chunked":
            connection.send(b"0\r\n\r\n")
        spent = time.monotonic() - began
        assert connection.response("POST").text.split()[0] == digest(pieces(size))
    return spent


@pytest.fixture(name="plain_stack")
def fixture_plain_stack(monkeypatch):
    """A sanitizer's stacks of their own for what has returned grow with each turn of the server, up to megabytes."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_stack_use_after_return=0")


@pytest.mark.timed
@pytest.mark.usefixtures("plain_stack")
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_large_upload_in_little_memory(start, framing):
    """Hardly more than one that is much smaller takes."""
    server = start_site(start, {"sum": SUM}, server="MaxBodySize 100M\nWorkers 1")
    upload(server, "/cgi-bin/sum", SMALLER, framing)
    before = peak_kb(server.pid)
    upload(server, "/cgi-bin/sum", LARGE, framing)
    assert peak_kb(server.pid) - before < LITTLE_KB


@pytest.mark.timed
def test_large_answer_in_little_memory(start):
    server = start_site(start, {"much": HEAD + f"head -c {LARGE} /dev/zero\n"}, server="Workers 1")
    with server.connect(receive_buffer=65536, timeout=30) as connection:
        connection.send(http.request("/cgi-bin/much"))
        time.sleep(0.5)
        assert len(connection.response().body) == LARGE
    assert peak_kb(server.pid) < 40000


def test_echo_of_more_than_all_pipes_hold(start):
    server = start_site(start, {"echo": ECHO}, server="MaxBodySize 100M")
    with server.connect(timeout=30) as connection:
        connection.send(http.request("/cgi-bin/echo", "POST", headers={"Content-Length": str(8 << 20)}))
        sender = threading.Thread(target=lambda: [connection.send(part) for part in pieces(8 << 20)])
        sender.start()
        body = connection.response("POST").body
        sender.join()
    assert hashlib.md5(body).hexdigest() == digest(pieces(8 << 20))


def read_chunk(connection):
    data = connection.stream.exactly(int(connection.stream.line(), 16))
    connection.stream.line()
    return data


def test_answers_piece_by_piece_while_the_body_comes(start):
    server = start_site(start, {"flush": FLUSH}, "RequestBuffering off")
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/flush", "POST", headers={"Content-Length": "10"}))
        assert http.read_head(connection.stream).status == 200
        assert read_chunk(connection) == b"ready\n"
        for data in (b"hello", b"world"):
            connection.send(data)
            assert read_chunk(connection) == b"got " + data
        assert connection.stream.line() == b"0"


def test_body_that_a_script_does_not_read(start):
    """The answer comes all the same, and a sender that goes on is told by the close."""
    server = start_site(start, {"deaf": HEAD + "echo deaf\n"}, "RequestBuffering off", server="MaxBodySize 100M")
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/deaf", "POST", headers={"Content-Length": str(1 << 20)}))
        assert connection.response("POST").text == "deaf\n"


@pytest.mark.timed
@pytest.mark.usefixtures("plain_stack")
def test_script_that_does_not_read_holds_its_sender_back(start):
    server = start_site(start, {"lazy": HEAD + "sleep 2\nmd5sum\n"}, server="MaxBodySize 100M\nWorkers 1")
    upload(server, "/cgi-bin/lazy", SMALLER)
    before = peak_kb(server.pid)
    assert upload(server, "/cgi-bin/lazy", LARGE) > 1
    assert peak_kb(server.pid) - before < LITTLE_KB


def test_body_that_is_too_large(start):
    server = start_site(start, {"sum": SUM}, server="MaxBodySize 64K")
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/sum", "POST", headers={"Transfer-Encoding": "chunked"}) +
                        http.chunk(b"x" * 70000))
        assert connection.response("POST").status == 413


def test_chunks_that_are_none(start):
    server = start_site(start, {"sum": SUM})
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/sum", "POST", headers={"Transfer-Encoding": "chunked"}) + b"zz\r\n")
        assert connection.response("POST").status == 400


def test_body_that_breaks_off_ends_the_script(start, tmp_path):
    script = HEAD + f"echo $$ >{tmp_path}/pid\ncat >/dev/null\nsleep 60\n"
    server = start_site(start, {"reads": script}, "RequestBuffering off")
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/reads", "POST", headers={"Content-Length": "10"}) + b"half")
        assert eventually((tmp_path / "pid").exists)
        time.sleep(0.2)
    pid = (tmp_path / "pid").read_text().strip()
    assert eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists())


def test_one_request_after_another_on_one_connection(start):
    server = start_site(start, {"echo": ECHO})
    with server.connect() as connection:
        for number in range(20):
            body = b"%d" % number * 1000
            assert connection.request("/cgi-bin/echo", "POST", body=body).body == body
        connection.send(b"".join(http.request("/cgi-bin/echo", "POST", body=b"%d" % n) for n in range(10)))
        assert [r.body for r in connection.responses(*["POST"] * 10)] == [b"%d" % n for n in range(10)]
