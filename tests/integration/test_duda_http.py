# SPDX-License-Identifier: Apache-2.0
"""Calls of other servers by services of level 3: answers, redirects, limits, bodies in pieces, and servers that do wrong."""

import contextlib
import socket
import threading
from collections import namedtuple
from urllib.parse import urlencode

import pytest

from harness import duda, http
from harness.backend import Backend
from harness.client import eventually
from harness.content import noise

Answer = namedtuple("Answer", "error status type url length why body")
BIG = noise(3 << 20)


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "asking", level=3)
    return start_shared(server="Workers 1", **duda.config(folder, "asking"))


def target(path, url, **words):
    return f"/asking/{path}?{urlencode({'url': url, **words})}"


def ask(server, url, path="ask", **words):
    answer = server.get(target(path, url, **words))
    assert answer.status == 200, answer.body
    words = answer.body.decode().split("|", 6)
    return Answer(words[0], int(words[1]), words[2], words[3], int(words[4]), words[5], words[6])


def url(backend, path="/"):
    return f"http://{backend.address}{path}"


def say_nothing(conn):
    conn.request()
    conn.ended()


def test_an_answer(server):
    with Backend(each=lambda c, q: c.answer(b"hello", fields="Content-Type: text/x\r\nX-A: b\r\n")) as backend:
        assert ask(server, url(backend, "/a?b=c#d")) == ("ok", 200, "text/x", url(backend, "/a?b=c#d"), 5, "", "hello")
        assert ask(server, url(backend), "simple").body == "hello"
        request = backend.requests[0]
        assert (request.method, request.target, request.header("Host")) == ("GET", "/a?b=c", backend.address)
        assert request.header("User-Agent") == "duda" and request.header("Accept") == "*/*"
        assert backend.connections == 1


@pytest.mark.parametrize("words, method, body", [
    ({"method": "DELETE"}, "DELETE", b""), ({"body": "abc"}, "POST", b"abc"), ({"body": "abc", "method": "PUT"}, "PUT", b"abc"),
    ({"method": "POST"}, "POST", b"")])
def test_methods_and_bodies(server, words, method, body):
    with Backend() as backend:
        assert ask(server, url(backend, "?x"), field="X-Mine: y", **words).body == "ok"
        request = backend.requests[0]
        assert (request.method, request.target, request.body, request.header("X-Mine")) == (method, "/?x", body, "y")
        assert (request.header("Content-Length") is not None) == (method != "DELETE")


def test_post_has_a_type_and_any_bytes(server):
    with Backend() as backend:
        assert ask(server, url(backend), "post").body == "ok"
        request = backend.requests[0]
        assert (request.method, request.body, request.header("Content-Type")) == ("POST", b"a\0b", "text/x-test")


def test_head_has_no_body(server):
    with Backend(each=lambda c, q: c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) as backend:
        for _ in range(2):
            assert ask(server, url(backend), method="HEAD")[:2] == ("ok", 200)


def test_statuses_are_no_errors(server):
    with Backend(each=lambda c, q: c.answer(b"no", status="503 Full")) as backend:
        assert ask(server, url(backend))[:2] == ("ok", 503)


def test_chunks_and_bodies_until_the_end(server):
    def each(conn, request):
        if request.target == "/chunks":
            conn.chunked(b"one ", b"two")
        else:
            conn.send(b"HTTP/1.0 200 OK\r\n\r\nto the end")
            conn.close()

    with Backend(each=each) as backend:
        assert ask(server, url(backend, "/chunks")).body == "one two"
        assert ask(server, url(backend, "/end")).body == "to the end"


