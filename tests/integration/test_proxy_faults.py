# SPDX-License-Identifier: Apache-2.0
"""Backends that misbehave: a client sees a whole answer, an error, or an answer that is plainly cut off."""

import socket
import threading
import time

import pytest

from harness import http
from harness.backend import Backend, configured
from harness.client import PATIENCE, eventually, free_port


def answered(start, serve, entry="", method="GET", **kwargs):
    with Backend(serve) as backend:
        server = start(**configured(entry, backend, **kwargs))
        return server.request("/", method), backend


def dead():
    return f"127.0.0.1:{free_port()}"


# -- no connection


def test_nobody_is_there(start):
    server = start(**configured("ConnectTimeout 600", dead()))
    assert server.request("/").status == 502
    server.wait_for_log(r"proxy cannot connect .* why=\"127\.0\.0\.1:\d+: Connection refused")


def test_no_such_name(start):
    """One that cannot be asked for, as there may be nobody to ask (RFC 1035 section 2.3.4: 63 bytes a label)."""
    name = "n" * 64 + ".invalid"
    assert start(**configured("", f"{name}:80")).request("/").status == 502


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_next_server_at_once(start, method):
    with Backend(each=lambda c, q: c.answer(q.body)) as backend:
        server = start(**configured("LoadBalancer First-Alive\nAttemptsCount 1", dead(), dead(), dead(), backend))
        answer = server.request("/", method, body=b"x" * 100 if method == "POST" else b"")
        assert answer.status == 200 and (method == "GET" or answer.body == b"x" * 100)


