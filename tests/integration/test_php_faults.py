# SPDX-License-Identifier: Apache-2.0
"""php-fpm that is down, full, slow, killed or restarted under load; and more clients than it has processes."""

import os
import signal
import threading
import time

import pytest

from harness import applications, family, http, process, tools
from harness.client import PATIENCE, Connection, eventually

MATCH = r"\.php(/|$)"
SCRIPTS = {
    "quick.php": "<?php echo 'quick';",
    "pid.php": "<?php echo getmypid();",
    "sleep.php": "<?php sleep(30); echo 'late';",
    "nap.php": "<?php usleep(20000); echo 'nap';",
    "half.php": "<?php echo getmypid(), \"\\n\"; flush(); sleep(30); echo 'late';",
    "large.php": "<?php $piece = str_repeat('0123456789abcdef', 4096); for ($i = 0; $i < 160; $i++) echo $piece;",
}


@pytest.fixture
def peer(tmp_path):
    """A function that starts php-fpm; it is ended with the test."""
    peers = []

    def make(**kwargs):
        peers.append(applications.php_fpm(tmp_path / f"fpm{len(peers)}", **kwargs))
        return peers[-1]

    yield make
    for one in peers:
        one.stop()


def serve(start, php, backend="", location="KeepAlive on", **kwargs):
    """backend, location: lines of [FASTCGI_SERVER] and [FASTCGI_LOCATION]."""
    return start(files={**SCRIPTS, "a.txt": "a file"}, **applications.fastcgi(php.address, MATCH, backend, location), **kwargs)


def ask_all(server, target, count, timeout=60):
    connections = [Connection(("127.0.0.1", server.port), timeout=timeout) for _ in range(count)]
    try:
        for connection in connections:
            connection.send(http.request(target))
        return [connection.response() for connection in connections]
    finally:
        for connection in connections:
            connection.close()


@pytest.mark.parametrize("tcp", [False, True], ids=["Unix socket", "TCP"])
def test_down_and_up_again(start, peer, tcp):
    php = peer(tcp=tcp)
    server = serve(start, php, "OfflineTimeOut 1\nConnectTimeout 600\nReadTimeout 600\nQueueTimeout 600")
    assert server.get("/quick.php").body == b"quick"
    php.kill()
    assert server.get("/quick.php").status == 502
    assert server.get("/a.txt").status == 200
    peer(address=php.address)
    assert eventually(lambda: server.get("/quick.php").body == b"quick", every=0.1), server.log()


@pytest.mark.parametrize("tcp", [False, True], ids=["Unix socket", "TCP"])
def test_a_full_backlog(start, peer, tcp):
    """It is stopped and takes no connection; what does not fit into its backlog waits or is told so, and nothing hangs."""
    php = peer(children=2, tcp=tcp, backlog=1)
    server = serve(start, php, "MaxConnections 40\nConnectTimeout 1\nReadTimeout 2\nQueueTimeout 2\nOfflineTimeOut 0", "KeepAlive off")
    assert eventually(lambda: server.get("/quick.php").body == b"quick", every=0.1), server.log()
    for pid in (php.pid, *php.workers()):
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        answers = ask_all(server, "/quick.php", 60)
        assert {answer.status for answer in answers} <= {502, 503, 504}, {answer.status for answer in answers}
        assert time.monotonic() - began < PATIENCE
        assert all(answer.header("Retry-After") for answer in answers if answer.status == 503)
        assert server.get("/a.txt").status == 200
    finally:
        for pid in (php.pid, *php.workers()):
            os.kill(pid, signal.SIGCONT)
    assert eventually(lambda: server.get("/quick.php").body == b"quick", every=0.1), server.log()


def test_a_backlog_that_is_full_for_a_moment(start, peer):
    """Many connections at once, more than backlog and processes hold: all are answered in the end."""
    php = peer(children=2, backlog=2)
    server = serve(start, php, "MaxConnections 64", "KeepAlive off")
    answers = ask_all(server, "/nap.php", 64)
    assert {answer.body for answer in answers} == {b"nap"}, {answer.status for answer in answers}


def test_a_slow_script(start, peer):
    php = peer(children=3)
    server = serve(start, php, "MaxConnections 3\nReadTimeout 1")
    slow = server.connect()
    began = time.monotonic()
    slow.send(http.request("/sleep.php"))
    assert server.get("/quick.php").body == b"quick"
    assert slow.response().status == 504
    assert 0.8 < time.monotonic() - began < PATIENCE


@pytest.mark.slow
def test_more_clients_than_processes(start, peer):
    tools.raise_descriptor_limit(2000)
    php = peer(children=3)
    server = serve(start, php, "MaxConnections 3", server="MaxConnections 2000")
    for _ in range(2):
        answers = ask_all(server, "/nap.php", 300)
        assert {(answer.status, answer.body) for answer in answers} == {(200, b"nap")}


