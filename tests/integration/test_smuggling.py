# SPDX-License-Identifier: Apache-2.0
"""Request smuggling: whatever is unclear about where a body ends is refused, never guessed (RFC 9112 6, 11.2)."""

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files={"secret.html": "smuggled"}, handlers="Match ^/echo echo")


SMUGGLED = b"GET /secret.html HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(*lines, body=b"", version=b"1.1"):
    head = [b"POST /echo HTTP/" + version, b"Host: localhost", *lines]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def assert_one_refusal(server, data, *statuses):
    """One answer, not two, and nothing of what was smuggled."""
    answer = server.raw(data + SMUGGLED)
    response = http.parse_one(answer)
    assert response.status in statuses
    assert not response.keeps_connection
    assert b"smuggled" not in answer


AMBIGUOUS = [
    ("CL.TE", [b"Content-Length: 6", b"Transfer-Encoding: chunked"], b"0\r\n\r\nG"),
    ("TE.CL", [b"Transfer-Encoding: chunked", b"Content-Length: 4"], b"5c\r\nGPOST / HTTP/1.1\r\n\r\n0\r\n\r\n"),
    ("CL.CL equal", [b"Content-Length: 5", b"Content-Length: 5"], b"hello"),
    ("CL.CL contradictory", [b"Content-Length: 5", b"Content-Length: 0"], b"hello"),
    ("CL list, equal", [b"Content-Length: 5, 5"], b"hello"),
    ("CL list, contradictory", [b"Content-Length: 5, 0"], b"hello"),
    ("CL.0 with an unknown coding", [b"Content-Length: 0", b"Transfer-Encoding: gzip"], b""),
    ("TE folded", [b"Transfer-Encoding:\r\n chunked"], b"0\r\n\r\n"),
    ("TE with a folded neighbour", [b"X: a\r\n Transfer-Encoding: chunked", b"Content-Length: 0"], b""),
    ("blank before the colon of TE", [b"Transfer-Encoding : chunked"], b"0\r\n\r\n"),
    ("tab before the colon of CL", [b"Content-Length\t: 5"], b"hello"),
    ("TE after a bare LF", [b"X: a\nTransfer-Encoding: chunked"], b"0\r\n\r\n"),
    ("TE after a bare CR", [b"X: a\rTransfer-Encoding: chunked"], b"0\r\n\r\n"),
    ("NUL before TE", [b"\0Transfer-Encoding: chunked"], b"0\r\n\r\n"),
    ("vertical tab in TE", [b"Transfer-Encoding: \x0bchunked"], b"0\r\n\r\n"),
    ("chunked twice", [b"Transfer-Encoding: chunked, chunked"], b"0\r\n\r\n"),
    ("chunked twice, two fields", [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"], b"0\r\n\r\n"),
    ("chunked, then identity", [b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"], b"0\r\n\r\n"),
    ("chunked not last", [b"Transfer-Encoding: chunked, gzip"], b"0\r\n\r\n"),
    ("empty TE", [b"Transfer-Encoding:"], b"0\r\n\r\n"),
    ("TE of commas", [b"Transfer-Encoding: ,"], b"0\r\n\r\n"),
]


@pytest.mark.parametrize("lines, body", [pytest.param(lines, body, id=name) for name, lines, body in AMBIGUOUS])
def test_refuses_ambiguous_framing(server, lines, body):
    assert_one_refusal(server, post(*lines, body=body), 400)


@pytest.mark.parametrize("coding", [
    b"xchunked", b"gzip", b"identity", b"gzip, chunked", b'"chunked"', b"chunked;q=1", b"chunkedx", b"chunk"])
def test_answers_501_to_unknown_coding(server, coding):
    """RFC 9112 6.1"""
    assert_one_refusal(server, post(b"Transfer-Encoding: " + coding, body=b"0\r\n\r\n"), 501)


def test_refuses_transfer_coding_in_http_1_0(server):
    """RFC 9112 6.1: the framing is to be treated as faulty."""
    assert_one_refusal(server, post(b"Transfer-Encoding: chunked", b"Connection: keep-alive",
                                    body=b"0\r\n\r\n", version=b"1.0"), 400)


@pytest.mark.parametrize("coding", [b"chunked", b"CHUNKED", b"Chunked \t", b",chunked,"])
def test_accepts_chunked_in_any_case(server, coding):
    """RFC 9112 7: names of codings are case-insensitive; RFC 9110 5.6.1: empty list members."""
    data = post(b"Transfer-Encoding: " + coding, b"Connection: close", body=http.chunked(b"hello"))
    response = http.parse_one(server.raw(data))
    assert response.status == 200
    assert response.body.endswith(b"\r\n\r\nhello")


def assert_body_refused(server, body, *statuses):
    """An answer that has begun already cannot change its status any more: it must be cut off."""
    answer = server.raw_until_cut(post(b"Transfer-Encoding: chunked", body=body) + SMUGGLED)
    assert b"smuggled" not in answer
    assert http.is_cut_off(answer) or http.parse_one(answer).status in statuses


BAD_CHUNKS = [
    ("no size", b"\r\nhello\r\n0\r\n\r\n"),
    ("size is no number", b"g\r\nhello\r\n0\r\n\r\n"),
    ("negative size", b"-5\r\nhello\r\n0\r\n\r\n"),
    ("size with a sign", b"+5\r\nhello\r\n0\r\n\r\n"),
    ("size with 0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
    ("blank before the size", b" 5\r\nhello\r\n0\r\n\r\n"),
    ("blank behind the size", b"5 \r\nhello\r\n0\r\n\r\n"),
    ("size ended by a bare LF", b"5\nhello\r\n0\r\n\r\n"),
    ("size ended by a bare CR", b"5\rhello\r\n0\r\n\r\n"),
    ("extension ended by a bare LF", b"5;a=b\nhello\r\n0\r\n\r\n"),
    ("control byte in an extension", b"5;a=\x01\r\nhello\r\n0\r\n\r\n"),
    ("data longer than its size", b"5\r\nhello!\r\n0\r\n\r\n"),
    ("data shorter than its size", b"5\r\nhell\r\n0\r\n\r\n"),
    ("data ended by a bare LF", b"5\r\nhello\n0\r\n\r\n"),
    ("size list", b"5,5\r\nhello\r\n0\r\n\r\n"),
    ("last chunk ended by a bare LF", b"0\n\n"),
    ("trailer is no field", b"0\r\nnonsense\r\n\r\n"),
    ("blank before the colon of a trailer", b"0\r\nX : y\r\n\r\n"),
    ("folded trailer", b"0\r\nX: y\r\n z\r\n\r\n"),
]


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in BAD_CHUNKS])
def test_refuses_bad_chunk(server, body):
    """RFC 9112 7.1"""
    assert_body_refused(server, body, 400)


@pytest.mark.parametrize("size", [
    b"10000000000000000", b"ffffffffffffffff", b"fffffffffffffffff", b"8000000000000000", b"7fffffffffffffff",
    b"100000005", b"1" + b"0" * 40])
def test_refuses_chunk_size_overflow(server, size):
    """RFC 9112 7.1: a recipient must expect sizes beyond its integers."""
    assert_body_refused(server, size + b"\r\nhello\r\n0\r\n\r\n", 400, 413)


def test_a_body_for_a_file_is_not_the_next_request(server):
    """A GET with a body: its bytes belong to it, whoever answers."""
    get = b"GET /secret.html HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(SMUGGLED)
    last = b"GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    first, second = http.parse(server.raw(get + SMUGGLED + last), ["GET", "GET"])
    assert (first.status, second.status) == (200, 404)


def test_a_chunked_body_for_a_file_is_not_the_next_request(server):
    get = b"GET /secret.html HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    last = b"GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    first, second = http.parse(server.raw(get + http.chunked(SMUGGLED) + last), ["GET", "GET"])
    assert (first.status, second.status) == (200, 404)
