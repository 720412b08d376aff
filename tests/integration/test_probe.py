# SPDX-License-Identifier: Apache-2.0
"""
What larger applications need of the server, met by the small ones of tests/plugins/probe: a proxy, CGI, requests that
wait for threads, descriptors and other workers, services that own a prefix or a site, and some that misbehave.
Tunnels have tests of their own: test_tunnels.py.
"""

import concurrent.futures
import contextlib
import pathlib
import signal
import socket
import threading
import time

import pytest

from harness import http
from harness.client import PATIENCE, Connection, eventually
from harness.config import section
from harness.content import noise
from harness.plugins import load

NAMES = ["proxy", "cgi", "bell", "wake", "listen", "say", "parts", "patient", "never", "stale", "dry", "filtered",
         "busy", "echo"]
HANDLERS = "\n".join(f"Match ^/{name} probe {name}" for name in NAMES)
FILES = {"a.txt": "text"}
MIB = 1 << 20
BIG = noise(8 * MIB)


def config(settings="", **kwargs):
    extra = {"plugins.load": load("probe"), "plugins/probe/probe.conf": section("PROBE", settings) if settings else ""}
    return {"files": FILES, "handlers": HANDLERS, "extra": extra, **kwargs}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**config(server="HandlerTimeout 1\nWorkers 2"))


# ---- proxy ----

