# SPDX-License-Identifier: Apache-2.0
"""
A FastCGI application (specification 1.0) in threads, which behaves or not as a test wants it.

    with fastcgi.Application(lambda call: call.answer(b"Hello")) as application:
        server = start(**fastcgi.config(application))

Each connection has a thread; what a test's function raises ends the connection.
"""

import contextlib
import os
import socket
import struct
import threading
import time

from harness import executable
from harness.config import section

BEGIN, ABORT, END, PARAMS, STDIN, STDOUT, STDERR = range(1, 8)
KEEP_CONN = 1


def record(kind, content=b"", request=1, padding=0, version=1):
    return struct.pack("!BBHHBx", version, kind, request, len(content), padding) + content + b"\0" * padding


def end_record(app_status=0, protocol_status=0, **kwargs):
    return record(END, struct.pack("!IB3x", app_status, protocol_status), **kwargs)


def read_pairs(data):
    pairs, at = {}, 0

    def length():
        nonlocal at
        if data[at] < 128:
            at += 1
            return data[at - 1]
        at += 4
        return struct.unpack("!I", data[at - 4:at])[0] & 0x7FFFFFFF

    while at < len(data):
        name_len = length()
        value_len = length()
        name = data[at:at + name_len].decode("latin-1")
        assert name not in pairs, f"{name} was given twice"
        pairs[name] = data[at + name_len:at + name_len + value_len].decode("latin-1")
        at += name_len + value_len
    assert at == len(data), "PARAMS end within a pair"
    return pairs


class Ended(Exception):
    """The server closed the connection."""


class Call:
    """A request, and the means to answer it."""

    def __init__(self, application, sock):
        self.application, self.sock = application, sock
        self.ended = False
        self._input = b""
        self._input_ended = False
        kind, content = self._record()
        assert kind == BEGIN and content[:2] == b"\0\1", (kind, content)
        self.keeps = bool(content[2] & KEEP_CONN)
        pairs = b""
        while True:
            kind, content = self._record()
            assert kind == PARAMS, kind
            if not content:
                break
            pairs += content
        self.params = read_pairs(pairs)

    # -- what was asked

    def _exactly(self, count):
        pieces = []
        while count > 0:
            piece = self.sock.recv(min(count, 1 << 20))
            if not piece:
                raise Ended
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _record(self):
        version, kind, request, length, padding = struct.unpack("!BBHHBx", self._exactly(8))
        assert version == 1 and request == 1, (version, request)
        content = self._exactly(length)
        self._exactly(padding)
        return kind, content

    def pieces(self):
        """STDIN, record by record."""
        while not self._input_ended:
            kind, content = self._record()
            assert kind == STDIN, kind
            self._input_ended = not content
            if content:
                yield content

    def body(self):
        return b"".join(self.pieces())

    # -- answering

    def raw(self, data):
        self.sock.sendall(data)

    def out(self, data, **kwargs):
        for at in range(0, len(data), 65535):
            self.raw(record(STDOUT, data[at:at + 65535], **kwargs))

    def err(self, data):
        self.raw(record(STDERR, data))

    def end(self, app_status=0, protocol_status=0):
        self.ended = True
        self.raw(end_record(app_status, protocol_status))

    def answer(self, body=b"", head=b"Content-Type: text/plain\r\n\r\n"):
        """All of it in one write, as applications do when it is short."""
        self.body()
        self.ended = True
        data = head + body
        out = b"".join(record(STDOUT, data[at:at + 65535]) for at in range(0, len(data), 65535))
        self.raw(out + record(STDOUT) + end_record())

    def close(self):
        self.sock.close()
        raise Ended


class Application:
    """Listens on a unix socket when a path is given, else on a port of 127.0.0.1 (or that one)."""

    def __init__(self, answer, path=None, port=0, backlog=512):
        self._answer = answer
        self.path = path and str(path)
        self._lock = threading.Lock()
        self._sockets = set()
        self.accepted = self.requests = 0
        self.faults = []
        if self.path:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.path)
        else:
            self.listener = socket.socket()
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.listener.bind(("127.0.0.1", port))
            self.port = self.listener.getsockname()[1]
        self.listener.listen(backlog)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def open(self):
        """Connections now."""
        with self._lock:
            return len(self._sockets)

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with self._lock:
                self.accepted += 1
                self._sockets.add(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            while True:
                call = Call(self, sock)
                with self._lock:
                    self.requests += 1
                self._answer(call)
                call.body()
                if not call.ended:
                    call.end()
                if not call.keeps:
                    break
        except (Ended, OSError):
            pass
        except AssertionError as fault:
            self.faults.append(fault)
        finally:
            with self._lock:
                self._sockets.discard(sock)
            sock.close()

    def drop_connections(self):
        """Close those that are open; new ones are taken."""
        with self._lock:
            for sock in self._sockets:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def stop(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop_connections()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        assert not self.faults, self.faults


def server_section(application, name="app", lines=""):
    address = f"ServerPath {application.path}" if application.path else f"ServerAddr 127.0.0.1:{application.port}"
    return section("FASTCGI_SERVER", f"ServerName {name}\n{address}\n{lines}")


def settings(*applications, server="", location="Mount /", locations=None):
    """The text of fastcgi.conf: servers called app0, app1, ... and one location of all of them, or those given."""
    text = "".join(server_section(application, f"app{i}", server) for i, application in enumerate(applications))
    return text + (section("FASTCGI_LOCATION", location) if locations is None else locations)


def config(*applications, server="", location="Mount /", match="^/", extra=None, **kwargs):
    """What to start a server with: every path that matches goes to the applications."""
    files = {
        "plugins.load": section("PLUGINS", f"Load {executable.plugin('fastcgi')}"),
        "plugins/fastcgi/fastcgi.conf": settings(*applications, server=server, location=location),
        **(extra or {}),
    }
    return {"extra": files, "handlers": f"Match {match} fastcgi", **kwargs}


def sleep_until(event, seconds=20):
    """For an application that waits for a test; False when the test forgot it."""
    deadline = time.monotonic() + seconds
    while not event.is_set() and time.monotonic() < deadline:
        event.wait(0.1)
    return event.is_set()
