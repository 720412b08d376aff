# SPDX-License-Identifier: Apache-2.0
"""The reverse proxy, as long as everybody behaves: what the backend gets, and what the client."""

import socket
import threading
import time

import pytest

from harness import http
from harness.backend import Backend, configured
from harness.client import PATIENCE, eventually
from harness.content import noise

BIG = noise(3 << 20)


def test_small_answers_come_through(start):
    with Backend(each=lambda c, q: c.answer(b"hello", fields="X-A: 1\r\nServer: b\r\n")) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                answer = client.request("/a?b=c")
                assert (answer.status, answer.body, answer.framing) == (200, b"hello", "length")
                assert answer.header("X-A") == "1" and answer.header("Server") == "b"
        assert [q.target for q in backend.requests] == ["/a?b=c"] * 3
        assert backend.connections == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PATCH"])
def test_methods(start, method):
    with Backend(each=lambda c, q: c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                                          + (b"" if q.method == "HEAD" else b"hello"))) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(2):
                answer = client.request("/", method)
                assert answer.status == 200
                assert answer.body == (b"" if method == "HEAD" else b"hello")
                assert answer.header("Content-Length") == "5"
        assert backend.requests[0].method == method
        assert backend.connections == (2 if method == "HEAD" else 1)  # a body may come behind HEAD: test_unasked_bytes.py


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_answers_without_a_body(start, status):
    def each(conn, _):
        conn.send(f"HTTP/1.1 {status}\r\nETag: \"x\"\r\n\r\n".encode())

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(2):
                answer = client.request("/")
                assert answer.status == int(status[:3]) and answer.header("ETag") == '"x"'
        assert backend.connections == 1


@pytest.mark.parametrize("field, behind", [("Transfer-Encoding: chunked", "0\r\n\r\n"), ("Content-Length: 5", "hello"), ("Content-Length: 5", "")])
def test_a_204_has_no_body_whatever_its_fields_say(start, field, behind):
    """RFC 9112 section 6.3. What comes behind its head is nobody's answer."""
    with Backend(each=lambda c, q: c.send(f"HTTP/1.1 204 No Content\r\n{field}\r\n\r\n{behind}".encode())) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(2):
                answer = client.request("/")
                assert answer.status == 204
                assert answer.header("Transfer-Encoding") is None and answer.header("Content-Length") is None
        assert backend.connections == 2


def test_lenient_backends(start):
    def each(conn, _):
        conn.send(b"HTTP/1.1 200 OK\nA: b\nTransfer-Encoding: chunked\n\n5 \r\nhello\r\n0  \r\n\r\n")

    with Backend(each=each) as backend:
        strict = start(**configured("", backend))
        assert strict.get("/").status == 502
        lenient = start(**configured("LenientBackends on", backend))
        answer = lenient.get("/")
        assert (answer.status, answer.header("A"), answer.body) == (200, "b", b"hello")


@pytest.mark.parametrize("field", ["X-Accel-Redirect: /secret/a", "x-accel-buffering: no", "X-Sendfile: /srv/a"])
def test_orders_for_the_server_do_not_reach_clients(start, field):
    def each(conn, _):
        conn.send(f"HTTP/1.1 200 OK\r\n{field}\r\nX-Other: 1\r\nContent-Length: 2\r\n\r\nok".encode())

    with Backend(each=each) as backend:
        answer = start(**configured("", backend)).get("/")
        assert answer.header("X-Other") == "1"
        assert answer.header(field.partition(":")[0]) is None


def test_failures_name_backend_and_url(start):
    """502 and 504."""
    def serve(conn):
        request = conn.request()
        if b"bad" in request.raw:
            conn.send(b"nonsense")
        else:
            conn.more()

    with Backend(serve) as backend:
        server = start(**configured("ReadTimeout 1s", backend))
        assert server.get("/bad%22?q=1").status == 502
        assert server.get("/silent").status == 504
        server.wait_for_log(r'proxy failed entry=\S+ backend=127\.0\.0\.1:\d+ status=502 why="[^"]+" url="/bad%22\?q=1"')
        server.wait_for_log(r'proxy failed entry=\S+ backend=127\.0\.0\.1:\d+ status=504 why="[^"]+" url="/silent"')