def test_answers_before_the_answer_are_skipped(server):
    def each(conn, request):
        conn.send(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" * int(request.target[1:]))
        conn.answer(b"late")

    with Backend(each=each) as backend:
        assert ask(server, url(backend, "/16")).body == "late"
        assert ask(server, url(backend, "/17"))[:2] == ("bad answer", 0)


# ---- redirects ----

def to(location, status="302 Found"):
    return lambda conn, request: conn.answer(b"moved", status=status, fields=f"Location: {location}\r\n")


def redirecting(rows):
    def each(conn, request):
        if request.target in rows:
            rows[request.target](conn, request)
        else:
            conn.answer(f"{request.method} {request.target} {request.body.decode()}".encode())

    return Backend(each=each)


def test_redirects_are_the_answer_unless_they_are_followed(server):
    with redirecting({"/a/b": to("../c?d")}) as backend:
        assert ask(server, url(backend, "/a/b"))[:2] == ("ok", 302)
        followed = ask(server, url(backend, "/a/b"), redirects=1)
        assert (followed.url, followed.body) == (url(backend, "/c?d"), "GET /c?d ")


@pytest.mark.parametrize("status, method, became", [
    ("301 Moved", "POST", "GET /z "), ("302 Found", "POST", "GET /z "), ("303 See", "PUT", "GET /z "), ("307 Temporary", "POST", "POST /z abc"),
    ("308 Permanent", "PUT", "PUT /z abc"), ("301 Moved", "PUT", "PUT /z abc")])
def test_what_a_redirect_makes_of_a_method(server, status, method, became):
    with redirecting({"/a": to("/z", status)}) as backend:
        assert ask(server, url(backend, "/a"), redirects=5, method=method, body="abc").body == became


def test_redirects_are_counted(server):
    with redirecting({"/a": to("/a")}) as backend:
        assert ask(server, url(backend, "/a"), redirects=100)[:2] == ("redirects", 0)
        assert len(backend.requests) == 101


@pytest.mark.parametrize("location", ["ftp://a/", "http://", "http://a:0/", "/a b", "http://u@127.0.0.1/",
                                      pytest.param("/" + "a" * 9000, id="long")])
def test_redirects_to_what_cannot_be_asked(server, location):
    with redirecting({"/a": to(location)}) as backend:
        assert ask(server, url(backend, "/a"), redirects=3).error == "redirects"


def test_secrets_stay_with_their_server(server):
    with Backend() as other:
        with redirecting({"/there": to(url(other, "/")), "/here": to("/z")}) as backend:
            for path in ("/there", "/here"):
                ask(server, url(backend, path), redirects=3, field="Authorization: secret")
            assert [q.header("Authorization") for q in other.requests] == [None]
            assert [q.header("Authorization") for q in backend.requests] == ["secret"] * 3


# ---- connections ----

def test_connections_are_kept(server):
    with Backend() as backend:
        assert server.get(target("chain", url(backend), count=20)).body == b"ok"
        assert len(backend.requests) == 21 and backend.connections == 1


def test_a_kept_connection_that_was_closed_is_replaced(server):
    def each(conn, request):
        conn.answer(b"once")
        conn.close()

    with Backend(each=each) as backend:
        assert [ask(server, url(backend)).body for _ in range(5)] == ["once"] * 5


def test_a_request_that_may_have_acted_is_not_repeated(server):
    seen = []

    def each(conn, request):
        seen.append(request.method)
        if len(seen) % 2:
            conn.answer(b"first")
        else:
            conn.close()

    with Backend(each=each) as backend:
        assert ask(server, url(backend)).body == "first"
        assert ask(server, url(backend), body="x").error == "broken"
        assert seen == ["GET", "POST"]
        assert ask(server, url(backend)).body == "first"
        assert ask(server, url(backend)).body == "first"  # by a new connection
        assert seen == ["GET", "POST", "GET", "GET", "GET"]


def test_calls_of_one_request_run_together(server):
    barrier = threading.Barrier(10, timeout=30)

    def each(conn, request):
        barrier.wait()
        conn.answer(b"")

    with Backend(each=each) as backend:
        assert server.get(target("together", url(backend), count=10)).body == b"2000"


def test_at_most_64_connections_go_to_a_server(server):
    most = []
    with Backend(each=lambda c, q: (most.append(backend.active), c.answer())) as backend:
        assert server.get(target("together", url(backend), count=300)).body == b"60000"
        assert max(most) <= 64 and backend.connections <= 64


def test_at_most_64_servers_are_known(server):
    with contextlib.ExitStack() as stack:
        gate = threading.Event()
        stack.callback(gate.set)

        def wait(conn, request):
            gate.wait(20)
            conn.answer(b"late")

        busy = [stack.enter_context(Backend(each=wait)) for _ in range(64)]
        for backend in busy:
            assert server.get(target("outside", url(backend))).body == b"1"
        one = stack.enter_context(Backend())
        assert eventually(lambda: all(backend.requests for backend in busy))
        refused = ask(server, url(one))
        assert (refused.error, refused.why) == ("no room", "too many servers are in use")
        gate.set()
        assert eventually(lambda: ask(server, url(one)).error == "ok")


def test_at_most_4096_calls_are_under_way(server):
    with Backend(serve=say_nothing) as backend:
        assert server.get(target("many", url(backend))).body == b"4096"
        assert server.get(target("many", url(backend))).body == b"4096"
    with Backend() as backend:
        assert ask(server, url(backend)).body == "ok"


def test_malformed_calls_begin_nothing(server):
    assert server.get("/asking/wrong").body == b"30"


# ---- servers that do wrong ----

def test_nobody_listens(server):
    with Backend() as backend:
        address = backend.address
    refused = ask(server, f"http://{address}/")
    assert (refused.error, refused.status, refused.why) == ("refused", 0, f"{address}: Connection refused")


def test_an_unknown_name(server):
    assert ask(server, "http://no-such-name.invalid/").error == "no name"


def test_https_without_a_plugin(server):
    assert ask(server, "https://127.0.0.1/").error == "no tls"


@pytest.mark.parametrize("answer, error, status", [
    (b"", "broken", 0),
    (b"HTTP/1.1 200 OK\r\nContent-Le", "broken", 0),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "broken", 200),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf", "broken", 200),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "bad answer", 200),
    (b"SSH-2.0-OpenSSH\r\n\r\n", "bad answer", 0),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "bad answer", 0),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "bad answer", 0),
    (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "bad answer", 0),
    pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20000, "too large", 0, id="long head"),
    pytest.param(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 3000, "too large", 0, id="many fields"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", "too large", 200),
])
def test_wrong_answers(server, answer, error, status):
    def each(conn, request):
        conn.send(answer)
        conn.close()

    with Backend(each=each) as backend:
        assert ask(server, url(backend))[:2] == (error, status)


