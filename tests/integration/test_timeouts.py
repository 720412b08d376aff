# SPDX-License-Identifier: Apache-2.0
"""
A connection that sends nothing, drips, or does not read is closed on time.

The settings are short here. A deadline may be missed by what a loaded machine takes, never be early.
"""

import time

import pytest

from harness import http
from harness.client import PATIENCE, eventually

HEAD, BODY, WRITE, KEEP = 1.5, 1.5, 2.0, 1.0  # seconds: long enough for a busy machine to do what is in time
LARGE = 30_000_000


@pytest.fixture(scope="module")
def server(start_shared):
    server = start_shared(server=f"Timeout {HEAD * 1000:.0f}ms\nBodyTimeout {BODY * 1000:.0f}ms\nMinRate 2\nWriteTimeout {WRITE * 1000:.0f}ms\n"
                                 f"KeepAliveTimeout {KEEP * 1000:.0f}ms\nLogLevel debug",
                          files={"a.txt": "text"}, handlers="Match ^/echo echo")
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(LARGE)
    return server


class Stopwatch:
    def __init__(self):
        self.start = time.monotonic()

    def assert_after(self, seconds):
        """It did not take less than the setting says."""
        took = time.monotonic() - self.start
        assert seconds - 0.11 <= took < PATIENCE, f"took {took:.2f} s instead of {seconds} s"


def test_silent_connection_is_closed(server):
    watch = Stopwatch()  # the server counts from its accept, before a handshake ends
    with server.connect() as connection:
        assert connection.is_closed()
        watch.assert_after(HEAD)


def test_incomplete_head_is_408(server):
    watch = Stopwatch()  # the server counts from its accept, before a handshake ends
    with server.connect() as connection:
        connection.send(b"GET / HTTP/1.1\r\nHost: local")
        response = connection.response()
        watch.assert_after(HEAD)
        assert response.status == 408
        assert not response.keeps_connection
        assert connection.is_closed()


def test_dripping_head_does_not_extend_the_time(server):
    """The whole head must be there in time, not just the next byte."""
    watch = Stopwatch()  # the server counts from its accept, before a handshake ends
    with server.connect() as connection:
        connection.sock.settimeout(0.05)
        head = http.request("/a.txt", headers={"X-Slow": "x" * 200})
        for at in range(len(head)):
            try:
                connection.send(head[at:at + 1])
                connection.stream._more()
                break
            except TimeoutError:
                pass
            except OSError:  # the server has closed after its answer, which a slow client finds now
                break
        connection.sock.settimeout(30)
        assert connection.response().status == 408
        watch.assert_after(HEAD)


def test_slow_head_that_makes_it_in_time_is_served(server):
    with server.connect() as connection:
        connection.send_slowly(http.request("/a.txt"), step=8, pause=0.03)
        assert connection.response().status == 200


def test_idle_connection_is_closed_silently(server):
    with server.connect() as connection:
        watch = Stopwatch()  # the server counts from its answer, which may be read later
        assert connection.request("/a.txt").status == 200
        assert connection.is_closed()
        watch.assert_after(KEEP)


def test_each_request_renews_the_idle_time(server):
    with server.connect() as connection:
        for _ in range(6):
            assert connection.request("/a.txt").status == 200
            time.sleep(KEEP / 4)


def test_second_request_has_the_whole_time_for_its_head(server):
    """KeepAliveTimeout ends with the first byte; from then on Timeout counts."""
    with server.connect() as connection:
        assert connection.request("/a.txt").status == 200
        time.sleep(0.1)
        watch = Stopwatch()
        connection.send(b"GET / HT")
        assert connection.response().status == 408
        watch.assert_after(HEAD)


def test_body_that_stops_is_408(server):
    with server.connect() as connection:
        watch = Stopwatch()
        connection.send(http.request("/a.txt", "POST", headers={"Content-Length": "100"}) + b"x" * 10)
        answer = connection.rest()
        assert answer.startswith((b"HTTP/1.1 408", b"HTTP/1.1 405"))


def test_body_that_a_handler_waits_for_is_cut(server):
    with server.connect() as connection:
        watch = Stopwatch()
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "100"}) + b"x" * 10)
        with pytest.raises((AssertionError, ConnectionError)):
            assert connection.response("POST").status == 200


def test_slow_body_that_goes_on_is_served(server):
    """BodyTimeout is about progress: a body at MinRate may take longer as a whole."""
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "10"}))
        connection.send_slowly(b"0123456789", pause=0.25)
        assert connection.response("POST").body.endswith(b"0123456789")


@pytest.mark.socket("memory is never full")
def test_reader_that_stops_is_closed(server):
    with server.connect(receive_buffer=4096) as connection:
        since = len(server.log())
        connection.send(http.request("/large.bin"))
        server.wait_for_log("reason=STALLED", since)
        received = 0
        try:
            while piece := connection.sock.recv(65536):
                received += len(piece)
        except ConnectionResetError:
            pass
        assert received < LARGE


def test_slow_reader_that_goes_on_is_served(server):
    """WriteTimeout is about progress."""
    with server.connect(receive_buffer=65536) as connection:
        connection.send(http.request("/large.bin", headers={"Range": "bytes=0-3999999"}))
        received = 0
        watch = Stopwatch()
        while received < 4_000_000:
            received += len(connection.stream.exactly(min(150_000, 4_000_000 - received)))
            time.sleep(0.1)
        assert time.monotonic() - watch.start > WRITE


CROWD = 10


def test_nothing_is_left_of_closed_connections(start):
    server = start(server="Timeout 1000ms")  # of its own: what other tests closed may linger
    before = server.open_descriptors()
    connections = []
    for _ in range(CROWD):
        connections.append(server.connect())
        connections[-1].send(b"GET")  # who says nothing is the system's for a second
    assert all(connection.response().status == 408 and connection.is_closed() for connection in connections)
    assert eventually(lambda: server.open_descriptors() <= before)


def test_max_keepalive_request_closes_after_that_many(start):
    server = start(server="MaxKeepAliveRequest 3", files={"a.txt": "text"})
    with server.connect() as connection:
        keeps = [connection.request("/a.txt").keeps_connection for _ in range(3)]
        assert keeps == [True, True, False]
        assert connection.is_closed()


def test_max_keepalive_request_counts_pipelined_ones(start):
    server = start(server="MaxKeepAliveRequest 3", files={"a.txt": "text"})
    assert len(http.parse(server.raw(http.request("/a.txt") * 10), ["GET"] * 3)) == 3