@pytest.mark.parametrize("target", ["/a%20b?c=%41", "/%61//b/c", "/x;y=1?a=/../", "/*?"])
def test_the_target_goes_as_it_came(start, target):
    with Backend() as backend:
        server = start(**configured("", backend))
        assert server.request(target).status == 200
        assert backend.requests[0].target == target


def test_absolute_targets_become_paths(start):
    with Backend() as backend:
        server = start(**configured("", backend))
        assert server.request("http://example.org/a?b").status == 200
        assert server.request("http://example.org?b").status == 200
        assert [q.target for q in backend.requests] == ["/a?b", "/?b"]
        assert backend.requests[0].header("Host") == "example.org"


@pytest.mark.parametrize("target, passed", [
    ("/api/x?q=1", "/v1/x?q=1"),
    ("/%61pi/a%20b", "/v1/a%20b"),
    ("/api//../api/x", "/v1/x"),
    ("/other/%41", "/other/%41"),
])
def test_rewrite(start, target, passed):
    with Backend() as backend:
        server = start(**configured("Rewrite /api/ /v1/", backend))
        assert server.request(target).status == 200
        assert backend.requests[0].target == passed


def leads_back(*lines, status="302 Found"):
    """each of a backend that answers with these lines."""
    fields = "".join(f"{line}\r\n" for line in lines)
    return lambda conn, request: conn.answer(b"", status, fields)


def test_rewrite_leads_back(start):
    answers = leads_back("Location: /v1/x?y", "Content-Location: /v1/z", "Refresh: 5; url=/v1/", "Set-Cookie: a=b; Path=/; HttpOnly",
                         "Set-Cookie: c=d; Domain=inner.test; Path=/v1/e", "Link: </v1/>")
    with Backend(each=answers) as backend:
        server = start(**configured("Rewrite /api/ /v1/\nHost inner.test", backend))
        answer = server.get("/api/q")
    assert [answer.header(name) for name in ("Location", "Content-Location", "Refresh", "Link")] == \
        ["/api/x?y", "/api/z", "5; url=/api/", "</v1/>"]
    assert answer.all("Set-Cookie") == ["a=b; Path=/api; HttpOnly", "c=d; Path=/api/e"]


def test_urls_of_the_backend_lead_back(start):
    with Backend() as backend:
        backend.each = leads_back(f"Location: http://{backend.address}/login")
        server = start(**configured("Rewrite /reg/ /\nHost server", backend))
        assert server.get("/reg/").header("Location") == "/reg/login"


def test_urls_of_the_site_lead_back(start):
    with Backend(each=leads_back("Location: https://shop.test/login")) as backend:
        server = start(**configured("Rewrite /reg/ /", backend))
        assert server.get("/reg/", {"Host": "shop.test"}).header("Location") == "https://shop.test/reg/login"


@pytest.mark.parametrize("lines", ["", "Rewrite /api/ /v1/\nRewriteAnswers off"])
def test_without_it_nothing_is_rewritten(start, lines):
    with Backend(each=leads_back("Location: /v1/x", "Set-Cookie: a=b; Path=/")) as backend:
        answer = start(**configured(lines, backend)).get("/api/q")
    assert (answer.header("Location"), answer.header("Set-Cookie")) == ("/v1/x", "a=b; Path=/")


# -- bodies


@pytest.mark.parametrize("size", [0, 1, 100, 16384, 100_000, len(BIG)])
@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
def test_bodies_of_answers(start, size, framing):
    body = BIG[:size]

    def serve(conn):
        while conn.request():
            if framing == "length":
                conn.answer(body)
            elif framing == "chunked":
                conn.chunked(*[body[at:at + 10007] for at in range(0, size, 10007)])
            else:
                conn.send(b"HTTP/1.1 200 OK\r\n\r\n" + body)
                return

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(2):
                answer = client.request("/")
                assert answer.body == body
                assert answer.framing == ("length" if framing == "length" else "chunked")
        assert backend.connections == (2 if framing == "close" else 1)


@pytest.mark.parametrize("size", [0, 1, 100, 16000, 20000, 100_000, len(BIG)])
@pytest.mark.parametrize("chunked", [False, pytest.param(True, marks=pytest.mark.connection("chunks of a request"))])
def test_bodies_of_requests(start, size, chunked):
    body = BIG[:size]
    with Backend(each=lambda c, q: c.answer(b"%d" % len(q.body))) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(2):
                if chunked:
                    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for at in range(0, size, 70001):
                        client.send(b"%x\r\n%s\r\n" % (len(body[at:at + 70001]), body[at:at + 70001]))
                    client.send("0\r\n\r\n")
                else:
                    client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + body)
                assert client.response().body == b"%d" % size
        assert all(q.body == body for q in backend.requests) and len(backend.requests) == 2
        request = backend.requests[0]
        assert request.header("Content-Length") == (None if chunked else str(size))
        assert backend.connections == 1


