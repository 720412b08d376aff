# SPDX-License-Identifier: Apache-2.0
"""
Backends for a proxy: HTTP servers of a few lines that do exactly what a test says, right or wrong.

    with Backend(lambda c: c.answer(b"hello")) as backend: ...
    with backends(3) as three: ...

Each connection has a thread of its own; what goes wrong there is kept in `faults`.
"""

import contextlib
import socket
import ssl
import struct
import threading

from harness import config, process
from harness.client import PATIENCE


def field(line):
    return tuple(part.strip() for part in line.split(":", 1))


class Request:
    def __init__(self, method, target, version, fields, body, raw):
        self.method, self.target, self.version = method, target, version
        self.fields, self.body, self.raw = fields, body, raw
        self.trailers = []

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def header(self, name, default=None):
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {values}"
        return values[0] if values else default


class Conn:
    """A connection to a backend, as the backend sees it."""

    def __init__(self, sock):
        self.sock = sock
        self.pending = b""

    def more(self):
        piece = self.sock.recv(65536)
        if not piece:
            raise EOFError
        self.pending += piece

    def exactly(self, count):
        taken, self.pending = [self.pending[:count]], self.pending[count:]
        count -= len(taken[0])
        while count > 0:
            taken.append(self.sock.recv(min(count, 1 << 20)))
            if not taken[-1]:
                raise EOFError
            count -= len(taken[-1])
        return b"".join(taken)

    def line(self):
        while b"\r\n" not in self.pending:
            self.more()
        line, _, self.pending = self.pending.partition(b"\r\n")
        return line

    def head(self):
        """A request without its body; None at the end of the connection."""
        try:
            while b"\r\n\r\n" not in self.pending:
                self.more()
        except (EOFError, ConnectionResetError):
            if self.pending:
                raise
            return None
        raw, _, self.pending = self.pending.partition(b"\r\n\r\n")
        lines = raw.decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ")
        fields = [field(line) for line in lines[1:]]
        return Request(method, target, version, fields, b"", raw)

    def chunk(self):
        """The data of a chunk; b"" is the last one, behind which trailers follow."""
        data = self.exactly(int(self.line(), 16))
        assert not data or self.line() == b""
        return data

    def body(self, request):
        length, coding = request.header("Content-Length"), request.header("Transfer-Encoding")
        assert not (length and coding), "both framings"
        if length:
            return self.exactly(int(length))
        if not coding:
            return b""
        assert coding == "chunked"
        pieces = []
        while piece := self.chunk():
            pieces.append(piece)
        while line := self.line():
            request.trailers.append(field(line.decode("latin-1")))
        return b"".join(pieces)

    def request(self):
        """The next request, whole; None at the end of the connection."""
        request = self.head()
        if request:
            request.body = self.body(request)
        return request

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, body=b"", status="200 OK", fields=""):
        self.send(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body)

    def chunked(self, *pieces, status="200 OK", fields="", end=True):
        self.send(f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n{fields}\r\n".encode())
        for piece in pieces:
            self.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        if end:
            self.send(b"0\r\n\r\n")

    def reset(self):
        """Leave with a TCP RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    def ended(self):
        """Has the peer closed? Waits for it."""
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True


class Backend:
    """
    serve(conn) is called for a connection, each(conn, request) for every request of one; a test may replace either.
    Without them it answers with its name.
    """

    def __init__(self, serve=None, each=None, listener=None, name="ok"):
        self.name = name
        self.serve = serve or self._loop
        self.each = each or (lambda conn, request: conn.answer(self.name.encode()))
        self.port = None
        self.address = None
        self.connections = 0
        self.active = 0
        self.requests = []
        self.faults = []
        self.socks = set()
        self.lock = threading.Lock()
        self.listener = None
        self.start(listener)

    def start(self, listener=None):
        """Listen, after a stop at the same place."""
        self.listener = listener or socket.create_server(("127.0.0.1", self.port or 0), backlog=256)
        place = self.listener.getsockname()
        if isinstance(place, str):
            self.address = f"unix:{place}"
        else:
            self.port = place[1]
            self.address = f"{'[::1]' if self.listener.family == socket.AF_INET6 else '127.0.0.1'}:{self.port}"
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        """Refuse connections from now on, and cut those that there are."""
        if self.listener:
            with contextlib.suppress(OSError):
                self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            self.listener.close()
            self.listener = None
        with self.lock:
            socks = list(self.socks)
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.socks.add(sock)
            threading.Thread(target=self._run, args=(sock,), daemon=True).start()

    def _run(self, sock):
        sock.settimeout(PATIENCE)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        conn = Conn(sock)
        try:
            self.serve(conn)
        except (OSError, EOFError):
            pass
        except Exception as fault:  # noqa: BLE001 - told by the test, not by a thread
            self.faults.append(fault)
        finally:
            with self.lock:
                self.socks.discard(sock)
            conn.close()

    def _loop(self, conn):
        while request := conn.request():
            with self.lock:
                self.requests.append(request)
                self.active += 1
            try:
                self.each(conn, request)
            finally:
                with self.lock:
                    self.active -= 1
            if request.header("Connection") == "close":
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        assert not self.faults, self.faults


class SecureBackend(Backend):
    """Serves over TLS and notes the names that it is asked for."""

    def __init__(self, pair, **kwargs):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pair.chain, pair.key)
        self.context.sni_callback = lambda sock, name, context: self.names.append(name)
        self.names = []
        super().__init__(**kwargs)

    def _run(self, sock):
        sock.settimeout(PATIENCE)
        try:
            with self.context.wrap_socket(sock, server_side=True) as secured:
                self.serve(Conn(secured))
        except (OSError, EOFError):
            pass
        finally:
            sock.close()


@contextlib.contextmanager
def backends(count, **kwargs):
    """So many of them, named a, b, c, ..."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Backend(name=name, **kwargs)) for name in "abcdefghijklmnopqrstuvwxyz"[:count]]


def servers(backends, weights=None):
    """A ServerList line."""
    words = [b if isinstance(b, str) else b.address for b in backends]
    return "ServerList " + " ".join(word for word, n in zip(words, weights or [1] * len(words)) for _ in range(n))


def proxy(*entries, defaults="", plugins=()):
    """What to start a server with, as `extra`. entries: lines of a [PROXY_ENTRY] each."""
    text = config.section("PROXY_DEFAULTS", defaults) if defaults else ""
    text += "".join(config.section("PROXY_ENTRY", entry) for entry in entries)
    load = "".join(f"Load {process.plugin(name)}\n" for name in (*plugins, "proxy_reverse"))
    return {"plugins.load": config.section("PLUGINS", load), "plugins/proxy_reverse/proxy_reverse.conf": text}


def configured(entry, *backends, defaults="", plugins=(), extra=None, **kwargs):
    """What start() is to be given for one [PROXY_ENTRY] that passes everything to these backends."""
    lines = [servers(backends), *([] if "Match" in entry else ["Match ^/"]), *map(str.strip, entry.strip().splitlines())]
    return {"extra": {**proxy("\n".join(lines), defaults=defaults, plugins=plugins), **(extra or {})}, **kwargs}
