# SPDX-License-Identifier: Apache-2.0
"""Fields behind the body of a request: RFC 9110 6.5, RFC 9112 7.1.2."""

import time

import pytest

from harness import http
from harness.backend import Backend, configured

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def backend():
    with Backend() as one:
        yield one


@pytest.fixture(scope="module")
def server(start_shared, backend):
    return start_shared(server="Workers 1", **configured("SetHeader X-Set ours\nRemoveHeader X-Removed", backend))


def seen(server, backend, trailers, lines=b"", body=b"5\r\nhello\r\n", step=None):
    """What the backend got; the connection goes on with another request."""
    data = HEAD + lines + b"\r\n" + body + b"0\r\n" + trailers + b"\r\n"
    backend.requests.clear()
    with server.connect() as client:
        for at in range(0, len(data), step or len(data)):
            client.send(data[at:at + (step or len(data))])
            if step:
                time.sleep(0.001)
        assert client.response().status == 200
        assert client.request("/next").status == 200
    assert [one.target for one in backend.requests] == ["/", "/next"]
    return backend.requests[0]


@pytest.mark.parametrize("step", [None, 1, 2, 7, 50])
def test_they_pass(server, backend, step):
    request = seen(server, backend, b"X-Sum: 1\r\nX-Empty:\r\nx-sum:  2 3 \r\n", step=step)
    assert request.body == b"hello"
    assert request.trailers == [("X-Sum", "1"), ("X-Empty", ""), ("x-sum", "2 3")]
    assert not request.all("X-Sum")


def test_there_are_none(server, backend):
    assert seen(server, backend, b"").trailers == []
    assert seen(server, backend, b"", step=1).trailers == []


def test_they_follow_a_body_of_none(server, backend):
    request = seen(server, backend, b"X-Sum: 1\r\n", body=b"")
    assert (request.body, request.trailers) == (b"", [("X-Sum", "1")])


@pytest.mark.parametrize("size", [16000, 16360, 16384, 100_000, 1 << 20])
def test_they_follow_a_long_body(server, backend, size):
    """Whatever is left of the buffer that the body is in."""
    trailers = b"".join(b"X-%d:%s\r\n" % (n, b"v" * 75) for n in range(100))
    request = seen(server, backend, trailers, body=http.chunk(b"x" * size))
    assert len(request.body) == size
    assert request.trailers == [(f"X-{n}", "v" * 75) for n in range(100)]


def test_at_most_100_pass(server, backend):
    request = seen(server, backend, b"a:\r\n" * 2000)
    assert request.trailers == [("a", "")] * 100


@pytest.mark.parametrize("name", [
    "Content-Length", "Transfer-Encoding", "transfer_encoding", "Trailer", "TE", "Connection", "Keep-Alive", "Upgrade",
    "Host", "Expect", "Authorization", "Proxy-Authorization", "Cookie", "If-Match", "if_none_match", "Range", "Max-Forwards",
    "Content-Type", "Content-Encoding", "Content-Range", "Cache-Control", "X-Forwarded-For", "Forwarded", "Via",
    "X-Set", "x_removed", "X-Named",
])
def test_these_do_not_pass(server, backend, name):
    """Neither what frames, routes, authorises or conditions a request, nor what is the proxy's to say (RFC 9110 6.5.1, 7.6.1)."""
    request = seen(server, backend, name.encode() + b": 7\r\nX-Sum: 1\r\n", b"Connection: keep-alive, X-Named\r\n")
    assert request.trailers == [("X-Sum", "1")]


@pytest.mark.parametrize("trailers", [
    b"X-A: 1\n", b"X-A : 1\r\n", b" X-A: 1\r\n", b"X-A: 1\r\n folded\r\n", b": 1\r\n", b"X-A\r\n", b"X-A: \0\r\n", b"X\xe9: 1\r\n",
    b"GET /smuggled HTTP/1.1\r\n", b"X-A: 1\rGET /smuggled HTTP/1.1\r\n",
])
def test_what_is_no_field_ends_the_request(server, backend, trailers):
    backend.requests.clear()
    with server.connect() as client:
        client.send(HEAD + b"\r\n5\r\nhello\r\n0\r\n" + trailers + b"\r\n")
        assert client.response().status == 400
        assert client.is_closed()
    assert not backend.requests