@pytest.mark.parametrize("size", [0, 10, 3 << 20])
@pytest.mark.parametrize("trailer", ["", pytest.param("Trailer: X-Sum\r\n", marks=pytest.mark.connection("trailers of a request"))],
                         ids=["", "trailers"])
def test_a_body_that_was_gathered_has_its_length(start, size, trailer):
    """RFC 9112 6.2: applications that know no chunks have the body too; trailers need chunks (7.1.2)."""
    body = BIG[:size]
    with Backend(each=lambda c, q: c.answer(b"%d" % len(q.body))) as backend:
        server = start(**configured("RequestBuffering on", backend))
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n{trailer}\r\n")
            for at in range(0, size, 70001):
                client.send(b"%x\r\n%s\r\n" % (len(body[at:at + 70001]), body[at:at + 70001]))
            client.send("0\r\nX-Sum: 5\r\n\r\n" if trailer else "0\r\n\r\n")
            assert client.response().body == b"%d" % size
    request, = backend.requests
    assert request.body == body and request.header("Content-Length") == (None if trailer else str(size))


def test_a_small_body_leaves_with_its_head(start):
    pieces = []

    def serve(conn):
        pieces.append(conn.sock.recv(65536))
        conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        assert server.request("/", "POST", body=b"x" * 1000).status == 200
    assert pieces[0].endswith(b"\r\n\r\n" + b"x" * 1000)


def lateness_of_events(start):
    """Seconds that each of nine needs, none of which is sent before the one before it has arrived."""
    arrived, lost = threading.Semaphore(0), []

    def each(conn, _):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(9):
            time.sleep(0.05 + number * 0.017)  # whatever grain a timer may have
            data = b"data: %f\n\n" % time.monotonic()
            conn.send(b"%x\r\n%s\r\n" % (len(data), data))
            if not arrived.acquire(timeout=PATIENCE):
                lost.append(number)
        conn.send(b"0\r\n\r\n")

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(http.request("/"))
            late, seen = [], b""
            while seen.count(b"data:") < 9:
                piece = client.sock.recv(65536)
                now = time.monotonic()
                seen += piece
                for line in piece.split(b"\n"):
                    if line.startswith(b"data: "):
                        late.append(now - float(line[6:]))
                        arrived.release()
            assert len(late) == 9 and not lost
            return late


@pytest.mark.connection("an answer comes at once")
def test_each_event_arrives_before_the_next_one(start):
    lateness_of_events(start)


@pytest.mark.timed
@pytest.mark.connection("an answer comes at once")
def test_events_arrive_at_once(start):
    """A busy machine makes some late, a server that gathers them all."""
    late = lateness_of_events(start)
    assert sorted(late)[4] < 0.03, late


@pytest.mark.connection("a slow client")
def test_a_client_that_reads_slowly_holds_the_backend_back(start):
    sent = []

    def each(conn, _):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (64 << 20))
        for _ in range(64):
            conn.send(b"x" * (1 << 20))
            sent.append(1)

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect(receive_buffer=4096) as client:
            client.send(http.request("/"))
            time.sleep(1)
            assert len(sent) < 32
            before = len(sent)
            time.sleep(0.5)
            assert len(sent) == before
            assert len(client.response().body) == 64 << 20


@pytest.mark.connection("a request that is still coming")
def test_a_backend_that_reads_slowly_holds_the_client_back(start):
    def serve(conn):
        request = conn.head()
        time.sleep(1)
        conn.body(request)
        conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(server="MaxBodySize 100M", **configured("", backend))
        with server.connect() as client:
            client.sock.settimeout(0.4)
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {64 << 20}\r\n\r\n")
            sent = 0
            with pytest.raises(TimeoutError):
                while sent < 64 << 20:
                    sent += client.sock.send(b"x" * min(1 << 20, (64 << 20) - sent))
            assert sent < 32 << 20
            client.sock.settimeout(30)
            while sent < 64 << 20:
                sent += client.sock.send(b"x" * min(1 << 20, (64 << 20) - sent))
            assert client.response().body == b"ok"


