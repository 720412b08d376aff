# SPDX-License-Identifier: Apache-2.0
"""The package memcached: where servers are, how many connections they have, and servers that fail under load."""

import contextlib
import socket
import threading

import pytest

from harness import certificates, memcached_server, secured
from harness.client import eventually
from harness.memcached_service import PATIENT, WITHIN, all_were_answered, build, config, counts, result

FOUR = "Workers 4\nScheduler Fair\n"
RESULTS = range(-5, 3)
GET = b"GET /values/get HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def serve(start, tmp_path):
    """Starts the service with the servers of a text."""

    def run(servers, options=PATIENT, plugin=None, **rest):
        build(tmp_path / "services", servers, options)
        text = config(tmp_path / "services", **rest)
        return start(**secured.reaching(text, plugin) if plugin else text)

    return run


class Load:
    """Clients that ask all the time; each answer is kept."""

    def __init__(self, server, clients=8):
        self._server, self._ends = server, threading.Event()
        self.results, self.faults = [], []
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(clients)]

    def _ask(self, number):
        turn = 0
        while not self._ends.is_set():
            try:
                turn += 1
                self.results.append(result(self._server, f"set?key={number}.{turn}", "POST", b"x" * (turn * 997 % 20000)))
                self.results.append(result(self._server, f"get?key={number}.{turn - turn % 3}"))
            except Exception as fault:  # pylint: disable=broad-except
                self.faults.append(fault)
                return

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join(WITHIN)

    def goes_on(self, wanted):
        """Until so many more answers of this kind have come."""
        begin = len(self.results)
        return eventually(lambda: self.faults or sum(map(wanted, self.results[begin:])) > 20, within=WITHIN)


# ---- where servers are


@pytest.mark.parametrize("form", ["localhost:{}", "memcached://localhost:{}", "memcached://127.0.0.1:{}", "memcached://LOCALHOST:{}?connections=1"])
def test_names_and_urls(serve, memcached, form):
    server = serve(form.format(memcached.port))
    assert result(server, "set", "POST", b"one") == 0
    assert server.get("/values/get").text == "0 3 one"
    memcached.kill()
    assert eventually(lambda: result(server) == -3, within=WITHIN)
    memcached.start()
    assert eventually(lambda: result(server) == 1, within=WITHIN)
    assert all_were_answered(server)


def test_a_name_without_an_address(serve):
    server = serve("nobody.invalid:11211", options=".timeout_ms=2000")
    assert result(server) in (-2, -3)
    assert eventually(lambda: server.get("/values/get").text == "-3", within=WITHIN)
    assert all_were_answered(server)


@pytest.mark.parametrize("plugin", ["tls", "mbedtls"])
def test_tls(serve, tmp_path, plugin):
    if not secured.executable.plugin(plugin):
        pytest.skip("this build has no such plugin")
    pair = certificates.issue()
    options = ("-Z", "-o", f"ssl_chain_cert={pair.chain},ssl_key={pair.key}")
    with memcached_server.Server(tmp_path, options=options) as memcached:
        server = serve(f"memcacheds://localhost:{memcached.port}", plugin=plugin)
        large = b"x" * 300_000
        assert result(server, "set", "POST", large) == 0
        assert server.get("/values/get").text == f"0 {len(large)} {large.decode()}"
        assert server.get("/values/many?n=300").text == "600"
        memcached.kill()
        assert eventually(lambda: result(server) == -3, within=WITHIN)
        memcached.start()
        assert eventually(lambda: result(server) == 1, within=WITHIN)
        assert all_were_answered(server)


def test_tls_with_the_certificate_of_another(serve, tmp_path):
    if not secured.executable.plugin("tls"):
        pytest.skip("this build has no such plugin")
    pair = certificates.issue("other.example")
    options = ("-Z", "-o", f"ssl_chain_cert={pair.chain},ssl_key={pair.key}")
    with memcached_server.Server(tmp_path, options=options) as memcached:
        server = serve(f"memcacheds://localhost:{memcached.port}", plugin="tls")
        assert result(server) == -3
        assert "is left out: localhost" in server.log() and "the TLS handshake failed" in server.log()


def test_tls_without_a_plugin(serve):
    server = serve("memcacheds://localhost")
    assert server.get("/values/get").status == 404
    assert "TLS needs the plugin tls or mbedtls" in server.log()


# ---- how many connections


