# SPDX-License-Identifier: Apache-2.0
"""Requests that HTTP/1.1 does not allow get one answer with the right status, then the connection closes."""

import re

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files={"index.html": "welcome"}, handlers="Match ^/echo echo")


def assert_refused(server, data, status):
    """Exactly one response, and a close although the client still keeps its side open."""
    response = http.parse_one(server.raw(data))
    assert response.status == status
    assert not response.keeps_connection
    assert response.header("Content-Type").startswith("text/html")
    return response


def fields(*lines, line=b"GET / HTTP/1.1", host=b"Host: localhost"):
    """A request with these field lines, as bytes, put together without any check."""
    return b"\r\n".join([line, *([host] if host else []), *lines, b"", b""])


REQUEST_LINES = [
    ("RFC 9112 3: no version", b"GET /"),
    ("RFC 9112 3: only a method", b"GET"),
    ("RFC 9112 3: two blanks before the target", b"GET  / HTTP/1.1"),
    ("RFC 9112 3: two blanks before the version", b"GET /  HTTP/1.1"),
    ("RFC 9112 3: blank at the end", b"GET / HTTP/1.1 "),
    ("RFC 9112 3: tab instead of a blank", b"GET\t/ HTTP/1.1"),
    ("RFC 9112 3: blank before the method", b" GET / HTTP/1.1"),
    ("RFC 9112 3: blank within the target", b"GET /a b HTTP/1.1"),
    ("RFC 9110 9.1: method is no token", b"G(T / HTTP/1.1"),
    ("RFC 9110 9.1: NUL in the method", b"G\0T / HTTP/1.1"),
    ("RFC 9112 3.2: relative path", b"GET index.html HTTP/1.1"),
    ("RFC 9112 3.2: asterisk for GET", b"GET * HTTP/1.1"),
    ("RFC 9112 3.2: unknown scheme", b"GET ftp://localhost/ HTTP/1.1"),
    ("RFC 9112 3.2.2: absolute form without a host", b"GET http:/// HTTP/1.1"),
    ("RFC 9110 4.2.4: userinfo", b"GET http://user@localhost/ HTTP/1.1"),
    ("RFC 9112 3.2.3: CONNECT without a port", b"CONNECT localhost HTTP/1.1"),
    ("RFC 9112 3.2: fragment", b"GET /#top HTTP/1.1"),
    ("RFC 9112 3.2: control byte in the target", b"GET /\x01 HTTP/1.1"),
    ("RFC 9112 3.2: NUL in the target", b"GET /\0 HTTP/1.1"),
    ("RFC 3986 2: byte above 127 in the target", b"GET /\xc3\xa9 HTTP/1.1"),
    ("RFC 3986 2: quote in the target", b'GET /"a" HTTP/1.1'),
    ("RFC 3986 2.1: escape without digits", b"GET /%zz HTTP/1.1"),
    ("RFC 3986 2.1: escape cut short", b"GET /%4 HTTP/1.1"),
    ("CONTRACT: %00 in a path", b"GET /index.html%00.png HTTP/1.1"),
    ("RFC 9112 2.3: version in lower case", b"GET / http/1.1"),
    ("RFC 9112 2.3: version without minor", b"GET / HTTP/1"),
    ("RFC 9112 2.3: two-digit version", b"GET / HTTP/1.10"),
    ("RFC 9112 2.3: another protocol", b"GET / ICY/1.1"),
]


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in REQUEST_LINES])
def test_refuses_bad_request_line(server, line):
    assert_refused(server, fields(line=line), 400)


@pytest.mark.parametrize("version", ["HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"])
def test_refuses_other_major_version(server, version):
    """RFC 9110 15.6.6"""
    assert_refused(server, fields(line=f"GET / {version}".encode()), 505)


def test_refuses_the_http2_preface(server):
    """RFC 9113 3.4: made so that an HTTP/1 server refuses it."""
    assert http.parse_one(server.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).status in (400, 505)


def test_takes_a_higher_minor_version_as_1_1(server):
    """RFC 9110 2.5"""
    response = http.parse_one(server.raw(fields(b"Connection: close", line=b"GET / HTTP/1.2")))
    assert (response.status, response.version) == (200, "1.1")