# -- connections


def test_connections_are_kept(start):
    with Backend() as backend:
        server = start(server="Workers 1", **configured("", backend))
        for _ in range(5):
            assert server.request("/").status == 200
        assert backend.connections == 1


def test_no_connection_is_kept(start):
    with Backend() as backend:
        server = start(server="Workers 1", **configured("KeepAlive 0", backend))
        for _ in range(3):
            assert server.request("/").status == 200
        assert backend.connections == 3
        assert all(q.header("Connection") == "close" for q in backend.requests)


def test_an_answer_that_closes_is_not_kept(start):
    def serve(conn):
        if conn.request():
            conn.answer(b"ok", fields="Connection: close\r\n")

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                answer = client.request("/")
                assert answer.status == 200 and answer.keeps_connection
        assert backend.connections == 3


def test_unix_sockets(start, tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "b.sock"))
    listener.listen()
    with Backend(listener=listener) as backend:
        server = start(**configured("Host server", backend))
        assert server.request("/").status == 200
        assert backend.requests[0].header("Host") == "localhost"


def test_ipv6(start):
    with Backend(listener=socket.create_server(("::1", 0), family=socket.AF_INET6)) as backend:
        server = start(**configured("Host server", backend))
        assert server.request("/").status == 200
        assert backend.requests[0].header("Host") == backend.address


def test_host_names(start):
    with Backend() as backend:
        server = start(**configured("Host server", f"localhost:{backend.port}"))
        assert server.request("/").status == 200
        assert backend.requests[0].header("Host") == f"localhost:{backend.port}"


# -- changes of protocol


UPGRADE = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def upgraded(conn, first=b""):
    request = conn.request()
    assert request.header("Connection") == "upgrade" and request.header("Upgrade") == "websocket"
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              b"Sec-WebSocket-Accept: x\r\n\r\n" + first)


def switched(client):
    """Ask for another protocol, and read the answer."""
    client.send(UPGRADE)
    answer = http.read_head(client.stream)
    assert answer.status == 101 and answer.header("Upgrade") == "websocket"
    return answer


@pytest.mark.connection("Upgrade")
def test_a_tunnel_carries_bytes_both_ways(start):
    def serve(conn):
        upgraded(conn, b"first")
        while data := conn.sock.recv(65536):
            conn.send(data)

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            assert switched(client).header("Sec-WebSocket-Accept") == "x"
            assert client.stream.exactly(5) == b"first"
            for size in (1, 1000, 100_000):
                client.send(BIG[:size])
                assert client.stream.exactly(size) == BIG[:size]
            client.finish_sending()
            assert client.rest() == b""


@pytest.mark.connection("Upgrade")
def test_a_tunnel_holds_back(start):
    sent = []

    def serve(conn):
        upgraded(conn)
        for _ in range(64):
            conn.send(b"x" * (1 << 20))
            sent.append(1)

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect(receive_buffer=4096) as client:
            switched(client)
            time.sleep(1)
            assert len(sent) < 32
            assert len(client.rest()) == 64 << 20


@pytest.mark.connection("Upgrade")
def test_a_tunnel_that_is_silent_ends(start):
    def serve(conn):
        upgraded(conn)
        conn.ended()

    with Backend(serve) as backend:
        server = start(**configured("TunnelTimeout 300ms", backend))
        with server.connect() as client:
            switched(client)
            assert client.is_closed()


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("who", ["client", "backend"])
@pytest.mark.connection("Upgrade")
def test_a_tunnel_ends_with_either_side(start, who, end):
    ended = []

    def serve(conn):
        upgraded(conn)
        if who == "backend":
            time.sleep(0.2)
            if end == "reset":
                conn.reset()
            return
        ended.append(conn.ended())

    with Backend(serve) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            switched(client)
            if who == "client":
                client.reset() if end == "reset" else client.close()
                assert eventually(lambda: ended == [True])
            else:
                assert client.is_closed()


