# SPDX-License-Identifier: Apache-2.0
"""MaxMemory and tunnels over HTTP/2: what one holds for a side that takes nothing counts, and those that hold much for long end."""

import contextlib
import socket
import threading
import time

import pytest

from harness import executable, http2
from harness.backend import Backend, configured
from harness.http2 import DATA, END_STREAM, GOAWAY, HEADERS, INTERNAL_ERROR, RST_STREAM, WINDOW_UPDATE, frame
from test_http2_memory import ELSE, MB, OPEN, PATIENT, SHUT
from test_http2_websocket import Client, asking, came, config, join

MADE_ROOM = "made room: MaxMemory is used up, "


def upgrade(conn):
    """As the proxy asks. Others come over the same port."""
    request = conn.request()
    if not request:
        return False
    if not request.header("Upgrade"):
        conn.answer(b"plain")
        return False
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
              + http2.accept_key(request.header("Sec-WebSocket-Key").encode()) + b"\r\n\r\n")
    return True


def flood(conn):
    """More than the server may keep, and less than the kernel would take."""
    if upgrade(conn):
        with contextlib.suppress(OSError):
            conn.send(bytes(MB // 2))
            conn.ended()


def proxying(backend, lines):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    return configured("TunnelTimeout 300\nKeepAliveTimeout 300", backend, plugins=("http2",),
                      server=f"Listen 127.0.0.1:0 h2\n{PATIENT}{lines}")


def plainly(client, stream):
    client.send(client.head(stream, "/plain"), frame(WINDOW_UPDATE, 0, stream, OPEN))
    body, code = b"", None
    while code is None:
        one = client.until(DATA, RST_STREAM, GOAWAY)
        if one.stream == stream:
            body += one.payload if one.kind == DATA else b""
            code = one.code if one.kind == RST_STREAM else 0 if one.flags & END_STREAM else None
    return body


def join_all(client, streams, target="/chat"):
    client.send(*(asking(client, stream, target) for stream in streams))
    for _ in streams:
        head = client.until(HEADERS, RST_STREAM)
        assert head.kind == HEADERS and head.fields[b":status"] == b"200"


@pytest.mark.timed
def test_clients_that_take_nothing(start):
    """Each of the tunnels keeps 80 KB that its backend has sent."""
    with Backend(flood) as backend:
        server = start(**proxying(backend, "MaxMemory 4M"))
        with contextlib.ExitStack() as stack:
            patient = stack.enter_context(Client(server))
            assert plainly(patient, 1) == b"plain"
            before = server.anonymous_bytes()
            crowd = [stack.enter_context(Client(server, settings=SHUT)) for _ in range(6)]
            for client in crowd:
                client.send(*(asking(client, stream, "/chat") for stream in range(1, 101, 2)))
            server.wait_for_log(MADE_ROOM + "ended a request")
            reset = crowd[0].until(RST_STREAM)
            assert reset.code == INTERNAL_ERROR
            assert plainly(crowd[0], 201) == b"plain", "its connection goes on"
            assert plainly(patient, 3) == b"plain"
            held = server.anonymous_bytes() - before
            assert held < 4 * MB + ELSE or executable.is_sanitized()
            assert "closed a connection" not in server.log()


def send_until(client, streams, condition):
    """As much as the windows permit. @return the streams that were reset."""
    room, whole, gone = {stream: 65535 for stream in streams}, 65535, set()
    client.sock.settimeout(0.2)
    while not condition():
        for stream in streams:
            size = 0 if stream in gone else min(room[stream], whole, 16384)
            if size > 0:
                client.send(frame(DATA, 0, stream, bytes(size)))
                room[stream] -= size
                whole -= size
        with contextlib.suppress(TimeoutError):
            one = client.receive()
            if one is None or one.kind == GOAWAY:
                return set(streams)
            if one.kind == RST_STREAM:
                gone.add(one.stream)
            if one.kind == WINDOW_UPDATE and one.stream == 0:
                whole += int.from_bytes(one.payload, "big")
            elif one.kind == WINDOW_UPDATE:
                room[one.stream] += int.from_bytes(one.payload, "big")
    return gone


def test_backends_that_take_nothing(start):
    """What a client has sent waits in the stream and in the proxy."""
    over = threading.Event()

    def serve(conn):
        if upgrade(conn):
            over.wait(60)

    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with Backend(serve, listener=listener) as backend:
        server = start(**proxying(backend, "MaxMemory 256K"))
        with Client(server) as patient, Client(server) as busy:
            assert plainly(patient, 1) == b"plain"
            join_all(busy, range(1, 21, 2))
            with contextlib.suppress(ConnectionError):  # its own end
                send_until(busy, range(1, 21, 2), lambda: MADE_ROOM in server.log())
            assert plainly(patient, 3) == b"plain"
        over.set()


def test_services_whose_clients_take_nothing(start):
    """What a handler has written waits in the stream. A client that was quiet until then loses nothing by what it sends now."""
    server = start(**config(f"{PATIENT}MaxMemory 1M\n"))
    with Client(server) as patient, contextlib.ExitStack() as stack:
        join(patient, 1)
        time.sleep(1)
        for _ in range(8):
            client = stack.enter_context(Client(server, settings=SHUT))
            client.send(*(asking(client, stream, "/flood") for stream in range(1, 101, 2)),
                        *(frame(DATA, 0, stream, b"\x81\x85\0\0\0\0begin") for stream in range(1, 101, 2)))
            patient.send(frame(DATA, 0, 1, b"\x81\x85\0\0\0\0hello"))
            assert came(patient, 1, 7) == b"\x81\x05hello"
        server.wait_for_log(MADE_ROOM + "ended a request")
