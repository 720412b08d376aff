# SPDX-License-Identifier: Apache-2.0
"""Connections that a plugin takes over, and ones that it dials: echo and tunnels through the plugin `tunnel`."""

import signal
import socket
import threading
import time

import pytest

from harness import http
from harness.client import PATIENCE, eventually, free_port
from harness.content import noise
from harness.plugins import load
from harness.variants import SCHEDULERS

UPGRADE = {"Connection": "Upgrade", "Upgrade": "tunnel"}
MIB = 1 << 20
BIG = noise(8 * MIB)
FILES = {"a.txt": "text", "big.bin": BIG}


class Backend:
    """A listener whose every connection runs serve(sock) on a thread of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ended = []
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
        try:
            self.serve(sock)
            self.ended.append("end")
        except OSError as error:
            self.ended.append(type(error).__name__)
        finally:
            sock.close()

    def close(self):
        self.listener.close()


def echo(sock):
    while data := sock.recv(65536):
        sock.sendall(data)


@pytest.fixture
def backend():
    backends = []

    def make(serve):
        backends.append(Backend(serve))
        return backends[-1]

    yield make
    for one in backends:
        one.close()


def switched(connection):
    head = http.read_head(connection.stream)
    assert head.status == 101
    assert head.all("Connection") == ["Upgrade"]
    assert not head.all("Content-Length") and not head.all("Transfer-Encoding")


def upgrade(server, target="/echo", behind=b"", **kwargs):
    connection = server.connect(**kwargs)
    connection.send(http.request(target, headers=UPGRADE) + behind)
    switched(connection)
    return connection


def take(connection, size):
    """Exactly so many bytes."""
    return connection.stream.exactly(size)


@pytest.fixture(scope="module", params=SCHEDULERS)
def server(start_shared, request):
    return start_shared(server=f"Scheduler {request.param}\nTimeout 1\nKeepAliveTimeout 1\nWriteTimeout 1",
                        files=FILES, handlers="Match ^/echo tunnel\nMatch ^/closed tunnel 2",
                        extra={"plugins.load": load("tunnel")})


def test_bytes_behind_the_request_and_later(server):
    with upgrade(server, behind=b"early") as connection:
        assert take(connection, 5) == b"early"
        connection.send(b"late")
        assert take(connection, 4) == b"late"


@pytest.mark.connection("pipelining")
def test_behind_other_requests(server):
    with server.connect() as connection:
        connection.send(http.request("/a.txt") + http.request("/echo", headers=UPGRADE) + b"hello")
        assert connection.response().text == "text"
        switched(connection)
        assert take(connection, 5) == b"hello"


def test_no_timeout_of_http_ends_it(server):
    with upgrade(server) as connection:
        time.sleep(1.5)
        connection.send(b"still here")
        assert take(connection, 10) == b"still here"


def test_what_looks_like_a_request_is_none(server):
    with upgrade(server) as connection:
        data = http.request("/a.txt")
        connection.send(data)
        assert take(connection, len(data)) == data


def test_half_close_is_passed_on(server):
    with upgrade(server) as connection:
        connection.send(b"last words")
        connection.finish_sending()
        assert connection.rest() == b"last words"


def test_backend_that_is_not_there(server):
    response = server.get("/closed", UPGRADE)
    assert response.status == 502


def reset_some(server, count=20):
    for number in range(count):
        connection = upgrade(server)
        if number % 2:
            connection.send(b"x" * 100000)
        connection.reset()


def test_resets_leave_nothing_behind(server):
    idle = server.open_descriptors()
    reset_some(server)
    assert eventually(lambda: server.open_descriptors() <= idle + 2)  # each worker has opened the document root
    before = server.open_descriptors()
    reset_some(server)
    assert eventually(lambda: server.open_descriptors() <= before)


@pytest.mark.connection("two threads use one connection")
def test_through_to_a_backend(start, backend):
    port = backend(echo).port
    server = start(handlers=f"Match ^/to tunnel {port}", extra={"plugins.load": load("tunnel")})
    with upgrade(server, "/to", behind=b"early") as connection:
        assert take(connection, 5) == b"early"
        received = []
        reader = threading.Thread(target=lambda: received.append(take(connection, len(BIG))))
        reader.start()
        connection.send(BIG)
        reader.join(30)
        assert received == [BIG]


def test_a_slow_client_slows_the_backend(start, backend):
    sent = []

    def pour(sock):
        for at in range(0, len(BIG), 65536):
            sock.sendall(BIG[at:at + 65536])
            sent.append(at)

    port = backend(pour).port
    server = start(handlers=f"Match ^/to tunnel {port}", extra={"plugins.load": load("tunnel")})
    with upgrade(server, "/to", receive_buffer=4096) as connection:
        time.sleep(0.5)
        assert len(sent) * 65536 < len(BIG), "nobody reads, and yet all was taken"
        assert connection.rest() == BIG


def test_half_close_goes_through(start, backend):
    def answer_at_the_end(sock):
        asked = b""
        while data := sock.recv(65536):
            asked += data
        sock.sendall(b"%d bytes" % len(asked))

    port = backend(answer_at_the_end).port
    server = start(handlers=f"Match ^/to tunnel {port}", extra={"plugins.load": load("tunnel")})
    with upgrade(server, "/to") as connection:
        connection.send(b"x" * MIB)
        connection.finish_sending()
        assert connection.rest() == b"1048576 bytes"


def test_a_client_that_resets_ends_its_backend(start, backend):
    other = backend(echo)
    server = start(handlers=f"Match ^/to tunnel {other.port}", extra={"plugins.load": load("tunnel")})
    connection = upgrade(server, "/to", behind=b"hello")
    assert take(connection, 5) == b"hello"
    connection.reset()
    assert eventually(lambda: other.ended)


def test_over_another_transport(start):
    """To itself: its other address carries the bytes in another way."""
    port = free_port()
    server = start(server=f"Listen 127.0.0.1:0\nListen 127.0.0.1:{port} xor", files=FILES,
                   handlers=f"Match ^/to tunnel {port} xor", extra={"plugins.load": load("tunnel", "xor")})
    plain = next(int(address.rpartition(":")[2]) for address in server.addresses if f":{port}" not in address)
    connection = server.connect(("127.0.0.1", plain))
    connection.send(http.request("/to", headers=UPGRADE))
    switched(connection)
    for _ in range(3):
        assert connection.request("/a.txt").text == "text"
    assert connection.request("/big.bin").body == BIG


@pytest.mark.connection("the client of HTTP/2 reads nothing after GOAWAY")
def test_a_stop_ends_tunnels_that_listen(start):
    server = start(server="GracefulTimeout 600", handlers="Match ^/echo tunnel", extra={"plugins.load": load("tunnel")})
    connection = upgrade(server)
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    assert connection.is_closed()
    assert server.expect_exit() == 0
    assert time.monotonic() - began < PATIENCE


@pytest.mark.connection("the client of HTTP/2 reads nothing after GOAWAY")
def test_the_end_of_the_grace_cuts_the_others(start):
    server = start(server="GracefulTimeout 5", handlers="Match ^/stays tunnel 1", extra={"plugins.load": load("tunnel")})
    connection = upgrade(server, "/stays")
    server.signal(signal.SIGTERM)
    time.sleep(0.3)
    connection.send(b"within the grace")
    assert take(connection, 16) == b"within the grace"
    assert connection.is_closed()
    assert server.expect_exit() == 0


def test_a_reload_leaves_tunnels_alone(start):
    server = start(files=FILES, handlers="Match ^/echo tunnel", extra={"plugins.load": load("tunnel")})
    with upgrade(server) as connection:
        for _ in range(2):
            server.signal(signal.SIGHUP)
            server.wait_for_log("reloaded")
            connection.send(b"hello")
            assert take(connection, 5) == b"hello"
