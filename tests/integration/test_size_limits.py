# SPDX-License-Identifier: Apache-2.0
"""Sizes that a request may have: MaxRequestSize, MaxHeaders, MaxBodySize, the target; 413, 414, 431."""

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="MaxRequestSize 16\nMaxHeaders 20\nMaxBodySize 10K",
                        files={"a.txt": "text"}, handlers="Match ^/echo echo")


def status_and_close(server, data):
    response = http.parse_one(server.raw(data, timeout=30))
    assert not response.keeps_connection
    return response.status


def get(*fields, target="/a.txt"):
    return http.request(target, headers=[("Connection", "close"), *fields])


def test_head_just_within_the_limit(server):
    data = get(("X-Fill", "x" * (16384 - len(get(("X-Fill", ""))))))
    assert len(data) == 16384
    assert http.parse_one(server.raw(data)).status == 200


def test_head_above_the_limit_is_431(server):
    """RFC 6585 5; MaxRequestSize counts KB."""
    assert status_and_close(server, get(("X-Fill", "x" * 16400))) == 431


def test_head_without_an_end_is_refused_when_the_limit_is_reached(server):
    assert status_and_close(server, b"GET / HTTP/1.1\r\nX-Fill: " + b"x" * 20000) == 431


def test_as_many_fields_as_allowed(server):
    fields = [(f"X-{number}", "v") for number in range(18)]  # and Host and Connection
    assert http.parse_one(server.raw(get(*fields))).status == 200


def test_too_many_fields_are_431(server):
    fields = [(f"X-{number}", "v") for number in range(19)]
    assert status_and_close(server, get(*fields)) == 431


def test_long_target_that_is_allowed(server):
    assert http.parse_one(server.raw(get(target="/a.txt?" + "q" * (8192 - 7)))).status == 200


@pytest.mark.parametrize("length", [8193, 12000, 15000, 100000])
def test_target_above_the_limit_is_414(server, length):
    """RFC 9110 15.5.15; a request line longer than the whole head may be is a long target as well."""
    assert status_and_close(server, get(target="/" + "t" * (length - 1))) == 414


def test_endless_target_is_414_before_its_end(server):
    assert status_and_close(server, b"GET /" + b"t" * 30000) == 414


def test_endless_method_is_refused(server):
    assert status_and_close(server, b"G" * 40000) in (400, 431, 501)


@pytest.mark.parametrize("length, status", [(10240, 200), (10241, 413), (1 << 40, 413), ((1 << 63) - 1, 413)])
def test_body_by_length(server, length, status):
    """RFC 9110 15.5.14: decided on the length alone."""
    body = b"x" * length if status == 200 else b""
    data = http.request("/echo", "POST", headers={"Content-Length": str(length), "Connection": "close"}, body=body)
    assert http.parse_one(server.raw(data)).status == status


def test_chunked_body_within_the_limit(server):
    data = http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked", "Connection": "close"},
                        body=http.chunked(*[b"x" * 1024] * 10))
    response = http.parse_one(server.raw(data))
    assert response.status == 200
    assert response.body.endswith(b"x" * 10240)


CHUNKED_ABOVE = [
    ("first chunk says so", b"2801\r\n"),
    ("many chunks", http.chunk(b"x" * 1024) * 11),
    ("extensions", b"1;" + b"e" * 40000 + b"\r\nx\r\n0\r\n\r\n"),
    ("chunks of one byte", b"1;eeeeeeeeeeeeeeeee\r\nx\r\n" * 2000),
    ("trailers", b"0\r\n" + b"X-Fill: xxxxxxxxxxxxx\r\n" * 1000 + b"\r\n"),
]


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in CHUNKED_ABOVE])
def test_chunked_body_above_the_limit_is_413(server, body):
    """Data, extensions and trailers are all bounded (RFC 9112 7.1.1). An answer that had begun is cut off instead."""
    data = http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}, body=body)
    answer = server.raw_until_cut(data)
    assert http.is_cut_off(answer) or http.parse_one(answer).status == 413


def test_a_body_that_no_handler_wants_is_bounded_too(server):
    data = http.request("/a.txt", headers={"Content-Length": "1000000"})
    assert status_and_close(server, data) == 413


@pytest.mark.parametrize("line, given, status", [
    ("MaxRequestSize 2K", ("X-Fill", "x" * 2100), 431),
    ("MaxRequestSize 2", ("X-Fill", "x" * 2100), 431),
    ("MaxRequestSize 64K", ("X-Fill", "x" * 60000), 200),
    ("MaxHeaders 2", ("X-Fill", "x"), 431),
    ("MaxHeaders 1000", ("X-Fill", "x"), 200),
])
def test_limit_is_a_setting(start, line, given, status):
    server = start(server=line, files={"a.txt": "text"})
    assert http.parse_one(server.raw(get(given))).status == status


def test_default_body_limit_is_8m(start):
    server = start(handlers="Match ^/echo echo")
    assert status_and_close(server, http.request("/echo", "POST", headers={"Content-Length": str((8 << 20) + 1)})) == 413