def test_a_connect_that_hangs(start):
    """A listener whose queue is full does not answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        fillers = []
        for _ in range(4):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
            fillers.append(sock)
        time.sleep(0.1)
        name = "127.0.0.1:%d" % listener.getsockname()[1]
        server = start(**configured("ConnectTimeout 300ms", name))
        began = time.monotonic()
        assert server.request("/").status == 504
        assert 0.2 < time.monotonic() - began < PATIENCE
        for sock in fillers:
            sock.close()


# -- no answer


@pytest.mark.parametrize("what", ["close", "reset"])
@pytest.mark.parametrize("when", ["at once", "after the request", "within the head"])
def test_it_ends_without_an_answer(start, when, what):
    def serve(conn):
        if when != "at once":
            conn.request()
        if when == "within the head":
            conn.send(b"HTTP/1.1 200 OK\r\nContent-Le")
            time.sleep(0.05)
        if what == "reset":
            conn.reset()

    answer, backend = answered(start, serve, "AttemptsCount 3")
    assert answer.status == 502
    assert backend.connections == 1


@pytest.mark.parametrize("method, tried", [("GET", 2), ("PUT", 2), ("DELETE", 2), ("POST", 1), ("PATCH", 1)])
def test_who_is_asked_again(start, method, tried):
    """Backends that close after a request; the third would answer."""
    asked = []

    def serve(conn):
        asked.append(conn.request().body)

    with Backend(serve) as one, Backend(serve) as two, Backend() as three:
        server = start(**configured("LoadBalancer First-Alive\nAttemptsCount 2", one, two, three))
        body = b"x" * 5000 if method in ("PUT", "POST", "PATCH") else b""
        assert server.request("/", method, body=body).status == 502
        assert asked == [body] * tried and not three.requests


def test_a_large_body_is_sent_once(start):
    asked = []

    def serve(conn):
        asked.append(len(conn.request().body))

    with Backend(serve) as one, Backend() as two:
        server = start(**configured("LoadBalancer First-Alive\nAttemptsCount 3", one, two))
        assert server.request("/", "PUT", body=b"x" * 100_000).status == 502
        assert asked == [100_000] and not two.requests


def test_another_backend_answers(start):
    with Backend(lambda conn: conn.request()) as bad, Backend() as good:
        server = start(**configured("LoadBalancer First-Alive", bad, good))
        assert server.request("/").status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_silence(start, method):
    def serve(conn):
        conn.request()
        conn.ended()

    began = time.monotonic()
    answer, backend = answered(start, serve, "ReadTimeout 300ms\nAttemptsCount 3", method)
    assert answer.status == 504 and 0.2 < time.monotonic() - began < PATIENCE
    assert backend.connections == 1


def test_a_backend_that_takes_nothing(start):
    done = threading.Event()

    def serve(conn):
        conn.head()
        done.wait(2 * PATIENCE)

    with Backend(serve) as backend:
        server = start(server="MaxBodySize 100M", **configured("SendTimeout 300ms\nReadTimeout 600", backend))
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {64 << 20}\r\n\r\n")
            threading.Thread(target=lambda: _try(client.sock.sendall, b"x" * (64 << 20)), daemon=True).start()
            assert client.response().status == 504
            done.set()


def _try(call, *args):
    try:
        call(*args)
    except OSError:
        pass


# -- connections that were kept


def closing(after):
    """Serve so many requests of each connection, then close it when the next one comes."""
    def serve(conn):
        for _ in range(after):
            if not conn.request():
                return
            conn.answer(b"ok")
        conn.head()
    return serve


def test_a_kept_connection_that_closes_is_no_failure(start):
    with Backend(closing(1)) as backend:
        server = start(server="Workers 1", **configured("AttemptsCount 1", backend))
        for count in range(1, 4):
            assert server.request("/").status == 200
            assert backend.connections == count


def test_a_kept_connection_that_closes_does_not_repeat_post(start):
    with Backend(closing(1)) as backend:
        server = start(server="Workers 1", **configured("", backend))
        assert server.request("/", "POST", body=b"x").status == 200
        assert server.request("/", "POST", body=b"x").status == 502
        assert backend.connections == 1


def test_a_kept_connection_that_closes_says_nothing_of_its_backend(start):
    """Who posts at the wrong moment is told 502; nobody else is to go without the backend for that."""
    with Backend(closing(1)) as backend:
        server = start(server="Workers 1", **configured("AttemptsCount 1\nOfflineTimeOut 60", backend))
        for _ in range(3):
            assert server.request("/", "POST", body=b"x").status == 200
            assert server.request("/", "POST", body=b"x").status == 502


def test_a_kept_connection_that_was_closed_is_not_used(start):
    def serve(conn):
        conn.request()
        conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(server="Workers 1", **configured("", backend))
        for _ in range(5):
            assert server.request("/", "POST", body=b"x").status == 200
            time.sleep(0.05)


def test_bytes_behind_an_answer_are_nobodys(start):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                  b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        conn.ended()

    with Backend(serve) as backend:
        server = start(server="Workers 1", **configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                assert client.request("/").body == b"ok"
        assert backend.connections == 3


def test_an_answer_before_the_question_is_nobodys(start):
    def serve(conn):
        conn.request()
        conn.answer(b"ok")
        time.sleep(0.1)
        conn.answer(b"evil")
        conn.ended()

    with Backend(serve) as backend:
        server = start(server="Workers 1", **configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                assert client.request("/").body == b"ok"
                time.sleep(0.3)
        assert backend.connections == 3


# -- answers that are none


@pytest.mark.parametrize("bytes_", [
    b"garbage\r\n\r\n",
    b"\x16\x03\x01\x02\x00",
    b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    b"HTTP/2 200\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
    b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nX : 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    b"HTTP/1.1 999 ?\r\n\r\n",
])
def test_garbage(start, bytes_):
    def serve(conn):
        conn.request()
        conn.send(bytes_)
        conn.sock.shutdown(socket.SHUT_WR)
        conn.ended()

    assert answered(start, serve)[0].status == 502


def test_a_head_that_never_ends(start):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\n")
        for number in range(10_000):
            conn.send(b"X-%d: %s\r\n" % (number, b"x" * 1000))

    assert answered(start, serve)[0].status == 502


def test_a_flood_of_interim_answers(start):
    def serve(conn):
        conn.request()
        for _ in range(100_000):
            conn.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)

    answer, _ = answered(start, serve)
    assert answer.status == 502 and len(answer.interim) <= 16


def test_by_single_bytes(start):
    def serve(conn):
        while conn.request():
            for byte in b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n":
                conn.send(bytes([byte]))
                time.sleep(0.001)

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            assert [client.request("/").body for _ in range(3)] == [b"abc"] * 3
        assert backend.connections == 1


# -- answers that break off


CUT = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n",
    "between chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("what", ["close", "reset", "stall"])
@pytest.mark.parametrize("framing", CUT)
@pytest.mark.parametrize("minor", [0, 1])
def test_a_body_that_breaks_off_is_not_complete(start, framing, what, minor):
    body = b"4e20\r\n" + b"x" * 20000 + b"\r\n" if framing == "between chunks" else b"x" * 20000

    def serve(conn):
        conn.request()
        conn.send(CUT[framing] + body)
        time.sleep(0.1)
        if what == "reset":
            conn.reset()
        elif what == "stall":
            conn.ended()

    with Backend(serve) as backend:
        # Long enough for a busy machine to send the head: without one, the answer would be a whole 504.
        server = start(**configured(f"ReadTimeout {3 if what == 'stall' else 600}", backend))
        with server.connect() as client:
            client.send(f"GET / HTTP/1.{minor}\r\nHost: a\r\n\r\n")
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.response()


def test_a_reset_is_no_end(start):
    """A body that ends with the connection: only a proper end is one."""
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20000)
        time.sleep(0.2)
        conn.reset()

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.response()


def test_bad_chunks_in_the_middle(start):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n")
        time.sleep(0.1)
        conn.send(b"zz\r\nbad\r\n0\r\n\r\n")
        conn.ended()

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(http.request("/"))
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.response()


# -- answers while the request is on its way


def test_an_early_answer(start):
    def serve(conn):
        request = conn.head()
        conn.answer(b"enough", "413 Content Too Large", "Connection: close\r\n")
        _try(conn.body, request)

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + "x" * 1000)
            answer = client.response()
            assert (answer.status, answer.body) == (413, b"enough")


def test_an_answer_while_the_body_goes_on(start):
    """Both ways at once, as an echo does."""
    def serve(conn):
        request = conn.head()
        length = int(request.header("Content-Length"))
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
        while length > 0:
            piece = conn.exactly(1000)
            conn.send(piece)
            length -= 1000
        assert not conn.ended() or True

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n")
            client.send(b"0" * 1000)
            head = http.read_head(client.stream)
            assert head.status == 200
            assert client.stream.exactly(1000) == b"0" * 1000
            for number in range(1, 10):
                piece = b"%d" % number * 1000
                client.send(piece)
                assert client.stream.exactly(1000) == piece
        assert backend.connections == 1


# -- clients that misbehave


def test_a_client_that_leaves_frees_the_backend(start):
    ended = []

    def serve(conn):
        conn.request()
        ended.append(conn.ended())

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(http.request("/"))
            assert eventually(lambda: backend.connections == 1)
            time.sleep(0.1)
        assert eventually(lambda: ended == [True])


@pytest.mark.parametrize("framing", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_body_of_a_client_that_breaks_off_is_not_complete(start, framing):
    got = []

    def serve(conn):
        request = conn.head()
        try:
            got.append(conn.body(request))
        except (EOFError, OSError):
            got.append(None)

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n5\r\nhello\r\n")
            time.sleep(0.2)
        assert eventually(lambda: got == [None])


@pytest.mark.parametrize("framing, sent", [("Content-Length: 1000", "hello"), ("Transfer-Encoding: chunked", "5\r\nhello\r\n")])
def test_a_client_that_stops_within_its_body(start, framing, sent):
    """Its body is read when the backend is there, in no event of the client's; the time runs nevertheless."""
    with Backend() as backend:
        server = start(server="BodyTimeout 500ms", **configured("", backend))
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n{sent}")
            assert client.response("POST").status == 408


