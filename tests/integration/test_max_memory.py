# SPDX-License-Identifier: Apache-2.0
"""MaxMemory: what waits in the server for slow clients is bounded; the largest and slowest go first."""

import contextlib
import time

import pytest

from harness import executable, http, tools
from harness.backend import Backend, configured
from harness.family import private_kb
from harness.frames import TEXT, Raw, frame
from harness.plugins import load

CROWD = 120
MOST = 512 << 10
ELSE = 2 << 20  # blocks of the connections themselves, and what the heap keeps
PATIENT = "Timeout 120\nKeepAliveTimeout 120\nWriteTimeout 120\nMinReadRate 0"
FILES = {"a.txt": "text", "part.bin": "x" * 12_000}


def read_nothing(server):
    """Answers to pipelined requests gather in the connection."""
    connection = server.connect(server.addresses[1].removeprefix("unix:"))  # whose kernel buffer does not grow
    connection.send(http.request("/part.bin") * 400)
    return connection


def send_half_a_head(server):
    """Beyond the first 4 KB it has a buffer of its own."""
    connection = server.connect()
    connection.send(b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: %s\r\n" % (n, b"x" * 1000) for n in range(8)))
    return connection


@pytest.fixture(name="begin")
def start_for_both(start, tmp_path):
    def begin(workers, most):
        return start(server=f"Listen 127.0.0.1:0\nListen unix:{tmp_path}/s\nWorkers {workers}\nMaxMemory {most}\n{PATIENT}",
                     files=FILES)
    return begin


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", [read_nothing, send_half_a_head])
def test_largest_are_closed(begin, kind, workers):
    tools.raise_descriptor_limit(4 * CROWD)
    server = begin(workers, "512K")
    patient = server.connect()
    assert patient.request("/a.txt").status == 200
    _crowd = [kind(server) for _ in range(CROWD)]
    server.wait_for_log("made room: MaxMemory")
    assert patient.request("/a.txt").status == 200, "who holds nothing loses nothing"
    assert server.get("/a.txt").status == 200


@pytest.mark.timed
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", [read_nothing, send_half_a_head])
def test_memory_is_bounded(begin, kind, workers):
    if executable.is_sanitized():
        pytest.skip("a sanitizer's memory is another")
    tools.raise_descriptor_limit(4 * CROWD)
    server = begin(workers, "512K")
    assert server.get("/a.txt").status == 200
    before = 1024 * private_kb(server.pid)
    _crowd = [kind(server) for _ in range(CROWD)]
    time.sleep(1)
    assert 1024 * private_kb(server.pid) - before <= MOST + ELSE


def test_the_slowest_go_first(begin):
    server = begin(1, "256K")
    slow = [read_nothing(server) for _ in range(4)]
    time.sleep(0.5)
    assert "made room" not in server.log()
    late = []
    while "made room: MaxMemory" not in server.log():
        late.append(read_nothing(server))
        time.sleep(0.02)
        assert len(late) < 40
    whole = 400 * len(FILES["part.bin"])
    late[-1].stream.exactly(whole)
    with pytest.raises((AssertionError, ConnectionError)):
        for connection in slow:
            connection.stream.exactly(whole)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_smaller_limit_holds_from_the_reload_on(start, tmp_path, workers):
    """Nothing more comes, and no connection is new: what is held already goes"""
    def config(most):
        return {"server": f"Listen 127.0.0.1:0\nListen unix:{tmp_path}/s\nWorkers {workers}\nMaxMemory {most}\n{PATIENT}", "files": FILES}

    server = start(**config("64M"))
    crowd = [send_half_a_head(server) for _ in range(20)]
    assert server.get("/a.txt").status == 200
    assert "made room" not in server.log()
    server.reload(expect="configuration reloaded", **config("256K"))
    server.wait_for_log("made room: MaxMemory is used up, closed a connection")
    assert server.get("/a.txt").status == 200
    assert crowd


def flood(conn, _):
    """Change the protocol, and send until the server takes no more."""
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: flood\r\n\r\n")
    while True:
        conn.send(b"x" * 65536)


def test_tunnels_of_clients_that_do_not_read_are_closed(start):
    """What a tunnel keeps of the backend's bytes counts."""
    with Backend(each=flood) as backend:
        server = start(**configured("TunnelTimeout 60", backend, server=f"Workers 1\nMaxMemory 256K\n{PATIENT}"))
        asked = http.request("/", headers={"Connection": "Upgrade", "Upgrade": "flood"})
        clients = [server.connect() for _ in range(40)]
        for client in clients:
            client.send(asked)
        server.wait_for_log("made room: MaxMemory is used up")


def send_what_it_does_not_read(socket):
    """The service answers by 64 MB, of which one waits."""
    socket.say("begin")


def send_half_a_message(socket):
    socket.send(frame(TEXT, bytes(900_000), final=False))


@pytest.mark.parametrize("kind", [send_what_it_does_not_read, send_half_a_message])
def test_messages_that_wait_are_counted(start, kind):
    """Of WebSocket: those to be sent, and those of which the rest has not come."""
    server = start(server=f"Workers 1\nMaxMemory 2M\n{PATIENT}", handlers="Match ^/new sockets new\nMatch ^/echo sockets echo",
                   extra={"plugins.load": load("sockets")})
    with Raw(server, "/echo") as quiet, contextlib.ExitStack() as stack:
        for _ in range(6):
            kind(stack.enter_context(Raw(server, "/new")))
        server.wait_for_log("made room: MaxMemory is used up, closed a connection")
        quiet.say("still here")
        assert quiet.hear() == "still here"
