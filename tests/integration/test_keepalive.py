# SPDX-License-Identifier: Apache-2.0
"""Which connections persist: RFC 9112 9.3, and HTTP/1.0 with its old keep-alive (RFC 9112 appendix C.2.2)."""

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files={"index.html": "welcome", "large.txt": "x" * 100000}, handlers="Match ^/echo echo")


PERSISTENCE = [
    ("1.1", None, True),
    ("1.1", "close", False),
    ("1.1", "Close", False),
    ("1.1", "keep-alive", True),
    ("1.1", "Keep-Alive", True),
    ("1.1", "keep-alive, close", False),
    ("1.1", "x, y ,\tclose", False),
    ("1.1", "x,,close", False),
    ("1.1", "closed", True),
    ("1.1", "not-close", True),
    ("1.1", "te, upgrade-insecure", True),
    ("1.0", None, False),
    ("1.0", "keep-alive", True),
    ("1.0", "Keep-Alive", True),
    ("1.0", "x, keep-alive", True),
    ("1.0", "close, keep-alive", False),
    ("1.0", "close", False),
    ("1.0", "keep-alive-please", False),
]


@pytest.mark.parametrize("version, value, persists", PERSISTENCE)
@pytest.mark.parametrize("target", ["/", "/large.txt", "/missing"])
def test_connection_field_decides(server, version, value, persists, target):
    headers = {"Connection": value} if value is not None else {}
    with server.connect() as connection:
        response = connection.request(target, version=version, headers=headers)
        assert response.keeps_connection == persists
        if persists:
            assert connection.request("/").text == "welcome"
        else:
            assert connection.is_closed()


def test_connection_field_may_be_repeated(server):
    with server.connect() as connection:
        response = connection.request("/", headers=[("Connection", "x"), ("Connection", "close")])
        assert not response.keeps_connection
        assert connection.is_closed()


def test_http_1_0_needs_no_host(server):
    assert http.parse_one(server.raw(b"GET / HTTP/1.0\r\n\r\n")).text == "welcome"


def test_http_1_0_never_gets_chunked(server):
    """RFC 9112 7: the parser of the harness refuses chunked in an answer to it; here the body is whole, too."""
    response = http.parse_one(server.raw(http.request("/echo", "POST", version="1.0", body=b"hello")))
    assert response.framing in ("close", "length")
    assert response.body.endswith(b"\r\n\r\nhello")


def test_a_hundred_requests_on_one_connection(server):
    with server.connect() as connection:
        for _ in range(100):
            assert connection.request("/").text == "welcome"


def test_keepalive_off_closes_each_connection(start):
    server = start(server="KeepAlive off", files={"index.html": "welcome"})
    with server.connect() as connection:
        response = connection.request("/")
        assert response.text == "welcome"
        assert not response.keeps_connection
        assert connection.is_closed()


def test_a_clean_close_is_no_reset(server):
    """Without unread input the end is a FIN; a reset could destroy what the client has not read yet."""
    for _ in range(50):
        with server.connect() as connection:
            connection.send(http.request("/large.txt", headers={"Connection": "close"}))
            assert len(http.parse_one(connection.rest()).body) == 100000
