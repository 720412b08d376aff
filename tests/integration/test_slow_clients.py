# SPDX-License-Identifier: Apache-2.0
"""
Who goes on, but too slowly, is closed in bounded time; who waits for the server is not.

The settings are short here. A deadline may be missed by what a loaded machine takes, never be early.
"""

import time

import pytest

from harness import http
from harness.cgi import start_site
from harness.client import PATIENCE, Connection

LARGE = 30_000_000
READS_LATE = "#!/usr/bin/python3\nimport os, sys, time\ntime.sleep(1.6)\nn = len(sys.stdin.buffer.read())\n" \
             "os.write(1, b'Content-Type: text/plain\\n\\n%d' % n)\n"
SLOW_EVENTS = "#!/usr/bin/python3\nimport os, time\nos.write(1, b'Content-Type: text/event-stream\\n\\n')\n" \
              "for n in range(5):\n    time.sleep(0.5)\n    os.write(1, b'data: %d\\n\\n' % n)\n"
LATE_ANSWER = "#!/bin/sh\nsleep 1.6\necho 'Content-Type: text/plain'\necho\necho late\n"


def drip(connection, seconds, pause=0.1, data=b"x"):
    """One piece after the other until the server cuts. @return seconds that it took."""
    began = time.monotonic()
    while (took := time.monotonic() - began) < seconds:
        try:
            connection.send(data)
        except (BrokenPipeError, ConnectionResetError):
            return took
        time.sleep(pause)
    return None


def post(connection, target, length):
    connection.send(http.request(target, "POST", headers={"Content-Length": str(length)}))



@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="BodyTimeout 700ms\nMinRate 100", files={"a.txt": "text"}, handlers="Match ^/echo echo")


def test_a_body_that_drips_is_cut(server):
    """Each byte is progress, but they make no 100 bytes a second."""
    with server.connect() as connection:
        post(connection, "/echo", 10_000)
        took = drip(connection, PATIENCE)
        assert took is not None, "never cut"


def test_a_chunked_body_that_drips_is_cut(server):
    """Framing is no body."""
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}))
        took = drip(connection, PATIENCE, data=b"1;" + b"x" * 100 + b"\r\nx\r\n")
        assert took is not None, "never cut"


def test_what_came_fast_counts_for_the_whole_body(start):
    server = start_site(start, {"count": "#!/bin/sh\necho 'Content-Type: text/plain'\necho\nwc -c\n"},
                        server="BodyTimeout 700ms\nMinRate 100")
    with server.connect() as connection:
        post(connection, "/cgi-bin/count", 20_020)
        connection.send(b"x" * 20_000)
        assert drip(connection, 2.0) is None
        connection.send(b"x" * 20)
        assert connection.response("POST").text.strip() == "20020"


def test_no_min_rate_leaves_every_pace(start):
    server = start(server="BodyTimeout 700ms\nMinRate 0", handlers="Match ^/echo echo")
    with server.connect() as connection:
        post(connection, "/echo", 30)
        assert drip(connection, 2.9) is None
        connection.send(b"x" * 30)
        assert connection.response("POST").status == 200


def test_a_script_that_reads_late_is_not_its_client(start):
    """While the server does not read, its client cannot send."""
    server = start_site(start, {"late": READS_LATE}, server="BodyTimeout 600ms\nMinRate 100M\nMaxBodySize 100M")
    with server.connect() as connection:
        post(connection, "/cgi-bin/late", 20_000_000)
        connection.send(b"x" * 20_000_000)
        assert connection.response("POST").text == "20000000"


def test_waiting_for_a_late_answer_is_not_slow_reading(start):
    server = start_site(start, {"late": LATE_ANSWER}, server="WriteTimeout 500ms\nMinReadRate 100M")
    assert server.get("/cgi-bin/late").text == "late\n"


def test_an_event_stream_is_not_read_slowly(start):
    server = start_site(start, {"events": SLOW_EVENTS}, server="WriteTimeout 500ms\nMinReadRate 100M")
    assert server.get("/cgi-bin/events").text.count("data: ") == 5


def read_slowly(connection, pause, seconds):
    """64 KB each time. @return seconds until it was cut, or None."""
    began = time.monotonic()
    while (took := time.monotonic() - began) < seconds:
        try:
            if not connection.sock.recv(65536):
                return took
        except ConnectionResetError:
            return took
        time.sleep(pause)
    return None


@pytest.fixture(name="readers")
def start_readers(start, tmp_path):
    """Over a unix socket, whose buffer does not grow."""
    path = str(tmp_path / "s")
    server = start(server=f"Listen unix:{path}\nWriteTimeout 3\nMinReadRate 4M", handlers="Match ^/echo echo")
    server.wait_for_log("started workers=")
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(LARGE)
    with Connection(path) as connection:
        connection.send(http.request("/large.bin"))
        yield connection


def test_a_reader_that_is_too_slow_is_cut(readers):
    """It always makes progress within WriteTimeout: 640 KB a second at most."""
    took = read_slowly(readers, 0.1, PATIENCE)
    assert took is not None, "never cut"
    assert took >= 0.9


def test_a_reader_that_is_fast_enough_is_served(readers):
    readers.stream.exactly(LARGE // 2)
    time.sleep(0.7)
    readers.stream.exactly(LARGE // 2)


def test_a_body_that_nobody_wants_has_one_time_for_all_of_it(start):
    """Each byte renewed the time once: 256 KB at one byte a BodyTimeout."""
    server = start(server="BodyTimeout 700ms\nMinRate 0", files={"a.txt": "text"})
    with server.connect() as connection:
        post(connection, "/a.txt", 100_000)
        assert connection.response("POST").status == 405
        took = drip(connection, PATIENCE)
        assert took is not None, "never cut"


def test_a_body_that_nobody_wants_in_time_keeps_the_connection(start):
    server = start(server="BodyTimeout 3\nMinRate 0", files={"a.txt": "text"})
    with server.connect() as connection:
        post(connection, "/a.txt", 10)
        assert connection.response("POST").status == 405
        connection.send_slowly(b"0123456789", pause=0.03)
        assert connection.request("/a.txt").status == 200
