# SPDX-License-Identifier: Apache-2.0
"""
Backends for a proxy, in threads of the test: well behaved ones that say who they are, and others that do with
their connection what a test tells them.
"""

import contextlib
import socket
import struct
import threading

PATIENCE = 20.0


class Gone(Exception):
    """The proxy closed the connection."""


class Request:
    def __init__(self, method, target, fields, body, connection):
        self.method, self.target, self.fields, self.body = method, target, fields, body
        self.connection = connection

    def header(self, name):
        return next((value for field, value in self.fields if field.lower() == name.lower()), None)


class Peer:
    """A connection from the proxy."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = b""
        self.requests = 0

    def more(self):
        try:
            piece = self.sock.recv(65536)
        except OSError:
            piece = b""
        if not piece:
            raise Gone
        self.buffer += piece

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, _, self.buffer = self.buffer.partition(b"\r\n")
        return line

    def exactly(self, count):
        while len(self.buffer) < count:
            self.more()
        piece, self.buffer = self.buffer[:count], self.buffer[count:]
        return piece

    def chunks(self):
        body = b""
        while size := int(self.line().split(b";")[0], 16):
            body += self.exactly(size)
            assert self.line() == b""
        while self.line():
            pass
        return body

    def head(self):
        """Method, target and fields of the next request; its body is still to be read."""
        method, target, _ = self.line().decode("latin-1").split(" ")
        fields = []
        while line := self.line().decode("latin-1"):
            name, _, value = line.partition(":")
            fields.append((name, value.strip()))
        self.requests += 1
        return Request(method, target, fields, b"", self)

    def body(self, request):
        length, coding = request.header("Content-Length"), request.header("Transfer-Encoding")
        assert length is None or coding is None, "the proxy framed a request twice"
        request.body = self.chunks() if coding else self.exactly(int(length or 0))
        return request

    def request(self):
        return self.body(self.head())

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            raise Gone from None

    def answer(self, body=b"", status="200 OK", lines=()):
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *lines]
        self.send("\r\n".join(head).encode() + b"\r\n\r\n" + body)

    def reset(self):
        """Leave with a TCP RST."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


class Backend:
    """
    `serve(peer)` is called for each connection in a thread of its own. Without it every request is answered
    with the backend's name by `reply(request)`, which a test may replace.
    """

    def __init__(self, name="backend", reply=None, serve=None, port=0):
        self.name = name
        self.port = port
        self.reply = reply or (lambda request: request.connection.answer(self.name.encode()))
        self.serve = serve or self._serve
        self.lock = threading.Lock()
        self.requests = 0
        self.connections = 0
        self.active = 0
        self.peers = set()
        self.faults = []
        self.listener = None
        self.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()
        return self

    def stop(self):
        """Refuse connections from now on, and cut those that there are."""
        if self.listener:
            with contextlib.suppress(OSError):
                self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None
        with self.lock:
            peers = list(self.peers)
        for peer in peers:
            peer.close()

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(PATIENCE)
            peer = Peer(sock)
            with self.lock:
                self.connections += 1
                self.peers.add(peer)
            threading.Thread(target=self._run, args=(peer,), daemon=True).start()

    def _run(self, peer):
        try:
            self.serve(peer)
        except Gone:
            pass
        except Exception as fault:  # noqa: BLE001 - told by the test, not by a thread
            self.faults.append(repr(fault))
        finally:
            peer.close()
            with self.lock:
                self.peers.discard(peer)

    def _serve(self, peer):
        while True:
            request = peer.request()
            with self.lock:
                self.requests += 1
                self.active += 1
            try:
                self.reply(request)
            finally:
                with self.lock:
                    self.active -= 1


@contextlib.contextmanager
def backends(count, **kwargs):
    """So many of them, named a, b, c, ..."""
    made = [Backend(name, **kwargs) for name in "abcdefghijklmnopqrstuvwxyz"[:count]]
    try:
        yield made
    finally:
        for backend in made:
            backend.stop()
    assert not [fault for backend in made for fault in backend.faults]


def proxy(*entries, defaults="", plugins=(), site=""):
    """What to start a server with. entries: lines of a [PROXY_ENTRY] each."""
    from harness import config, process  # pylint: disable=import-outside-toplevel
    text = config.section("PROXY_DEFAULTS", defaults) if defaults else ""
    text += "".join(config.section("PROXY_ENTRY", entry) for entry in entries)
    load = "".join(f"Load {process.plugin(name)}\n" for name in ("proxy_reverse", *plugins))
    return {"plugins.load": config.section("PLUGINS", load), "plugins/proxy_reverse/proxy_reverse.conf": text}


def servers(backends, weights=None):
    """A ServerList line."""
    return "ServerList " + " ".join(b.address for b, n in zip(backends, weights or [1] * len(backends)) for _ in range(n))
