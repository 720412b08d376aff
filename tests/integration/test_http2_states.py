# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of connections, streams and calls of HTTP/2."""

import pytest

from harness import executable, h2_front, states
from harness.client import eventually
from harness.config import section
from harness.h2_backend import H2Backend
from harness.http2 import ACK, DATA, END_STREAM, RST_STREAM, SETTINGS, Frames, frame

pytestmark = pytest.mark.plain
TRACE = "LogLevel trace:plugin\n"


@pytest.fixture(name="serve")
def fixture_serve(start):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")

    def serve(level):
        return start(server=f"Listen 127.0.0.1:0 h2\nWorkers 1\n{level}", handlers="Match ^/echo echo", files={"a.txt": "a"},
                     extra={"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}")})
    return serve


def get(server):
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(frame(SETTINGS, ACK), client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")


def test_a_stream(serve):
    server = serve(TRACE)
    get(server)
    assert states.changes(server, "http2", "stream") == ["head", "half_closed_remote", "closed"]
    assert "stream=1 error=0" in server.log()


def test_a_stream_with_a_body(serve):
    server = serve(TRACE)
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/echo", "POST", end=False))
        client.send(frame(DATA, END_STREAM, 1, b"body"))
        assert client.answer(1)[0] == 200
    assert states.changes(server, "http2", "stream") == ["head", "open", "half_closed_remote", "closed"]


def test_a_stream_that_its_client_resets(serve):
    server = serve(TRACE)
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/echo", "POST", end=False), frame(RST_STREAM, 0, 1, (8).to_bytes(4, "big")))
        client.send(client.head(3, "/a.txt"))
        assert client.answer(3) == (200, b"a")
    assert server.wait_for_log(r"http2 state of=stream was=open is=closed conn=\d+ stream=1 error=8")


def test_a_connection_whose_server_stops(serve):
    server = serve(TRACE)
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")
        server.stop()
    assert states.changes(server, "http2", "connection") == ["open", "noticed", "leaving"]


def test_silence_at_other_levels(serve):
    server = serve("")
    get(server)
    assert "state of=" not in server.log()


def test_a_call_to_a_backend(start):
    with H2Backend() as backend:
        server = start(**h2_front.front("", backend, server=f"Workers 1\n{TRACE}"))
        assert server.get("/").status == 200
        assert eventually(lambda: states.changes(server, "proxy", "call")[-1:] == ["over"])
        assert states.changes(server, "proxy", "call") == ["waiting", "ready", "open", "over"]
        assert states.changes(server, "proxy", "stream")[:2] == ["head", "open"]
        assert states.changes(server, "proxy", "stream")[-1] == "closed"
        assert "connection=1 stream=1 error=0" in server.log()
