# SPDX-License-Identifier: Apache-2.0
"""
Lingering close (RFC 9112 9.6): a client that is still sending can read the answer that refuses it.

Closing a socket with unread input makes the kernel send a reset, which destroys what the client has not read.
"""

import re
import signal
import time

import pytest

from harness import http
from harness.cgi import start_site
from harness.client import eventually


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="MaxBodySize 1M\nBodyTimeout 2\nLogLevel debug", files={"a.txt": "text"},
                        handlers="Match ^/echo echo")


def send_all(connection, data):
    """As much as the peer takes, like a client that does not look at answers before it has sent."""
    try:
        connection.send(data)
    except (BrokenPipeError, ConnectionResetError):
        pass


@pytest.mark.parametrize("target", ["/echo", "/a.txt", "/missing"])
def test_413_is_readable_by_a_client_that_sends_on(server, target):
    for _ in range(20):
        with server.connect() as connection:
            connection.send(http.request(target, "POST", headers={"Content-Length": "100000000"}))
            time.sleep(0.005)
            for _ in range(8):
                send_all(connection, b"x" * 100_000)
            assert connection.response("POST").status == 413


def test_413_for_a_chunked_body_is_readable(server):
    with server.connect() as connection:
        send_all(connection, http.request("/a.txt", "POST", headers={"Transfer-Encoding": "chunked"})
                 + http.chunk(b"x" * 100_000) * 18)
        assert connection.response("POST").status in (405, 413)


def test_400_is_readable_with_unread_input_behind_it(server):
    for _ in range(20):
        with server.connect() as connection:
            send_all(connection, b"GET / HTTP/1.1\r\nX : y\r\n\r\n" + b"x" * 500_000)
            assert connection.response().status == 400


def test_431_is_readable(server):
    with server.connect() as connection:
        send_all(connection, b"GET / HTTP/1.1\r\n" + b"X-Fill: xxxxxxxxxxxxxxxxxxxx\r\n" * 30000)
        assert connection.response().status == 431


def test_pipelined_requests_behind_close_do_not_destroy_the_answer(server):
    for _ in range(20):
        with server.connect() as connection:
            connection.send(http.request("/a.txt", headers={"Connection": "close"}) + http.request("/a.txt") * 500)
            response = connection.response()
            assert response.text == "text"
            assert connection.is_closed()


@pytest.mark.parametrize("size", [2_000_000, 40_000_000])
def test_413_is_readable_by_a_client_that_sends_all_first(server, size):
    for _ in range(5):
        with server.connect() as connection:
            connection.send(http.request("/a.txt", "POST", headers={"Content-Length": str(size)}) + b"x" * size)
            assert connection.response("POST").status == 413


ANSWERS_AT_ONCE = """#!/usr/bin/python3
import os
out = b"Content-Type: text/plain\\n\\n" + b"y" * 3_000_000
while out:
    out = out[os.write(1, out):]
"""


@pytest.mark.socket("a client in memory may always send")
@pytest.mark.parametrize("size", [2_000_000, 40_000_000])
def test_a_whole_answer_of_a_script_that_reads_no_body(start, size):
    server = start_site(start, {"early": ANSWERS_AT_ONCE}, server="MaxBodySize 100M")
    for _ in range(5):
        with server.connect() as connection:
            connection.send(http.request("/cgi-bin/early", "POST", headers={"Content-Length": str(size)}) + b"x" * size)
            assert len(connection.response("POST").body) == 3_000_000


@pytest.mark.socket("a client in memory may always send")
def test_lingering_ends_although_the_client_drips(server):
    """Only who uploads is listened to for long."""
    before = server.open_descriptors()
    with server.connect() as connection:
        connection.send(http.request("/a.txt", "POST", headers={"Content-Length": "100000000"}))
        assert connection.response("POST").status == 413
        start = time.monotonic()
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while time.monotonic() < start + 28:
                connection.send(b"x" * 10)
                time.sleep(0.05)
    assert eventually(lambda: server.open_descriptors() <= before)


def test_lingering_ends_when_the_client_does(server):
    """
    Not when its time is over, of which the reason would be another. A busy machine may make it so once, and the log leaves the
    line out where others came in the same second.
    """
    def ends_early():
        since = len(server.log())
        with server.connect() as connection:
            assert connection.request("/a.txt", headers={"Connection": "close"}).text == "text"
            connection.finish_sending()
            assert connection.is_closed()
        closed = eventually(lambda: re.search(r"closed conn=.* reason=(\w+)", server.log()[since:]), within=2)
        return closed and closed[1] != "LINGERED"

    assert eventually(ends_early)


# ---- an end that is the server's own decision: input that comes afterwards destroys no answer either

MANY = 20
PAGE = "x" * 4800


@pytest.fixture
def asked(start):
    """A client that has sent so many requests and reads slowly: most of the answers wait in the server's kernel."""
    def make(settings):
        server = start(server=f"Workers 1\nLogLevel trace:conn\n{settings}", files={"page.txt": PAGE})
        connection = server.connect(receive_buffer=4096)
        connection.send(http.request("/page.txt") * MANY)
        time.sleep(0.3)
        return server, connection
    return make


def gets_all(connection):
    assert [connection.response().text for _ in range(MANY)] == [PAGE] * MANY
    assert connection.stream.at_end()


@pytest.mark.socket("no kernel holds its answers")
def test_a_request_behind_the_last_allowed_one(asked):
    _, connection = asked(f"MaxKeepAliveRequest {MANY}")
    connection.send(http.request("/page.txt"))
    time.sleep(0.1)
    gets_all(connection)


@pytest.mark.socket("no kernel holds its answers")
def test_half_a_close_behind_the_last_allowed_request(asked):
    """Both sides have ended then, but for what the client has sent: it must be read before the connection is closed."""
    _, connection = asked(f"MaxKeepAliveRequest {MANY}")
    connection.send(http.request("/page.txt"))
    connection.finish_sending()
    time.sleep(0.1)
    gets_all(connection)


@pytest.mark.socket("no kernel holds its answers")
def test_a_request_behind_the_keep_alive_time(asked):
    server, connection = asked("KeepAliveTimeout 1")
    server.wait_for_log("to=linger")
    connection.send(http.request("/page.txt"))
    time.sleep(0.1)
    gets_all(connection)


@pytest.mark.socket("no kernel holds its answers")
def test_a_request_behind_the_end_of_the_server(asked):
    server, connection = asked("KeepAliveTimeout 600")
    server.signal(signal.SIGTERM)
    server.wait_for_log("to=linger")
    connection.send(http.request("/page.txt"))
    time.sleep(0.1)
    gets_all(connection)


@pytest.mark.socket("no kernel holds its answers")
def test_a_request_behind_one_that_timed_out(asked):
    server, connection = asked("Timeout 1")
    connection.send(b"GET / HT")
    server.wait_for_log("to=linger")
    connection.send(http.request("/page.txt"))
    time.sleep(0.1)
    assert [connection.response().text for _ in range(MANY)] == [PAGE] * MANY
    assert connection.response().status == 408
    assert connection.stream.at_end()
