# SPDX-License-Identifier: Apache-2.0
"""
Records that wait inside a TLS library, and newer bytes in the socket behind them. The event of those comes while the
server reads nothing, since it waits for somebody else; nothing may wait for a further one.
"""

import contextlib
import itertools
import socket
import threading
import time

import pytest

from harness import certificates, http, secured
from harness.backend import Backend, Conn, configured
from harness.client import PATIENCE
from harness.config import section
from harness.content import noise
from harness.secured import TLS12, TLS13
from harness.tls_connection import TlsConnection

plugin = secured.each_plugin()
UPGRADE = {"Connection": "Upgrade", "Upgrade": "test"}
RECORD, BURST = 200, 4  # what a library reads of the socket at once holds all records of a segment
AT_ONCE = BURST  # floods, each of them shifted: when a peer takes no more, most have another number of records in hand
FLOOD = noise(400 * BURST * RECORD)  # more than a Unix socket takes whose peer does not read


@contextlib.contextmanager
def one_segment(raw):
    """What is sent inside leaves at once, each piece as a record of its own."""
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    yield
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)


def flood(send, raw, shift):
    """Many small segments of several records, so that the reader often has some in hand and none in the socket."""
    records = [FLOOD[at:at + RECORD] for at in range(0, len(FLOOD), RECORD)]
    while records:
        with one_segment(raw):
            for record in records[:shift or BURST]:
                send(record)
        del records[:shift or BURST]
        shift = 0
        time.sleep(0.001)


def unix_listener(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(16)
    return listener


def in_parallel(work):
    faults = []

    def run():
        try:
            work()
        except BaseException as fault:  # noqa: BLE001 - told by the test, not by a thread
            faults.append(fault)

    threads = [threading.Thread(target=run) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


# ---- clients


def before_a_backend(plugin, backend, entry="", server=""):
    config = configured(entry, backend, plugins=(plugin,))
    lines = certificates.issue().lines()
    config["extra"][f"plugins/{plugin}/{plugin}.conf"] = section("TLS", lines)
    return {"server": f"Listen 127.0.0.1:0 {plugin}\n{server}", **config}


@pytest.mark.parametrize("version", [TLS12, TLS13])
@pytest.mark.parametrize("workers", [1, 2])
def test_half_a_request_behind_one_that_takes_long(start, plugin, version, workers):
    """Its other half comes meanwhile: 408 after Timeout, although all of it is there."""
    asked, answer = threading.Event(), threading.Event()

    def each(conn, request):
        if request.target == "/slow":
            asked.set()
            assert answer.wait(PATIENCE)
        conn.answer(request.target.encode())

    with Backend(each=each) as backend:
        server = start(**before_a_backend(plugin, backend, server=f"Timeout 2\nWorkers {workers}"))
        context = certificates.trusting(version=version)
        next_request = http.request("/next")
        with TlsConnection(("127.0.0.1", server.port), context) as client:
            with one_segment(client.raw):
                client.send(http.request("/slow"))
                client.send(next_request[:20])
            assert asked.wait(PATIENCE)
            client.send(next_request[20:])
            time.sleep(0.2)  # the server hears of it
            answer.set()
            assert [response.body for response in client.responses("GET", "GET")] == [b"/slow", b"/next"]


@pytest.mark.parametrize("version", [TLS12, TLS13])
def test_a_tunnel_from_a_client_to_a_slow_backend(start, plugin, version, tmp_path):
    all_sent, shifts = threading.Barrier(2 * AT_ONCE, timeout=PATIENCE), itertools.count()

    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
        all_sent.wait()
        conn.send(b"+" if conn.exactly(len(FLOOD)) == FLOOD else b"-")
        conn.ended()

    with Backend(serve=serve, listener=unix_listener(tmp_path / "backend")) as backend:
        server = start(**before_a_backend(plugin, backend))

        def talk():
            with TlsConnection(("127.0.0.1", server.port), certificates.trusting(version=version)) as client:
                client.send(http.request("/", headers=UPGRADE))
                assert http.read_head(client.stream).status == 101
                flood(client.send, client.raw, next(shifts))
                all_sent.wait()
                assert client.stream.exactly(1) == b"+"

        in_parallel(talk)


# ---- backends


class SecureBackend(Backend):
    """serve(conn, raw): raw is the socket beneath."""

    def __init__(self, version, **kwargs):
        pair = certificates.issue()
        self.context = certificates.ssl.SSLContext(certificates.ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pair.chain, pair.key)
        self.context.minimum_version = self.context.maximum_version = version
        super().__init__(**kwargs)

    def _run(self, sock):
        sock.settimeout(PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with self.context.wrap_socket(sock, server_side=True) as raw:
                self.serve(Conn(raw), raw)
        except (OSError, EOFError):
            pass


def before_a_secure_backend(plugin, backend, entry=""):
    return configured(f"Transport {plugin}\nReadTimeout 5\n{entry}", f"localhost:{backend.port}", plugins=(plugin,), extra={
        f"plugins/{plugin}/{plugin}.conf": section("TLS_BACKEND", f"CAFile {certificates.authority().certificate}")})


@pytest.mark.parametrize("version", [TLS12, TLS13])
def test_a_tunnel_from_a_backend_to_a_slow_client(start, plugin, version, tmp_path):
    all_sent, shifts = threading.Barrier(2 * AT_ONCE, timeout=PATIENCE), itertools.count()

    def serve(conn, raw):
        conn.request()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
        flood(conn.send, raw, next(shifts))
        all_sent.wait()
        conn.ended()

    with SecureBackend(version, serve=serve) as backend:
        path = str(tmp_path / "server")
        server = start(server=f"Listen unix:{path}", **before_a_secure_backend(plugin, backend))

        def talk():
            with server.connect(path) as client:
                client.send(http.request("/", headers=UPGRADE))
                assert http.read_head(client.stream).status == 101
                all_sent.wait()
                assert client.stream.exactly(len(FLOOD)) == FLOOD

        in_parallel(talk)