@pytest.mark.timed
@pytest.mark.slow
def test_a_queue_that_is_full_or_too_slow(start, peer):
    php = peer(children=1)
    server = serve(start, php, "MaxConnections 1\nQueueLength 2\nQueueTimeout 1\nReadTimeout 5")
    first = server.connect()
    first.send(http.request("/sleep.php"))
    time.sleep(0.3)
    began = time.monotonic()
    waiting = [server.connect() for _ in range(5)]
    for connection in waiting:
        connection.send(http.request("/quick.php"))
    answers = [connection.response() for connection in waiting]
    assert {answer.status for answer in answers} == {503}
    assert all(int(answer.header("Retry-After")) > 0 for answer in answers)
    assert time.monotonic() - began < 4
    assert first.response().status == 504


def test_killed_before_it_answers(start, peer):
    """One process serves both: a request that has had no byte of an answer, here none that may be sent twice."""
    php = peer(children=1)
    server = serve(start, php, "MaxConnections 1")
    pid = int(server.get("/pid.php").body)
    connection = server.connect()
    connection.send(http.request("/sleep.php", "POST", body=b"x"))
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    assert connection.response("POST").status == 502
    assert eventually(lambda: server.get("/quick.php").body == b"quick", every=0.1)


def test_killed_in_the_middle_of_an_answer(start, peer):
    """The client sees that something is missing."""
    php = peer(children=2)
    server = serve(start, php, "MaxConnections 2")
    connection = server.connect()
    connection.send(http.request("/half.php"))
    assert http.read_head(connection.stream).status == 200
    size = int(connection.stream.line(), 16)
    pid = int(connection.stream.exactly(size))
    connection.stream.line()
    os.kill(pid, signal.SIGKILL)
    assert connection.rest_until_cut() == b""
    assert eventually(lambda: server.get("/quick.php").body == b"quick", every=0.1)


def test_a_process_that_ended_while_its_connection_was_kept(start, peer):
    """pm.max_requests: a kept connection is closed by the peer at any time, which no client may notice."""
    php = peer(children=2, pool="pm.max_requests = 3\n")
    server = serve(start, php, "MaxConnections 2")
    connection = server.connect()
    assert {connection.request("/quick.php").body for _ in range(60)} == {b"quick"}


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["on", "off"])
def test_restarted_under_load(start, peer, keep):
    """While it is away clients are told so; afterwards everything is as before, descriptors and memory too."""
    php = peer(children=4)
    server = serve(start, php, "MaxConnections 4\nOfflineTimeOut 1", f"KeepAlive {keep}")
    ask_all(server, "/quick.php", 50)
    before = server.open_descriptors()
    stop, statuses, faults = threading.Event(), {}, []

    def ask():
        while not stop.is_set():
            try:
                status = server.get("/nap.php", timeout=30).status
                statuses[status] = statuses.get(status, 0) + 1
            except (OSError, AssertionError) as fault:
                faults.append(repr(fault))

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    for _ in range(4):
        time.sleep(1)
        php.kill()
        time.sleep(0.5)
        php = peer(address=php.address, children=4)
    time.sleep(2)
    stop.set()
    for client in clients:
        client.join()
    assert not faults, faults[:5]
    assert set(statuses) <= {200, 502, 503, 504} and statuses[200] > 50, statuses
    assert {answer.body for answer in ask_all(server, "/quick.php", 50)} == {b"quick"}
    assert eventually(lambda: server.open_descriptors() <= before + 8), "descriptors are left"


@pytest.mark.timed
@pytest.mark.slow
def test_memory_is_bounded_and_given_back(start, peer):
    """Slow readers of 10 MB each: what waits for them is with the application, not with us."""
    php = peer(children=8)
    server = serve(start, php, "MaxConnections 8")
    ask_all(server, "/quick.php", 8)
    rest = family.private_kb(server.pid)
    readers = [Connection(("127.0.0.1", server.port), receive_buffer=4096, timeout=60) for _ in range(8)]
    for reader in readers:
        reader.send(http.request("/large.php"))
        http.read_head(reader.stream)
    time.sleep(1)
    grown = family.private_kb(server.pid) - rest
    for reader in readers:
        reader.close()
    assert process.is_sanitized() or grown < 8000, f"{grown} KB for 8 readers"  # shadow memory is not counted
    assert eventually(lambda: server.get("/quick.php", timeout=30).body == b"quick")


@pytest.mark.slow
def test_a_reload_under_load(start, peer):
    php = peer(children=4)
    server = serve(start, php, "MaxConnections 4")
    stop, wrong = threading.Event(), []

    def ask():
        connection = None
        while not stop.is_set():
            connection = connection or server.connect()
            answer = connection.request("/nap.php")
            if answer.body != b"nap":
                wrong.append(answer.status)
            if not answer.keeps_connection:
                connection = None

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    for _ in range(10):
        server.reload()
        time.sleep(0.1)
    stop.set()
    for client in clients:
        client.join()
    assert not wrong, wrong[:10]