def test_a_request_behind_them_is_none_of_them(server, backend):
    backend.requests.clear()
    with server.connect() as client:
        client.send(HEAD + b"\r\n0\r\nX-A: 1\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        assert [client.response().status for _ in range(2)] == [200, 200]
    assert [(one.target, one.trailers) for one in backend.requests] == [("/", [("X-A", "1")]), ("/second", [])]


def test_too_many_bytes(server, backend):
    backend.requests.clear()
    with server.connect() as client:
        client.send(HEAD + b"\r\n0\r\n" + b"X-A: 1\r\n" * 1025 + b"\r\n")
        assert client.response().status == 413
    assert not backend.requests


@pytest.mark.parametrize("count, status", [(121, 200), (122, 413)])
@pytest.mark.parametrize("step", [4000, 100])
def test_they_count_with_the_head(start, backend, count, status, step):
    server = start(server="MaxRequestSize 1K", **configured("", backend))
    data = HEAD + b"\r\n0\r\n" + b"X-A: 1\r\n" * count + b"\r\n"
    with server.connect() as client:
        for at in range(0, len(data), step):
            client.send(data[at:at + step])
            time.sleep(0.01)
        assert client.response().status == status


@pytest.mark.parametrize("trailers, status", [(b"", 200), (b"a:\r\n", 413)])
def test_a_head_of_all_bytes_leaves_room_for_none(start, backend, trailers, status):
    server = start(server="MaxRequestSize 1K", **configured("", backend))
    head = HEAD + b"X-Fill: "
    with server.connect() as client:
        client.send(head + b"x" * (1024 - len(head) - 4) + b"\r\n\r\n2\r\nok\r\n0\r\n" + trailers + b"\r\n")
        assert client.response().status == status


def test_what_follows_too_many_is_no_request(start, backend):
    """The rest of a body that was refused is read by nobody, least of all as the next request."""
    server = start(server="MaxRequestSize 1K", **configured("", backend))
    backend.requests.clear()
    with server.connect() as client:
        client.send(HEAD + b"\r\n0\r\nX-A: " + b"a" * 900)
        time.sleep(0.2)
        client.send(b"GET /smuggled?" + b"b" * 200 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.response().status == 413
        assert client.is_closed()
    assert not backend.requests


def test_they_are_sent_again_with_the_body(start):
    def serve(conn):
        if not met:
            met.append(conn.request())
            conn.reset()
            return
        met.append(conn.request())
        conn.answer(b"ok")

    met = []
    with Backend(serve) as first, Backend(serve) as second:
        server = start(server="Workers 1", **configured("AttemptsCount 3", first, second))
        with server.connect() as client:
            client.send(HEAD.replace(b"POST", b"PUT") + b"\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n")
            assert client.response().status == 200
    assert [(one.body, one.trailers) for one in met] == [(b"hello", [("X-Sum", "1")])] * 2


# -- announced: RFC 9110 6.6.2


@pytest.mark.parametrize("value, passes", [
    ("X-Sum", True), ("X-Sum, x-other ,,", True), ("X-Sum, Content-Length", False), ("Host", False),
])
def test_they_are_announced(server, backend, value, passes):
    request = seen(server, backend, b"X-Sum: 1\r\n", f"Trailer: {value}\r\n".encode())
    assert request.all("Trailer") == ([value] if passes else [])


def test_they_are_not_announced_where_connection_names_them(server, backend):
    assert not seen(server, backend, b"", b"Trailer: X-Sum\r\nConnection: Trailer\r\n").all("Trailer")


def answered(start, fields="", te="trailers", trailers="X-Sum: 1\r\n"):
    def each(conn, _):
        conn.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{fields}\r\n2\r\nok\r\n0\r\n{trailers}\r\n".encode())

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: {te}\r\n\r\n")
            return client.response()


def test_an_answer_announces_them(start):
    answer = answered(start, "Trailer: X-Sum\r\n")
    assert answer.all("Trailer") == ["X-Sum"] and answer.trailers == [("X-Sum", "1")]


def test_an_answer_announces_none_to_whom_gets_none(start):
    answer = answered(start, "Trailer: X-Sum\r\n", te="gzip")
    assert not answer.all("Trailer") and not answer.trailers


def test_an_answer_announces_nothing_that_stays(start):
    answer = answered(start, "Trailer: X-Sum, Set-Cookie\r\n")
    assert not answer.all("Trailer") and answer.trailers == [("X-Sum", "1")]


def test_a_trailer_of_the_backends_connection_stays(start):
    """RFC 9110 7.6.1: Connection names it."""
    answer = answered(start, "Connection: keep-alive, X-Sum\r\n")
    assert not answer.trailers


@pytest.mark.parametrize("trailers, passed", [
    ("a:\r\n" * 2000, 100), ("a:\r\n" * 50 + "b:" + "v" * 7970 + "\r\n" + "a:\r\n" * 2, 50), ("b: " + "v" * 8100 + "\r\n", 1),
], ids=["2000 fields", "8 KB and blanks", "one of 8 KB"])
def test_many_trailers_of_an_answer(start, trailers, passed):
    """They are left out, not the answer: a blank behind each colon makes them longer than they came."""
    answer = answered(start, trailers=trailers)
    assert answer.body == b"ok"
    assert passed <= len(answer.trailers) <= 100