@pytest.mark.parametrize("asked, agreed, status", [
    ("websocket", "other", 502), ("websocket", "websocket, other", 502), ("websocket", "h2c", 502), ("websocket", "web", 502),
    ("websocket", "WebSocket", 101), ("a/1, b", "b", 101), ("a/1, b", "b, A/1", 101),
])
@pytest.mark.connection("Upgrade")
def test_a_protocol_that_was_not_asked_for(start, asked, agreed, status):
    """RFC 9110 7.8: a server must not switch to it, so it is no tunnel of ours."""
    def each(conn, _):
        conn.send(f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {agreed}\r\n\r\n".encode())

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(UPGRADE.replace("websocket", asked))
            assert http.read_head(client.stream).status == status


@pytest.mark.connection("Upgrade")
def test_a_refused_upgrade_is_an_ordinary_answer(start):
    with Backend(each=lambda c, q: c.answer(b"no", "426 Upgrade Required", "Upgrade: other\r\n")) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(UPGRADE)
            answer = client.response()
            assert (answer.status, answer.body, answer.header("Upgrade")) == (426, b"no", "other")
            assert client.request("/").status == 426


@pytest.mark.connection("Upgrade")
def test_h2c_is_not_passed_on(start):
    with Backend() as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n")
            assert client.response().status == 200
        request = backend.requests[0]
        assert not request.header("Upgrade") and not request.header("HTTP2-Settings")


# -- large bodies, past the memory of the server


@pytest.mark.parametrize("size", [65535, 16384 + 65536 - 1, 16384 + 65536, 200_000, len(BIG)])
@pytest.mark.parametrize("how", ["at once", "slowly", "head alone"])
def test_large_answers(start, size, how):
    def each(conn, _):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
        if how == "at once":
            conn.send(head + BIG[:size])
            return
        conn.send(head)
        time.sleep(0.05)
        for at in range(0, size, size // 5 + 1):
            conn.send(BIG[at:min(size, at + size // 5 + 1)])
            time.sleep(0.01 if how == "slowly" else 0)

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                answer = client.request("/")
                assert answer.body == BIG[:size] and answer.framing == "length"
            client.send(http.request("/") * 3)
            for _ in range(3):
                assert client.response().body == BIG[:size]
        assert backend.connections == 1


def test_clients_that_leave_within_a_large_answer_leave_nothing(start):
    """What waited for one client is not another's."""
    def each(conn, request):
        conn.answer(request.target[1:2].encode() * (whole if request.target == "/x" else 8 << 20))

    whole = 100_000  # over TLS and HTTP/2, a slow machine takes seconds for more
    with Backend(each=each) as backend:
        server = start(server="Workers 1", **configured("", backend))
        before = server.open_descriptors()
        for turn in range(12):
            with server.connect(receive_buffer=4096) as client:
                client.send(http.request(f"/{turn % 10}"))
                client.stream.exactly(10_000 * turn)
                client.reset()
            answer = server.request("/x")
            assert answer.body == b"x" * whole
        assert eventually(lambda: server.open_descriptors() <= before + 20)


@pytest.mark.connection("HTTP/1.0")
def test_large_answers_to_http_1_0(start):
    with Backend(each=lambda c, q: c.answer(BIG)) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send("GET / HTTP/1.0\r\n\r\n")
            assert client.response().body == BIG


# -- reload


@pytest.mark.parametrize("how", ["answer", pytest.param("upload", marks=pytest.mark.connection("a request that is still coming")),
                                 pytest.param("tunnel", marks=pytest.mark.connection("Upgrade"))])
def test_a_reload_cuts_nothing(start, how):
    def serve(conn):
        if how == "tunnel":
            upgraded(conn)
            while data := conn.sock.recv(65536):
                conn.send(data)
            return
        request = conn.head()
        if how == "upload":
            conn.answer(b"%d" % len(conn.body(request)))
            return
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"x" * 100_000)
        time.sleep(0.5)
        conn.send(b"x" * 100_000)

    with Backend(serve) as backend, Backend() as other:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            if how == "tunnel":
                switched(client)
            elif how == "upload":
                client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
            else:
                client.send(http.request("/"))
            assert eventually(lambda: backend.connections == 1)
            time.sleep(0.2)
            for _ in range(2):
                server.reload(**configured("RequestBuffering off", other))
            assert server.request("/").body == b"ok"
            if how == "tunnel":
                client.send(b"hello")
                assert client.stream.exactly(5) == b"hello"
            elif how == "upload":
                client.send("67890")
                assert client.response().body == b"10"
            else:
                assert client.response().body == b"x" * 200_000
