# SPDX-License-Identifier: Apache-2.0
"""
Servers of Redis for tests, each with a folder of its own.

    with redis_server.Server(tmp_path) as server:
        server.ask("GET", "key")  # b"$-1\\r\\n"
"""

import pathlib
import shutil
import signal
import socket
import ssl
import subprocess

import pytest

from harness import certificates, ports, stopped
from harness.client import eventually

PATIENCE = 60.0


class Server:
    """redis-server on a free port of loopback, which it keeps when it is started again. It keeps nothing unless asked to."""

    NPORTS = 1

    def __init__(self, folder, *options, name="redis", keeps=False):
        self._program = shutil.which("redis-server")
        if not self._program:
            pytest.skip("redis-server is not installed")
        self._folder = pathlib.Path(folder) / name
        self._folder.mkdir()
        self._options = ["--appendonly", "yes", "--appendfsync", "always"] if keeps else ["--appendonly", "no"]
        self._options += options
        self._password = dict(zip(options, options[1:])).get("--requirepass")
        self._process = None
        self.host = "127.0.0.1"  # another one from the next start on
        self.port = None
        ports.on_free(self._start_at, self.NPORTS)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _start_at(self, port):
        self.port = port
        self.start()

    def start(self):
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [self._program, *self._listen(), "--bind", self.host, "--dir", str(self._folder), "--save", "",
                 "--daemonize", "no", *self._options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        assert eventually(self._is_ready, within=PATIENCE), (self._folder / "log").read_text()

    def _listen(self):
        return ["--port", str(self.port)]

    def _connect(self):
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def _is_ready(self):
        assert self._process.poll() is None, (self._folder / "log").read_text()
        try:
            return ports.listens(self._process.pid, self.port) and self.ask("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def ask(self, *words):
        """What the server sends for a command, as bytes of its protocol."""
        with self._connect() as sock, sock.makefile("rb") as file:
            if self._password:
                sock.sendall(_command("AUTH", self._password))
                assert file.readline() == b"+OK\r\n"
            sock.sendall(_command(*words))
            line = file.readline()
            if line[:1] == b"$" and int(line[1:]) >= 0:
                line += file.read(int(line[1:]) + 2)
            return line

    def text(self, *words):
        """The text that a command answers with; None: none."""
        answer = self.ask(*words)
        return None if answer == b"$-1\r\n" else answer.partition(b"\r\n")[2][:-2].decode()

    def clients(self):
        """Connections beside that which asks."""
        return len(self.text("CLIENT", "LIST").splitlines()) - 1

    def pause(self):
        """Stop it: it answers nothing that is sent from now on."""
        stopped.stop(self._process)

    def go_on(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Secure(Server):
    """One that speaks TLS alone, with a certificate of localhost and 127.0.0.1, or another one."""

    def __init__(self, folder, pair=None, **rest):
        self._pair = pair or certificates.issue()
        super().__init__(folder, "--bind", "127.0.0.1", "127.0.0.2", **rest)

    @property
    def ca(self):
        """The file of the authority."""
        return self._pair.issuer.certificate

    def _listen(self):
        return ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", str(self._pair.certificate),
                "--tls-key-file", str(self._pair.key), "--tls-ca-cert-file", str(self.ca), "--tls-auth-clients", "no"]

    def _connect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # whatever its certificate is worth to others
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(super()._connect())


class Member(Server):
    """One of a cluster, whose bus has a port of its own: 10,000 above the other may be too high, or taken."""

    NPORTS = 2

    def _start_at(self, port, bus):
        self.bus = bus
        super()._start_at(port)

    def _listen(self):
        return [*super()._listen(), "--cluster-enabled", "yes", "--cluster-port", str(self.bus)]


def _command(*words):
    encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
