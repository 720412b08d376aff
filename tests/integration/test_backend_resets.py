# SPDX-License-Identifier: Apache-2.0
"""
Backends that close a connection whose input they have not read: the kernel sends a reset behind their answer.

What came before it is an answer as any other, however late a client takes it; behind it, nothing ends properly.
"""

import contextlib
import socket
import ssl
import struct
import threading

import pytest

from harness import certificates, executable, fastcgi, http
from harness.backend import Backend, configured
from harness.config import section
from harness.http2 import DATA, END_STREAM, RST_STREAM, WINDOW_UPDATE, Frames, frame

BODY = b"x" * 60_000
WINDOW_OF_ONE = (4).to_bytes(2, "big") + (1).to_bytes(4, "big")
OPEN = (1 << 30).to_bytes(4, "big")


class Proxy:
    framings = {"length": b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY),
                "chunks": b"Transfer-Encoding: chunked\r\n\r\n" + http.chunk(BODY) + b"0\r\n\r\n"}

    def __init__(self, stack, framing="length"):
        self.text = b"HTTP/1.1 200 OK\r\n" + self.framings[framing]
        self.backend = stack.enter_context(Backend(self.serve))

    def config(self):
        return ["proxy_reverse"], configured("RequestBuffering off", self.backend)

    def serve(self, conn):
        if conn.head():
            conn.send(self.text)
            conn.reset()


class Secure(Proxy):
    def __init__(self, stack, transport):
        super().__init__(stack)
        self.transport, pair = transport, certificates.issue("localhost")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pair.chain, pair.key)
        self.backend.address = f"localhost:{self.backend.port}"

    def config(self):
        config = configured(f"RequestBuffering off\nTransport {self.transport}", self.backend)
        config["extra"][f"plugins/{self.transport}/{self.transport}.conf"] = section(
            "TLS_BACKEND", f"CAFile {certificates.authority().certificate}")
        return ["proxy_reverse", self.transport], config

    def serve(self, conn):
        conn.sock = self.context.wrap_socket(conn.sock, server_side=True)
        super().serve(conn)


class FastCGI:
    def __init__(self, stack):
        self.application = stack.enter_context(fastcgi.Application(self.answer))

    def config(self):
        return ["fastcgi"], fastcgi.config(self.application, location="Mount /\nRequestBuffering off")

    @staticmethod
    def answer(call):
        call.ended = True
        call.raw(fastcgi.record(fastcgi.STDOUT, b"Content-Type: text/plain\r\n\r\n" + BODY) + fastcgi.end_record())
        call.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        call.sock.close()
        raise fastcgi.Ended


KINDS = {"proxy": Proxy, "proxy, chunks": lambda stack: Proxy(stack, "chunks"), "proxy, tls": lambda stack: Secure(stack, "tls"),
         "proxy, mbedtls": lambda stack: Secure(stack, "mbedtls"), "fastcgi": FastCGI}


@pytest.fixture(params=KINDS)
def begin(request, start):
    """Starts a server whose backend answers and resets."""
    with contextlib.ExitStack() as stack:
        def begin(server="", load=()):
            plugins, config = KINDS[request.param](stack).config()
            names = [executable.plugin(name) for name in (*plugins, *load)]
            if not all(names):
                pytest.skip("this build has no such plugin")
            config["server"] = f"{server}\n" + config.get("server", "")
            config.setdefault("extra", {})["plugins.load"] = section("PLUGINS", "\n".join(f"Load {name}" for name in names))
            return start(**config)
        yield begin


def body_of(client, stream):
    """What comes of an answer until its end, and whether that is one."""
    body = b""
    while one := client.until(DATA, RST_STREAM, stream=stream):
        if one.kind == RST_STREAM:
            break
        body += one.payload
        if one.flags & END_STREAM:
            return body, True
    return body, False


def test_a_client_that_reads_later_gets_all(begin):
    server = begin("Listen 127.0.0.1:0 h2", ["http2"])
    with Frames(("127.0.0.1", server.port), settings=WINDOW_OF_ONE) as client:
        client.send(frame(WINDOW_UPDATE, 0, 0, OPEN))
        for stream in (1, 5, 9):
            client.send(client.head(stream, "/"))
            first = client.until(DATA, RST_STREAM)
            assert (first.kind, first.payload) == (DATA, b"x")
            client.send(client.head(stream + 2, "/"))  # its answer has come when the reset has
            assert client.until(DATA, RST_STREAM, stream=stream + 2).kind == DATA
            client.send(frame(WINDOW_UPDATE, 0, stream, OPEN))
            rest, is_whole = body_of(client, stream)
            assert (1 + len(rest), is_whole) == (len(BODY), True)


@pytest.mark.parametrize("begin", [name for name in KINDS if "tls" not in name], indirect=True)  # it ends with a failed write
def test_an_answer_to_a_client_that_still_uploads(begin):
    server = begin("MaxBodySize 100M")
    for _ in range(20):
        with server.connect() as client:
            client.send(http.request("/", "POST", headers={"Content-Length": "9000000"}))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.send(bytes(9_000_000))
            assert client.response("POST").body == BODY


def test_a_tunnel_passes_on_what_came_before(start):
    """Although the client goes on, which is of no use any more."""
    def serve(conn):
        if conn.head():
            conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n" + BODY)
            conn.reset()

    def go_on(client):
        with contextlib.suppress(OSError):
            for _ in range(100):
                client.send(bytes(2000))

    with Backend(serve) as backend:
        server = start(server="Workers 1", **configured("", backend))
        for _ in range(40):
            with server.connect() as client:
                client.send(http.request("/", headers={"Connection": "Upgrade", "Upgrade": "any"}))
                sender = threading.Thread(target=go_on, args=(client,))
                sender.start()
                assert http.read_head(client.stream).status == 101
                assert client.stream.exactly(len(BODY)) == BODY
                sender.join()


def test_an_answer_without_a_length_is_cut_off(start):
    """Where the server was still sending, its own write has learnt of the reset."""
    def serve(conn):
        if conn.head():
            conn.send(b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:30_000])
            conn.exactly(200_000)
            conn.reset()

    with Backend(serve) as backend:
        server = start(server="MaxBodySize 100M", **configured("RequestBuffering off", backend))
        for _ in range(30):
            with server.connect() as client:
                client.send(http.request("/", "POST", headers={"Content-Length": "9000000"}))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    client.send(bytes(9_000_000))
                with pytest.raises((AssertionError, EOFError, ConnectionResetError)):
                    client.response("POST")