class Backend:
    """A listener whose every connection runs serve(self, stream, sock) on a thread of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.connections = self.open = self.busy = self.most_busy = 0
        self.bodies = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(sock,), daemon=True).start()

    def _run(self, sock):
        sock.settimeout(30)
        with self.lock:
            self.connections += 1
            self.open += 1
        with contextlib.suppress(OSError, AssertionError), sock:
            self.serve(self, http.Stream(lambda: sock.recv(65536)), sock)
        with self.lock:
            self.open -= 1

    def request(self, stream):
        """Request line and body of the next request."""
        line = stream.line()
        length = 0
        while field := stream.line():
            name, _, value = field.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = stream.exactly(length)
        self.bodies.append(body)
        return line, body

    @contextlib.contextmanager
    def at_work(self):
        with self.lock:
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        yield
        with self.lock:
            self.busy -= 1

    def close(self):
        self.listener.close()


@pytest.fixture
def backend():
    backends = []

    def make(serve):
        backends.append(Backend(serve))
        return backends[-1]

    yield make
    for one in backends:
        one.close()


def answer(body, *fields):
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def serve_always(backend, stream, sock):
    while not stream.at_end():
        line, body = backend.request(stream)
        sock.sendall(answer(line + b" " + body, "X-Backend: yes"))


def proxy(start, backend, settings="", **kwargs):
    return start(**config(f"Port {backend.port}\n{settings}", **kwargs))


def test_proxy_passes_request_and_answer_on(start, backend):
    behind = backend(serve_always)
    server = proxy(start, behind, server="Workers 1")
    for number in range(3):
        response = server.get(f"/proxy/{number}?x")
        assert response.body == b"GET /proxy/%d?x HTTP/1.1 " % number
        assert response.header("X-Backend") == "yes"
        assert response.header("Content-Length")
    assert server.head("/proxy").status == 200
    assert server.request("/proxy", "POST", body=b"small").body == b"POST /proxy HTTP/1.1 small"
    parts = http.chunked(b"in ", b"parts")
    chunked = server.request("/proxy", "POST", headers={"Transfer-Encoding": "chunked"}, body=parts)
    assert chunked.body == b"POST /proxy HTTP/1.1 in parts"
    assert behind.connections <= 2, "connections are kept; the answer to HEAD had a body here"


def test_proxy_passes_large_bodies_on(start, backend):
    server = proxy(start, backend(serve_always), server="MaxBodySize 16M")
    body = server.request("/proxy", "POST", body=BIG).body
    assert body == b"POST /proxy HTTP/1.1 " + BIG


def test_proxy_sends_the_body_again(start, backend):
    """The connection was idle, and the backend closes it when the next request has come."""
    def serve_once_and_drop(backend, stream, sock):
        line, body = backend.request(stream)
        sock.sendall(answer(body))
        backend.request(stream)

    behind = backend(serve_once_and_drop)
    server = proxy(start, behind, server="Workers 1")
    for number in range(4):
        body = bytes([number]) * 100000
        assert server.request("/proxy", "POST", body=body).body == body
    assert behind.connections == 4
    assert len(behind.bodies) == 7, "all but the first were sent twice"


def test_proxy_does_not_try_for_ever(start, backend):
    def drop(backend, stream, sock):
        backend.request(stream)

    behind = backend(drop)
    server = proxy(start, behind)
    assert server.get("/proxy").status == 502
    assert behind.connections == 1


@pytest.mark.parametrize("reply", [
    b"garbage\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20000,
    b"HTTP/1.1 200 OK\r\nX: cut",
])
def test_proxy_answers_502_for_garbage(start, backend, reply):
    def talk(backend, stream, sock):
        backend.request(stream)
        sock.sendall(reply)

    server = proxy(start, backend(talk))
    assert server.get("/proxy").status == 502
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("reply", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\nz\r\n",
])
def test_proxy_breaks_off_what_its_backend_breaks_off(start, backend, reply):
    def talk(backend, stream, sock):
        backend.request(stream)
        sock.sendall(reply)

    server = proxy(start, backend(talk))
    assert http.is_cut_off(server.raw_until_cut(http.request("/proxy", headers={"Connection": "close"})))


def test_proxy_understands_chunks_and_interim_answers(start, backend):
    def talk(backend, stream, sock):
        while not stream.at_end():
            backend.request(stream)
            reply = (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + http.chunked(b"piece by ", b"piece"))
            for at in range(len(reply)):
                sock.sendall(reply[at:at + 1])

    behind = backend(talk)
    server = proxy(start, behind, server="Workers 1")
    for _ in range(2):
        assert server.get("/proxy").text == "piece by piece"
    assert behind.connections == 1


def test_proxy_gives_a_slow_backend_up(start, backend):
    def wait(backend, stream, sock):
        backend.request(stream)
        stream.at_end()

    behind = backend(wait)
    server = proxy(start, behind, "BackendTimeout 500ms")
    began = time.monotonic()
    assert server.get("/proxy").status == 504
    assert time.monotonic() - began < PATIENCE
    assert eventually(lambda: behind.open == 0)


def test_proxy_breaks_off_when_the_body_stalls(start, backend):
    def stall(backend, stream, sock):
        backend.request(stream)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")
        stream.at_end()

    server = proxy(start, backend(stall), "BackendTimeout 500ms")
    assert http.is_cut_off(server.raw_until_cut(http.request("/proxy", headers={"Connection": "close"})))


def test_proxy_has_a_bound_over_all_workers(start, backend):
    def serve_slowly(backend, stream, sock):
        while not stream.at_end():
            backend.request(stream)
            with backend.at_work():
                time.sleep(0.05)
            sock.sendall(answer(b"slow"))

    behind = backend(serve_slowly)
    server = proxy(start, behind, "Connections 3", server="Workers 2")
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        texts = list(pool.map(lambda _: server.get("/proxy").text, range(24)))
    assert texts == ["slow"] * 24
    assert 2 <= behind.most_busy <= 3


def test_a_slow_client_slows_the_backend(start, backend):
    sent = []

    def pour(backend, stream, sock):
        backend.request(stream)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BIG))
        for at in range(0, len(BIG), 65536):
            sock.sendall(BIG[at:at + 65536])
            sent.append(at)

    server = proxy(start, backend(pour))
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/proxy"))
        time.sleep(0.5)
        assert len(sent) * 65536 < len(BIG), "nobody reads, and yet all was taken"
        assert connection.response().body == BIG


@pytest.mark.parametrize("leave", [Connection.reset, Connection.finish_sending])
def test_a_client_that_leaves_ends_the_exchange(start, backend, leave):
    arrived = threading.Event()

    def wait(backend, stream, sock):
        backend.request(stream)
        arrived.set()
        stream.at_end()

    behind = backend(wait)
    server = proxy(start, behind)
    connection = server.connect()
    connection.send(http.request("/proxy"))
    assert arrived.wait(30)
    leave(connection)
    assert eventually(lambda: behind.open == 0)
    connection.close()


def test_a_client_that_leaves_the_queue(start, backend):
    """The one connection is taken; who waits for it and leaves is not served."""
    go_on = threading.Event()

    def serve_when_told(backend, stream, sock):
        while not stream.at_end():
            backend.request(stream)
            go_on.wait(10)
            sock.sendall(answer(b"served"))

    behind = backend(serve_when_told)
    server = proxy(start, behind, "Connections 1")
    with server.connect() as first, server.connect() as second, server.connect() as third:
        first.send(http.request("/proxy/first"))
        assert eventually(lambda: behind.bodies)
        second.send(http.request("/proxy/second"))
        time.sleep(0.2)
        third.send(http.request("/proxy/third"))
        time.sleep(0.2)
        second.reset()
        time.sleep(0.2)
        go_on.set()
        assert first.response().text == third.response().text == "served"
        assert len(behind.bodies) == 2


def test_a_reload_while_a_backend_is_waited_for(start, backend):
    go_on = threading.Event()

    def serve_when_told(backend, stream, sock):
        backend.request(stream)
        go_on.wait(10)
        sock.sendall(answer(b"served"))

    behind = backend(serve_when_told)
    server = proxy(start, behind)
    with server.connect() as connection:
        connection.send(http.request("/proxy"))
        assert eventually(lambda: behind.bodies)
        server.reload(**config(f"Port {behind.port}"))
        go_on.set()
        assert connection.response().text == "served"


# ---- CGI ----

def test_cgi_gives_the_body_in_and_the_output_out(server):
    with server.connect() as connection:
        for body in (b"", b"small", BIG[:MIB]):
            assert connection.request("/cgi?cat", "POST", body=body).body == body
        assert connection.request("/cgi?echo+no+input").text == "no input\n"
        assert connection.request("/cgi?true", "POST", body=BIG[:MIB]).body == b""
        assert connection.request("/cgi?sleep+1.3;echo+slow").text == "slow\n", "longer than HandlerTimeout"


def test_cgi_output_comes_as_it_is_written(server, tmp_path):
    with server.connect() as connection:
        connection.send(http.request(f"/cgi?echo+one;until+test+-e+{tmp_path}/go;do+sleep+0.05;done;echo+two"))
        assert http.read_head(connection.stream).status == 200
        assert connection.stream.exactly(9) == b"4\r\none\n\r\n"
        (tmp_path / "go").touch()
        assert connection.stream.exactly(9) == b"4\r\ntwo\n\r\n"


def children(server):
    return pathlib.Path(f"/proc/{server.pid}/task").glob("*/children")


def has_children(server):
    return any(path.read_text().strip() for path in children(server))


@pytest.mark.parametrize("leave", [Connection.reset, Connection.finish_sending])
def test_cgi_child_ends_when_the_client_leaves(start, leave):
    server = start(**config())
    connection = server.connect()
    connection.send(http.request("/cgi?sleep+100"))
    assert eventually(lambda: has_children(server))
    leave(connection)
    assert eventually(lambda: not has_children(server))
    connection.close()


def test_cgi_child_waits_for_a_slow_client(server):
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/cgi?head+-c+3000000+/dev/zero"))
        time.sleep(0.3)
        assert connection.response().body == bytes(3000000)


# ---- parked requests ----

def test_resumed_by_a_thread_of_the_plugin(server):
    def ask(_):
        with server.connect() as connection:
            return [connection.request("/bell").text for _ in range(10)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(texts == ["resumed"] * 10 for texts in pool.map(ask, range(8)))


def test_woken_by_a_descriptor(server):
    def ask(_):
        with server.connect() as connection:
            return [connection.request("/wake").text for _ in range(5)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(texts == ["woken"] * 5 for texts in pool.map(ask, range(4)))


def test_who_left_is_neither_resumed_nor_woken(server):
    for target in ("/bell", "/wake") * 20:
        connection = server.connect()
        connection.send(http.request(target))
        connection.reset()
    assert server.get("/bell").text == "resumed"
    assert server.get("/wake").text == "woken"


def test_thread_ends_with_its_configuration(start):
    def threads():
        return len(list(pathlib.Path(f"/proc/{server.pid}/task").iterdir()))

    server = start(**config())
    assert server.get("/bell").text == "resumed"
    before = threads()
    for _ in range(3):
        server.reload(**config())
        assert server.get("/bell").text == "resumed"
    assert eventually(lambda: threads() == before)


def say(server, text):
    return server.get(f"/say?{text}").text


def test_chat_reaches_who_is_parked_on_any_worker(start):
    server = start(**config(server="Workers 3\nHandlerTimeout 1"))
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(server.connect()) for _ in range(12)]
        for word in ("hello", "again"):
            for listener in listeners:
                listener.send(http.request("/listen"))
            time.sleep(1.3)  # they may wait longer than HandlerTimeout
            assert say(server, word) == "told 12, gone 0"
            assert [listener.response().text for listener in listeners] == [word] * 12
    assert say(server, "nobody") == "told 0, gone 0"


def test_chat_finds_who_is_still_there(start):
    server = start(**config())
    with server.connect() as stays, server.connect() as leaves:
        stays.send(http.request("/listen"))
        leaves.send(http.request("/listen"))
        time.sleep(0.3)
        leaves.reset()
        time.sleep(0.3)
        assert say(server, "hello") == "told 1, gone 1"
        assert stays.response().text == "hello"


def test_chat_has_seats_for_those_who_are_there(start):
    server = start(**config(server="Workers 1"))
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(server.connect()) for _ in range(65)]
        for listener in listeners[:64]:
            listener.send(http.request("/listen"))
        time.sleep(0.5)
        assert server.get("/listen").status == 503
        listeners[0].reset()
        time.sleep(0.3)
        listeners[64].send(http.request("/listen"))
        time.sleep(0.3)
        assert say(server, "hello") == "told 64, gone 0"
        assert [listener.response().text for listener in listeners[1:]] == ["hello"] * 64


def test_chat_while_the_server_stops_or_reloads(start):
    server = start(**config(server="Workers 2\nGracefulTimeout 1"))
    with server.connect() as old, server.connect() as new:
        old.send(http.request("/listen"))
        time.sleep(0.3)
        server.reload(**config(server="Workers 2\nGracefulTimeout 1"))
        new.send(http.request("/listen"))
        time.sleep(0.3)
        assert say(server, "hello") == "told 1, gone 0", "the old room is another one"
        assert new.response().text == "hello"
        server.signal(signal.SIGTERM)
        assert server.expect_exit() == 0


# ---- services ----

def test_services_own_prefixes_and_sites(start, tmp_path):
    app = section("HOST", f"ServerName app.example\nDocumentRoot {tmp_path}") + section("SERVICE", "")
    services = section("SERVICE", "Name mail") + section("SERVICE", "Name wiki")
    server = start(**config(site=services, sites={"app": app}))
    for path, service in (("/mail", "mail"), ("/mail/in/box", "mail"), ("/wiki/", "wiki")):
        assert server.get(path).text.startswith(f"service={service} site= path={path} worker=")
    assert server.get("/mailbox").status == 404
    assert server.get("/a.txt").text == "text"
    for path in ("/", "/mail", "/a.txt"):
        assert server.get(path, {"Host": "app.example"}).text.startswith(f"service=/ site=app.example path={path} ")


# ---- a transport that knows the names of the sites ----

def greet(server, name):
    """A connection to the second address, and the certificate that was presented on it."""
    host, _, port = server.addresses[1].rpartition(":")
    connection = server.connect((host, int(port)))
    connection.send(name + "\n")
    certificate = b""
    while not certificate.endswith(b"\n"):
        certificate += connection.stream.exactly(1)
    return connection, certificate.decode().strip()


def test_certificates_by_name(start, tmp_path):
    def settings(*names):
        site = section("HOST", f"ServerName {' '.join(names)}\nDocumentRoot {tmp_path}")
        return config(server="Listen 127.0.0.1:0\nListen 127.0.0.1:0 probe", sites={"app": site})

    server = start(**settings("app.example", "www.app.example"))
    old, certificate = greet(server, "app.example")
    assert certificate == "app.example"
    for name, expected in (("www.app.example", "app.example"), ("other.example", "default")):
        connection, certificate = greet(server, name)
        assert certificate == expected
        assert connection.request("/a.txt").text == "text"
        connection.close()
    server.reload(**settings("new.example"))
    for name, expected in (("new.example", "new.example"), ("app.example", "default")):
        connection, certificate = greet(server, name)
        assert certificate == expected
        connection.close()
    assert old.request("/a.txt").text == "text", "its link outlives its configuration"
    old.close()


# ---- answers that stream or have several parts ----

def test_body_that_is_echoed_as_it_comes(server):
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "10"}))
        assert http.read_head(connection.stream).status == 200
        for _ in range(5):
            connection.send(b"ab")
            assert connection.stream.exactly(7) == b"2\r\nab\r\n"
        assert connection.stream.exactly(5) == b"0\r\n\r\n"
        assert connection.request("/a.txt").text == "text"


def test_who_does_not_read_cannot_send_on_for_ever(start):
    server = start(**config(server="MaxBodySize 64M"))
    body = BIG * 4
    with server.connect(receive_buffer=4096) as connection:
        sender = threading.Thread(target=connection.send, args=(http.request("/echo", "POST", body=body),))
        sender.start()
        sender.join(1)
        assert sender.is_alive(), "nobody reads, and yet all was taken"
        assert connection.response("POST").body == body
        sender.join(10)

def test_interim_answer_and_trailer(server):
    with server.connect() as connection:
        connection.send(http.request("/parts") + http.request("/a.txt"))
        early = http.read_head(connection.stream)
        assert (early.status, early.header("Link")) == (103, "</style.css>; rel=preload")
        final = connection.response()
        assert (final.status, final.text) == (200, "one, two")
        assert dict(final.trailers)["Parts"] == "2"
        assert connection.response().text == "text"


def test_may_wait_longer_than_the_handler_timeout(server):
    assert server.get("/patient").text == "at last"


# ---- the end, and reloads ----

def wait_for_ever(backend, stream, sock):
    backend.request(stream)
    stream.at_end()


WAITING = ["/proxy/taken", "/proxy/queued", "/cgi?sleep+100", "/listen", "/patient", "/stale", "/never"]


def test_ends_with_all_of_them_under_way(start, backend):
    behind = backend(wait_for_ever)
    server = proxy(start, behind, "Connections 1", server="GracefulTimeout 0")
    with contextlib.ExitStack() as stack:
        for target in WAITING * 2:
            stack.enter_context(server.connect()).send(http.request(target))
        with server.connect(receive_buffer=4096) as half_sent:
            half_sent.send(http.request("/echo", "POST", headers={"Content-Length": "10"}) + b"half")
            assert eventually(lambda: behind.open and has_children(server))
            time.sleep(0.1)
            server.signal(signal.SIGTERM)
            assert server.expect_exit() == 0
    assert eventually(lambda: behind.open == 0)


def test_reloads_while_all_of_them_are_busy(start, backend):
    """Each configuration goes when its last request has ended, and takes its thread, room and backend with it."""
    behind = backend(serve_always)
    server = proxy(start, behind)
    ended = threading.Event()

    def ask(target):
        statuses = set()
        while not ended.is_set():
            with server.connect() as connection:
                for _ in range(5):
                    statuses.add(connection.request(target).status)
        return statuses

    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(ask, target) for target in ("/proxy", "/bell", "/wake", "/say?x", "/cgi?true")]
        for _ in range(10):
            time.sleep(0.1)
            server.reload(**config(f"Port {behind.port}"))
        ended.set()
        assert [one.result() for one in asked] == [{200}] * 5


# ---- misbehaviour ----

def test_handler_that_never_comes_back(server):
    began = time.monotonic()
    assert server.get("/never").status == 500
    assert 0.9 < time.monotonic() - began < PATIENCE
    server.wait_for_log("HandlerTimeout")


def test_answer_to_who_is_gone(start):
    server = start(**config())
    assert server.get("/stale").text == "still here"
    connection = server.connect()
    connection.send(http.request("/stale"))
    time.sleep(0.1)
    connection.reset()
    server.wait_for_log("nobody is there")
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("target", ["/dry", "/filtered"])
def test_body_that_fails_midway_is_cut_off(server, target):
    assert http.is_cut_off(server.raw_until_cut(http.request(target, headers={"Connection": "close"})))
    assert server.get("/a.txt").text == "text"


def test_more_work_than_there_is_room_for(server):
    response = server.get("/busy")
    assert (response.status, response.header("Retry-After")) == (503, "1")
    assert eventually(lambda: server.get("/wake").status == 200), "there is room again"


def test_address_that_is_turned_away(start):
    server = start(**config("TurnAway 127.0.0.3 127.0.0.2"))
    assert server.get("/a.txt").text == "text"
    with server.connect(source="127.0.0.2") as connection:
        with contextlib.suppress(OSError):
            connection.send(http.request("/a.txt"))
        assert connection.rest_until_cut() == b""
    assert server.get("/a.txt").text == "text"