FIELD_LINES = [
    ("RFC 9112 5.1: blank before the colon", b"X-Field : value"),
    ("RFC 9112 5.1: tab before the colon", b"X-Field\t: value"),
    ("RFC 9112 5.2: folded with a blank", b"X-Field: a\r\n b"),
    ("RFC 9112 5.2: folded with a tab", b"X-Field: a\r\n\tb"),
    ("RFC 9112 5: no colon", b"X-Field"),
    ("RFC 9110 5.1: empty name", b": value"),
    ("RFC 9110 5.1: blank in the name", b"X Field: value"),
    ("RFC 9110 5.1: name is no token", b"X(Field): value"),
    ("RFC 9110 5.1: byte above 127 in the name", b"X-F\xefeld: value"),
    ("RFC 9110 5.5: NUL in the name", b"X-\0Field: value"),
    ("RFC 9110 5.5: NUL in the value", b"X-Field: a\0b"),
    ("RFC 9110 5.5: control byte in the value", b"X-Field: a\x01b"),
    ("RFC 9110 5.5: DEL in the value", b"X-Field: a\x7fb"),
    ("RFC 9112 2.2: bare CR in the value", b"X-Field: a\rb"),
    ("RFC 9112 2.2: bare LF ends the field", b"X-Field: a\nX-Other: b"),
    ("RFC 9112 3.2: second Host", b"Host: localhost"),
    ("RFC 9112 3.2: second, other Host", b"Host: other"),
    ("RFC 9110 8.6: length is no number", b"Content-Length: abc"),
    ("RFC 9110 8.6: empty length", b"Content-Length:"),
    ("RFC 9110 8.6: negative length", b"Content-Length: -1"),
    ("RFC 9110 8.6: length with a sign", b"Content-Length: +1"),
    ("RFC 9110 8.6: hexadecimal length", b"Content-Length: 0x1"),
    ("RFC 9110 8.6: length with a fraction", b"Content-Length: 1.0"),
    ("RFC 9110 8.6: blank within the length", b"Content-Length: 1 0"),
    ("RFC 9110 8.6: length above 64 bits", b"Content-Length: 18446744073709551617"),
    ("RFC 9110 8.6: list of lengths", b"Content-Length: 1, 1"),
]


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in FIELD_LINES])
def test_refuses_bad_field(server, line):
    assert_refused(server, fields(line), 400)


def test_refuses_blank_before_the_first_field(server):
    """RFC 9112 2.2"""
    assert_refused(server, b"GET / HTTP/1.1\r\n X-Field: a\r\nHost: localhost\r\n\r\n", 400)


@pytest.mark.parametrize("data", [
    pytest.param(b"GET / HTTP/1.1\nHost: localhost\n\n", id="everywhere"),
    pytest.param(b"GET / HTTP/1.1\nHost: localhost\r\n\r\n", id="after the request line"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\n\r\n", id="after a field"),
    pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\n", id="for the empty line"),
    pytest.param(b"GET / HTTP/1.1\rHost: localhost\r\r", id="CR alone"),
])
def test_refuses_bare_line_end(server, data):
    """RFC 9112 2.2; the contract is stricter than it must be."""
    assert_refused(server, data, 400)


def test_skips_one_empty_line_before_a_request(server):
    """RFC 9112 2.2"""
    assert http.parse_one(server.raw(b"\r\n" + fields(b"Connection: close"))).status == 200


def test_refuses_missing_host(server):
    """RFC 9112 3.2"""
    assert_refused(server, fields(host=None), 400)


@pytest.mark.parametrize("host", [
    "local host", "local/host", "user@localhost", "localhost:port", "localhost:65536", "localhost:-1",
    "[::1", "[::g]", "::1", "localhost?a", "localhost#a", "<script>", "a\\b", '"localhost"', "%zz", ":80", "."])
def test_refuses_invalid_host(server, host):
    """RFC 9112 3.2, RFC 3986 3.2.2"""
    assert_refused(server, fields(host=f"Host: {host}".encode()), 400)


@pytest.mark.parametrize("host", ["", "localhost", "LOCALHOST:80", "localhost:", "127.0.0.1:1", "[::1]:80", "a_b", "a."])
def test_accepts_valid_host(server, host):
    assert server.get("/", host=host).status == 200


def test_refuses_bad_host_beside_an_absolute_target(server):
    """RFC 9112 3.2: the Host field must be valid even where it is ignored."""
    assert_refused(server, fields(host=b"Host: a b", line=b"GET http://localhost/ HTTP/1.1"), 400)


def test_refuses_garbage_at_once(server):
    """Bytes that can become no request are refused without waiting for a line end (a TLS hello here)."""
    assert_refused(server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400)


@pytest.mark.parametrize("head_only", [False, True], ids=["GET", "HEAD"])
def test_an_error_ends_with_its_body_and_names_the_status(server, head_only):
    method = "HEAD" if head_only else "GET"
    response = http.parse_one(server.raw(fields(b"Expect: wonders", line=f"{method} / HTTP/1.1".encode())), method)
    assert response.status == 417
    assert (response.body == b"") == head_only
    assert int(response.header("Content-Length")) > 0


def test_what_follows_a_refused_request_is_not_answered(server):
    """RFC 9112 11.2: where a bad request ends nobody knows."""
    assert_refused(server, fields(b"X : y") + fields(), 400)


@pytest.mark.parametrize("target, named", [
    (b'/a"b', 'a quote (%22)'), (b"/a#top", "a fragment (%23)"), (b"/a?x#y", "a fragment (%23)"), (b"/<b>", "a bracket (%3C)"),
    (b"/a?b>", "a bracket (%3E)"), (b"/\xc3\xa4", "byte %C3"), (b"/\x7f", "byte %7F"), (b"/a\x01", "byte %01"),
])
def test_log_names_the_character_that_no_target_has(start, target, named):
    """They are written with a percent sign and two digits: RFC 3986 2.1."""
    server = start(server="LogLevel debug")
    assert_refused(server, fields(line=b"GET " + target + b" HTTP/1.1"), 400)
    server.wait_for_log(r'status=400 why="bad request target: ' + re.escape(named) + '"')


def test_log_of_another_bad_target(start):
    server = start(server="LogLevel debug")
    assert_refused(server, fields(line=b"GET a HTTP/1.1"), 400)
    server.wait_for_log(r'status=400 why="bad request target"')
