# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of a request that is passed on."""

from harness import http, states
from harness.backend import Backend, backends, configured
from harness.client import eventually


def changes(server, of):
    return states.changes(server, "proxy", of)


def test_a_request_with_a_body(start):
    def serve(conn):
        assert conn.body(conn.head()) == b"hello"
        conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(**configured("", backend), server="LogLevel trace")
        assert server.request(method="POST", body=b"hello").body == b"ok"
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "exchange") == ["gather", "connect", "send", "head", "body", "rest", "over"]
        assert changes(server, "request") == ["new", "ready", "part", "whole"]
        assert changes(server, "body") == ["open", "read"]


def test_a_body_that_is_held_until_it_is_asked_for(start):
    def serve(conn):
        request = conn.head()
        conn.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert conn.body(request) == b"hello"
        conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend), server="LogLevel trace")
        with server.connect() as client:
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            assert http.read_head(client.stream).status == 100
            client.send("hello")
            assert client.response().body == b"ok"
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "body") == ["open", "held", "open", "read"]


def test_a_backend_that_fails_before_another_answers(start):
    def fail(conn):
        conn.head()

    with Backend(fail) as bad, backends(1) as (good,):
        server = start(**configured("LoadBalancer First-Alive", bad, good), server="LogLevel trace")
        assert server.get("/").status == 200
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "exchange") == ["gather", "connect", "send", "connect", "send", "head", "body", "rest", "over"]
        assert 'proxy repeat rule="another backend may answer"' in server.log()


def test_a_tunnel(start):
    def serve(conn):
        conn.head()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        conn.send(conn.exactly(2))

    with Backend(serve) as backend:
        server = start(**configured("", backend), server="LogLevel trace")
        with server.connect() as client:
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
            assert http.read_head(client.stream).status == 101
            client.send("hi")
            assert client.stream.rest() == b"hi"
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "exchange") == ["gather", "connect", "send", "head", "tunnel", "over"]


def test_nothing_is_said_at_other_levels(start):
    with backends(1) as (backend,):
        server = start(**configured("", backend), server="LogLevel debug")
        assert server.get("/").status == 200
        assert "proxy state" not in server.log()