def is_open(sock):
    """Has the other end closed it? It does so between commands."""
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Counting:
    """A server without keys that counts connections."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._lock, self._sockets, self.most, self.commands = threading.Lock(), [], 0, 0
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def now(self):
        return sum(map(is_open, self._sockets))

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self._sockets.append(sock)
                self.most = max(self.most, self.now)
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with contextlib.suppress(OSError), sock.makefile("rwb") as file:
            while line := file.readline():
                with self._lock:
                    self.commands += 1
                file.write(b"VERSION 1\r\n" if line.startswith(b"version") else b"END\r\n")
                file.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        for sock in (self._listener, *self._sockets):
            sock.close()


@pytest.mark.parametrize("most", [1, 3])
def test_connections_of_all_workers_are_bounded(serve, most):
    with Counting() as counting:
        server = serve(f"memcached://127.0.0.1:{counting.port}?connections={most}", server=FOUR)
        seen = []
        clients = [threading.Thread(target=lambda: seen.extend(result(server) for _ in range(50))) for _ in range(16)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(WITHIN)
        assert seen == [1] * 800  # no worker was forgotten
        assert counting.commands == 800 and counting.most <= most
        assert all_were_answered(server)
        server.stop()
        assert eventually(lambda: counting.now == 0, within=WITHIN)


def test_connections_rest_and_are_used_again(serve):
    with Counting() as counting:
        server = serve(f"127.0.0.1:{counting.port}")
        for _ in range(3):
            assert result(server) == 1
            accepted = counts(server)[0]
            assert eventually(lambda before=accepted: counts(server)[0] == before, within=WITHIN)
        assert counting.most == 1


@pytest.mark.parametrize("options", [(), ("-o", "no_maxconns_fast")], ids=["closes", "waits"])
def test_a_server_that_is_full(serve, tmp_path, options):
    with memcached_server.Server(tmp_path, options=("-c", "40", *options)) as memcached:
        server = serve(memcached.address, options=".timeout_ms=1000")
        with contextlib.ExitStack() as others:
            for _ in range(48):
                other = others.enter_context(socket.socket())
                other.setblocking(False)  # a server that waits takes no more into its queue
                other.connect_ex(("127.0.0.1", memcached.port))
            assert eventually(lambda: result(server) < 0, within=WITHIN)
            assert all(result(server) in RESULTS for _ in range(5))
        assert eventually(lambda: result(server) == 1, within=WITHIN)
        assert all_were_answered(server)


def test_a_full_server_goes_on_with_the_connections_that_it_has(serve, tmp_path):
    with memcached_server.Server(tmp_path, options=("-c", "40")) as memcached:
        server = serve(memcached.address)
        with server.connect() as first, contextlib.ExitStack() as others:
            first.send(GET)
            assert first.response().text.split()[0] == "1"
            memcached.pause()
            first.send(GET)  # the connection has a command, and does not rest
            assert eventually(lambda: counts(server)[0] == 2, within=WITHIN)
            for _ in range(48):
                other = others.enter_context(socket.socket())
                other.setblocking(False)
                other.connect_ex(("127.0.0.1", memcached.port))
            clients = [others.enter_context(server.connect()) for _ in range(8)]
            for client in clients:
                client.send(GET)
            assert eventually(lambda: counts(server)[0] == 10, within=WITHIN)
            memcached.go_on()
            assert [client.response().text.split()[0] for client in (first, *clients)] == ["1"] * 9
        assert "is left out" not in server.log()


# ---- under load


def test_a_server_is_restarted_under_load(serve, memcached):
    server = serve(f"localhost:{memcached.port}", options=".timeout_ms=2000", server=FOUR)
    with Load(server) as load:
        for _ in range(4):
            assert load.goes_on(lambda r: r >= 0)
            memcached.kill()
            assert load.goes_on(lambda r: r < 0)
            memcached.start()
        assert load.goes_on(lambda r: r >= 0)
    assert not load.faults and set(load.results) <= set(RESULTS)
    assert all_were_answered(server)
    assert memcached.count("curr_connections") <= 2 + 4 * 2  # its own, and this one
    assert 1 <= server.log().count("is left out: ") <= 4  # once for all workers
    assert eventually(lambda: server.log().count("is left out: ") == server.log().count("is back"), within=WITHIN)


def test_a_server_is_paused_under_load(serve, memcached):
    server = serve(f"memcached://localhost:{memcached.port}?connections=2", options=".timeout_ms=1000", server=FOUR)
    with Load(server) as load:
        for _ in range(2):
            assert load.goes_on(lambda r: r >= 0)
            memcached.pause()
            assert load.goes_on(lambda r: r < 0)
            memcached.go_on()
        assert load.goes_on(lambda r: r >= 0)
    assert not load.faults and set(load.results) <= set(RESULTS)
    assert all_were_answered(server)
    assert memcached.count("curr_connections") <= 2 + 2


def test_one_of_two_servers_fails_under_load(serve, tmp_path, memcached):
    with memcached_server.Server(tmp_path, "second") as second:
        server = serve(f"localhost:{memcached.port} localhost:{second.port}", options=".timeout_ms=2000", server=FOUR)
        with Load(server) as load:
            for _ in range(3):
                second.kill()
                assert load.goes_on(lambda r: r >= 0)
                second.start()
                assert load.goes_on(lambda r: r >= 0)
        assert not load.faults and -3 not in load.results
        assert all_were_answered(server)
        assert eventually(lambda: [result(server, f"get?key={n}") for n in range(20)] == [1] * 20, within=WITHIN)


def test_clients_leave_under_load(serve, memcached):
    server = serve(f"memcached://localhost:{memcached.port}?connections=1", options=".timeout_ms=2000", server=FOUR)
    with Load(server) as load:
        for _ in range(10):
            with contextlib.ExitStack() as leaving:
                for _ in range(8):
                    leaving.enter_context(server.connect()).send(b"GET /values/many?n=20 HTTP/1.1\r\nHost: a\r\n\r\n")
        memcached.pause()
        with contextlib.ExitStack() as leaving:
            for _ in range(8):
                leaving.enter_context(server.connect()).send(b"GET /values/get HTTP/1.1\r\nHost: a\r\n\r\n")
        assert load.goes_on(lambda r: r < 0)
        memcached.go_on()
        assert load.goes_on(lambda r: r >= 0)
    assert not load.faults
    assert all_were_answered(server)