def test_bad_chunks_of_a_client(start):
    got = []

    def serve(conn):
        try:
            got.append(conn.request().body)
        except (EOFError, OSError):
            got.append(None)

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            time.sleep(0.2)
            client.send("zz\r\n")
            assert client.response().status == 400
        assert eventually(lambda: got == [None])


def test_a_body_that_is_too_large(start):
    with Backend() as backend:
        server = start(server="MaxBodySize 1K", **configured("", backend))
        assert server.request("/", "POST", body=b"x" * 2000).status == 413
        assert not backend.requests


# -- too many


def test_a_queue_that_is_full(start):
    gate = threading.Event()

    def each(conn, _):
        gate.wait(2 * PATIENCE)
        conn.answer(b"ok")

    with Backend(each=each) as backend:
        server = start(**configured("MaxConnections 1\nQueueLength 1", backend))
        clients = [server.connect() for _ in range(3)]
        for number, client in enumerate(clients):
            client.send(http.request("/"))
            if number == 0:
                assert eventually(lambda: backend.requests)
            time.sleep(0.2)
        refused = clients[2].response()
        assert refused.status == 503 and refused.header("Retry-After") == "1"
        gate.set()
        assert [client.response().status for client in clients[:2]] == [200, 200]
        assert backend.connections <= 2
        for client in clients:
            client.close()


def test_a_wait_that_is_too_long(start):
    gate = threading.Event()

    def each(conn, _):
        gate.wait(2 * PATIENCE)
        conn.answer(b"ok")

    with Backend(each=each) as backend:
        server = start(**configured("MaxConnections 1\nQueueTimeout 300ms", backend))
        with server.connect() as one, server.connect() as two:
            one.send(http.request("/"))
            assert eventually(lambda: backend.requests)
            began = time.monotonic()
            assert two.request("/").status == 503
            assert 0.2 < time.monotonic() - began < PATIENCE
            gate.set()
            assert one.response().status == 200
