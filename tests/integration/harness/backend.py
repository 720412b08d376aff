# SPDX-License-Identifier: Apache-2.0
"""
Backends for a proxy: HTTP servers of a few lines that do exactly what a test says, right or wrong.

    with Backend(lambda c: c.answer(b"hello")) as backend: ...

serve(conn) runs on a thread of its own for each connection and asks for requests itself; what goes wrong there is
kept in `faults`.
"""

import socket
import struct
import threading

from harness import http

PATIENCE = 20.0


class Request:
    def __init__(self, method, target, version, fields, body, raw):
        self.method, self.target, self.version = method, target, version
        self.fields, self.body, self.raw = fields, body, raw

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

    def _more(self):
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
            self._more()
        line, _, self.pending = self.pending.partition(b"\r\n")
        return line

    def head(self):
        """A request without its body; None at the end of the connection."""
        try:
            while b"\r\n\r\n" not in self.pending:
                self._more()
        except (EOFError, ConnectionResetError):
            if self.pending:
                raise
            return None
        raw, _, self.pending = self.pending.partition(b"\r\n\r\n")
        lines = raw.decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ")
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        return Request(method, target, version, fields, b"", raw)

    def chunk(self):
        size = int(self.line(), 16)
        data = self.exactly(size)
        assert self.line() == b""
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
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def ended(self):
        """Has the peer closed? Waits for it."""
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True


class Backend:
    def __init__(self, serve=None, each=None, listener=None):
        """serve(conn) for a connection, or each(conn, request) for every request of one."""
        self.serve = serve or self._loop(each or (lambda conn, request: conn.answer(b"ok")))
        self.listener = listener or socket.create_server(("127.0.0.1", 0), backlog=256)
        name = self.listener.getsockname()
        self.name = f"unix:{name}" if isinstance(name, str) else f"127.0.0.1:{name[1]}"
        if self.listener.family == socket.AF_INET6:
            self.name = f"[::1]:{name[1]}"
        self.port = None if isinstance(name, str) else name[1]
        self.connections = 0
        self.requests = []
        self.faults = []
        self.socks = set()
        self.lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _loop(self, each):
        def serve(conn):
            while request := conn.request():
                with self.lock:
                    self.requests.append(request)
                each(conn, request)
                if request.header("Connection") == "close":
                    return
        return serve

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
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
        try:
            self.serve(Conn(sock))
        except (OSError, EOFError):
            pass
        except Exception as fault:  # pylint: disable=broad-except
            self.faults.append(fault)
        finally:
            with self.lock:
                self.socks.discard(sock)
            sock.close()

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        except OSError:
            pass
        self.listener.close()
        with self.lock:
            socks = list(self.socks)
        for sock in socks:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        assert not self.faults, self.faults


def configured(entry, *backends, defaults="", plugins=("proxy_reverse",), **kwargs):
    """What start() is to be given for one [PROXY_ENTRY] that passes everything to these backends."""
    names = " ".join(b if isinstance(b, str) else b.name for b in backends)
    indent = "    "
    text = "[PROXY_DEFAULTS]\n" + "".join(f"{indent}{line.strip()}\n" for line in defaults.strip().splitlines())
    text += f"[PROXY_ENTRY]\n{indent}ServerList {names}\n"
    if "Match" not in entry:
        text += f"{indent}Match ^/\n"
    text += "".join(f"{indent}{line.strip()}\n" for line in entry.strip().splitlines())
    extra = {"plugins.load": "[PLUGINS]\n" + "".join(f"{indent}Load {name}\n" for name in plugins),
             "plugins/proxy_reverse/proxy_reverse.conf": text}
    extra.update(kwargs.pop("extra", {}))
    return {"extra": extra, **kwargs}


__all__ = ["Backend", "Conn", "Request", "configured", "http"]