def test_bytes_behind_an_answer_are_not_the_next(server):
    answers = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    with Backend(each=lambda c, q: c.send(answers)) as backend:
        assert [ask(server, url(backend)).body for _ in range(3)] == ["ok"] * 3
        assert backend.connections == 3


def test_a_body_within_and_beyond_its_bound(server):
    def each(conn, request):
        if request.target == "/chunks":
            conn.chunked(b"x" * 60, b"y" * 41)
        else:
            conn.answer(b"x" * int(request.target[1:]))

    with Backend(each=each) as backend:
        assert ask(server, url(backend, "/100"), max=100)[:2] == ("ok", 200)
        assert ask(server, url(backend, "/101"), max=100)[:2] == ("too large", 200)
        assert ask(server, url(backend, "/chunks"), max=100)[:2] == ("too large", 200)
        assert ask(server, url(backend, "/1048576")).length == 1 << 20


def test_a_reset_in_the_middle(server):
    def each(conn, request):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        conn.reset()

    with Backend(each=each) as backend:
        assert ask(server, url(backend)).error == "broken"


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_silent_server(server, first):
    def serve(conn):
        conn.request()
        conn.send(first)
        conn.ended()

    with Backend(serve=serve) as backend:
        silent = ask(server, url(backend), silence=200)
        assert (silent.error, silent.why) == ("timeout", "the server is silent")


def test_an_answer_drop_by_drop_ends_in_time(server):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(200):
            conn.send(b"x")
            threading.Event().wait(0.05)

    with Backend(serve=serve) as backend:
        slow = ask(server, url(backend), time=500, silence=5000)
        assert (slow.error, slow.why) == ("timeout", "the answer was not whole in time")


def test_a_server_that_accepts_nothing(server):
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        stack.enter_context(socket.create_connection(("127.0.0.1", port)))  # and its queue is full
        assert ask(server, f"http://127.0.0.1:{port}/", time=300)[:2] == ("timeout", 0)


def test_a_server_that_ends_its_half_gets_its_answer_taken(server):
    def each(conn, request):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        conn.sock.shutdown(1)

    with Backend(each=each) as backend:
        assert [ask(server, url(backend)).body for _ in range(2)] == ["ok"] * 2


# ---- the request ends before its calls ----

def test_a_client_that_leaves_ends_its_call(server):
    gone = threading.Event()

    def serve(conn):
        say_nothing(conn)
        gone.set()

    def counts():
        return dict(zip(("begun", "done", "ends", "left"), map(int, server.get("/asking/counts").body.split()), strict=True))

    before = counts()
    with Backend(serve=serve) as backend:
        with server.connect() as connection:
            connection.send(http.request(target("ask", url(backend))))
            assert eventually(lambda: backend.connections == 1)
        assert gone.wait(30)
    assert eventually(lambda: counts()["left"] == before["left"] + 1)
    after = counts()
    assert (after["ends"], after["done"]) == (before["ends"] + 1, before["done"])


