# SPDX-License-Identifier: Apache-2.0
"""The shell of a server (plugin cheetah) as its users have it."""

import json
import os
import re
import socket
import time

from harness.client import PATIENCE, eventually
from harness.config import section


def configured(place, lines=None, **kwargs):
    """What to start a server with. place: of the socket; None: the default."""
    lines = lines or (f"Socket {place}" if place else "Listen SERVER")
    extra = {"plugins.load": section("PLUGINS", "Load cheetah"),
             "plugins/cheetah/cheetah.conf": section("CHEETAH", lines)}
    return {"files": {"index.html": "<p>hello"}, "extra": extra, **kwargs}


class Shell:
    """A session of the shell of a server."""

    def __init__(self, place, timeout=PATIENCE):
        self.sock = eventually(lambda: self._connect(place))
        assert self.sock, f"nobody listens at {place}"
        self.sock.settimeout(timeout)
        self.rest = b""

    @staticmethod
    def _connect(place):
        """Plugins start after the server has told where it listens. With a timeout, a socket would not wait for its turn."""
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(str(place))
            return sock
        except (FileNotFoundError, ConnectionRefusedError):
            sock.close()
            return None

    def send(self, line):
        self.sock.sendall(line if isinstance(line, bytes) else f"{line}\n".encode())

    def read_until(self, pattern):
        """What comes up to and with a pattern."""
        while not (found := re.search(pattern, self.rest)):
            piece = self.sock.recv(65536)
            assert piece, f"closed after {self.rest!r}"
            self.rest += piece
        text, self.rest = self.rest[:found.end()], self.rest[found.end():]
        return text.decode()

    def line(self):
        return self.read_until(rb"\n")

    def ask(self, command):
        """The JSON of a command."""
        self.send(f"{command} --json")
        return json.loads(self.line())

    def to_the_end(self):
        pieces = [self.rest]
        while piece := self.sock.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def ask(place, *lines):
    """All that comes for some lines on a connection of their own."""
    with Shell(place) as shell:
        shell.send("".join(f"{line}\n" for line in lines).encode())
        shell.sock.shutdown(socket.SHUT_WR)
        return shell.to_the_end().decode()


def refused(start, **config):
    """The log of a server that does not start."""
    server = start(wait=False, **config)
    assert server.expect_exit() != 0
    return server.log()


def read_until(fd, text, within=PATIENCE):
    """What comes from a terminal or pipe up to a text."""
    got = b""
    deadline = time.monotonic() + within
    os.set_blocking(fd, False)
    while text not in got and time.monotonic() < deadline:
        try:
            piece = os.read(fd, 65536)
        except BlockingIOError:
            time.sleep(0.01)
            continue
        assert piece, got
        got += piece
    assert text in got, got
    return got.decode()
