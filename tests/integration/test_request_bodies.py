# SPDX-License-Identifier: Apache-2.0
"""Request bodies, by length and chunked, as a handler sees them: RFC 9112 6.3 and 7.1."""

import hashlib
import random
import threading

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="MaxBodySize 64M", files={"a.txt": "text"}, handlers="Match ^/echo echo")


def echoed(response):
    """(request line and fields as received, body)"""
    assert response.status == 200
    assert response.header("Content-Type").startswith("text/plain")
    head, _, body = response.body.partition(b"\r\n\r\n")
    return head, body


def post_chunked(server, body, headers=()):
    pairs = [("Transfer-Encoding", "chunked"), *headers]
    return server.request("/echo", "POST", headers=pairs, body=body)


def test_echo_shows_the_head_as_understood(server):
    lines = b"POST /echo?q=1 HTTP/1.1\r\nhOST:   localhost  \r\nX-Odd:a  b\r\nContent-Length: 2\r\nConnection: close"
    head, body = echoed(http.parse_one(server.raw(lines + b"\r\n\r\nhi")))
    assert head == b"POST /echo?q=1 HTTP/1.1\r\nhOST: localhost\r\nX-Odd: a  b\r\nContent-Length: 2\r\nConnection: close"
    assert body == b"hi"


CHUNKED = [
    ("one chunk", b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
    ("several chunks", b"1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", b"hello"),
    ("no data", b"0\r\n\r\n", b""),
    ("upper and lower case size", b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", b"0123456789" * 2),
    ("leading zeros", b"0005\r\nhello\r\n000\r\n\r\n", b"hello"),
    ("CR LF within the data", b"4\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n\r\n"),
    ("extension", b"5;name=value\r\nhello\r\n0;last\r\n\r\n", b"hello"),
    ("quoted extension", b'5;name="a b;c"\r\nhello\r\n0\r\n\r\n', b"hello"),
    ("blank before an extension", b"5 ; name = value\r\nhello\r\n0\r\n\r\n", b"hello"),
    ("trailers", b"5\r\nhello\r\n0\r\nX-One: 1\r\nX-Two: 2\r\n\r\n", b"hello"),
    ("framing fields as trailers", b"5\r\nhello\r\n0\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\n\r\n", b"hello"),
]


@pytest.mark.parametrize("body, wanted", [pytest.param(body, wanted, id=name) for name, body, wanted in CHUNKED])
def test_decodes_chunked(server, body, wanted):
    assert echoed(post_chunked(server, body))[1] == wanted


@pytest.mark.parametrize("body, wanted", [pytest.param(body, wanted, id=name) for name, body, wanted in CHUNKED])
def test_the_next_request_begins_behind_the_chunks(server, body, wanted):
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}, body=body)
                        + http.request("/a.txt"))
        assert echoed(connection.response("POST"))[1] == wanted
        assert connection.response().text == "text"


def test_trailers_do_not_become_fields(server):
    """RFC 9110 6.5.1"""
    head, _ = echoed(post_chunked(server, b"0\r\nX-Trailer: 1\r\n\r\n"))
    assert b"X-Trailer" not in head


def exchange(connection, data):
    """Send and read at the same time, as a stream both ways needs it."""
    sender = threading.Thread(target=connection.send, args=(data,))
    sender.start()
    try:
        return connection.response("POST")
    finally:
        sender.join()


def some_bytes(count):
    return random.Random(count).randbytes(count)


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 65536, 1 << 20, 20 << 20])
def test_streams_a_body_by_length(server, size):
    data = some_bytes(size)
    with server.connect() as connection:
        _, body = echoed(exchange(connection, http.request("/echo", "POST", body=data)))
        assert hashlib.sha256(body).digest() == hashlib.sha256(data).digest()
        assert connection.request("/a.txt").text == "text"


@pytest.mark.parametrize("size, piece", [(3000, 1), (20000, 7), (1 << 20, 4096), (5 << 20, 100000)])
def test_streams_a_chunked_body(server, size, piece):
    data = some_bytes(size)
    framed = http.chunked(*[data[at:at + piece] for at in range(0, size, piece)])
    with server.connect() as connection:
        head = http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"})
        _, body = echoed(exchange(connection, head + framed))
        assert hashlib.sha256(body).digest() == hashlib.sha256(data).digest()
        assert connection.request("/a.txt").text == "text"


def test_a_body_arrives_while_it_is_sent(server):
    """Streamed, not gathered: the first half is echoed before the second is there."""
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "200000"}) + b"a" * 100000)
        response = http.read_head(connection.stream)
        assert response.status == 200
        seen = b""
        while seen.count(b"a") < 100000:
            seen += connection.stream.some()
        connection.send(b"b" * 100000)
        while seen.count(b"b") < 100000:
            seen += connection.stream.some()


def test_unread_body_of_an_answered_request_is_skipped(server):
    """A small unwanted body does not cost the connection."""
    with server.connect() as connection:
        assert connection.request("/missing", "POST", body=b"x" * 10000).status in (404, 405)
        assert connection.request("/a.txt").text == "text"


REFUSED = [
    ("malformed size", b"5x\r\nhello\r\n0\r\n\r\n", 400),
    ("malformed extension", b"5;=x\r\nhello\r\n0\r\n\r\n", 400),
    ("size that no number holds", b"1" + b"0" * 16 + b"\r\nhello\r\n0\r\n\r\n", 400),
    ("size above the maximum", b"4000001\r\nhello", 413),
]


@pytest.mark.socket("a connection of its own has an end")
@pytest.mark.parametrize("body, status", [pytest.param(body, status, id=name) for name, body, status in REFUSED])
def test_the_answer_to_a_bad_chunk_announces_the_close(server, body, status):
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}) + body)
        response = connection.response("POST")
        assert (response.status, response.header("Connection")) == (status, "close")
        assert connection.is_closed()