def test_an_answer_before_the_call_ends(server):
    with Backend(serve=say_nothing) as backend:
        assert server.get(target("hurry", url(backend))).body == b"at once"


def test_a_cancelled_call(server):
    with Backend(serve=say_nothing) as backend:
        assert server.get(target("cancel", url(backend))).body == b"cancelled"
    with Backend() as backend:
        assert server.get(target("cancel_inside", url(backend))).body == b"cancelled inside"


def test_a_call_without_a_request(server):
    with Backend(each=lambda c, q: c.answer(status="204 None")) as backend:
        ends = int(server.get("/asking/outside/result").body.split()[1])
        assert server.get(target("outside", url(backend))).body == b"1"
        assert eventually(lambda: server.get("/asking/outside/result").body == b"204 %d" % (ends + 1))


def test_calls_end_with_the_server(start, tmp_path):
    duda.build(tmp_path / "services", "asking", level=3)
    server = start(**duda.config(tmp_path / "services", "asking"))
    with Backend(serve=say_nothing) as backend:
        for _ in range(8):
            assert server.get(target("outside", url(backend))).body == b"1"
        assert eventually(lambda: backend.connections == 8)
        server.stop()


# ---- bodies in pieces ----

def test_a_body_is_passed_on_in_pieces(server):
    chunks = [BIG[i:i + 50000] for i in range(0, len(BIG), 50000)]
    with Backend(each=lambda c, q: c.answer(BIG) if q.target == "/whole" else c.chunked(*chunks)) as backend:
        for path in ("/whole", "/chunks"):
            answer = server.get(target("stream", url(backend, path)))
            assert answer.status == 200 and answer.body == BIG
        assert backend.connections == 1


def test_a_slow_client_slows_the_server_down(server):
    sent = []

    def each(conn, request):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            conn.send(b"x" * 100_000)
            sent.append(1)

    with Backend(each=each) as backend:
        with server.connect() as connection:
            connection.send(http.request(target("stream", url(backend))))
            assert connection.stream.some().startswith(b"HTTP/1.1 200")
            count = -1
            while count != len(sent):
                count = len(sent)
                threading.Event().wait(0.3)
            assert len(sent) < 900
        assert eventually(lambda: backend.active == 0)


def test_pieces_within_a_bound_and_empty_bodies(server):
    with Backend(each=lambda c, q: c.answer(b"x" * int(q.target[1:]))) as backend:
        assert server.get(target("stream", url(backend, "/0"))).body.startswith(b"ok|200|-")
        assert server.get(target("stream", url(backend, "/101"), max=100)).body.startswith(b"too large|200|")


def test_a_part_that_fails_ends_the_call(server):
    with Backend() as backend:
        assert ask(server, url(backend), "stop")[:2] == ("stopped", 200)


@pytest.mark.parametrize("words", [{}, {"length": 100_000}, {"late": 3}, {"late": 1, "length": 100_000}])
def test_a_body_is_sent_in_pieces(server, words):
    with Backend() as backend:
        assert ask(server, url(backend), "upload", size=100_000, **words).body == "ok"
        request = backend.requests[0]
        assert request.body == b"x" * 100_000 and request.header("Content-Length") == (str(words["length"]) if "length" in words else None)


@pytest.mark.parametrize("words, why", [
    ({"length": 10, "size": 9}, "more() gave less than `length` bytes"), ({"length": 10, "size": 11}, "more() gave more than `length` bytes"),
    ({"fail": 1}, "more() has failed")])
def test_a_body_that_fails(server, words, why):
    with Backend() as backend:
        failed = ask(server, url(backend), "upload", **words)
        assert (failed.error, failed.why) == ("stopped", why)


def test_a_body_in_pieces_goes_nowhere_else(server):
    with redirecting({"/a": to("/z", "307 Temporary")}) as backend:
        assert ask(server, url(backend, "/a"), "upload", size=10).why == "the body cannot be sent again"
    with redirecting({"/a": to("/z", "303 See")}) as backend:
        assert ask(server, url(backend, "/a"), "upload", size=10).body == "GET /z "


def test_an_early_answer_ends_a_body(server):
    def serve(conn):
        conn.head()
        conn.answer(b"full", status="413 Large", fields="Connection: close\r\n")
        conn.exactly(30_000_000)

    with Backend(serve=serve) as backend:
        assert ask(server, url(backend), "upload", size=30_000_000)[:2] == ("ok", 413)
