# SPDX-License-Identifier: Apache-2.0
"""
Servers of memcached for tests.

    with memcached_server.Server(tmp_path) as server:
        server.ask(b"get key\\r\\n", b"END\\r\\n")
"""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess

import pytest

from harness import ports, stopped
from harness.client import eventually

PATIENCE = 30.0


class Server:
    """memcached on a free port of loopback, which it keeps when it is started again."""

    def __init__(self, folder, name="memcached", options=()):
        self._program = shutil.which("memcached")
        if not self._program:
            pytest.skip("memcached is not installed")
        self._ports, self._log = pathlib.Path(folder) / f"{name}.ports", pathlib.Path(folder) / f"{name}.log"
        self._process, self._options = None, options
        self.host = "127.0.0.1"  # another one from the next start on
        self.port = None
        ports.on_free(self._start_at)

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def _start_at(self, port):
        self.port = port
        self.start()

    def start(self):
        self._ports.unlink(missing_ok=True)
        user = pwd.getpwuid(os.geteuid()).pw_name
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [self._program, "-l", self.host, "-p", str(self.port), "-U", "0", "-t", "1", "-m", "64", "-u", user, *self._options],
                env={**os.environ, "MEMCACHED_PORT_FILENAME": str(self._ports)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        assert eventually(lambda: self._ports.exists() or self._process.poll() is not None, within=PATIENCE), "memcached does not start"
        assert self._process.poll() is None, self._log.read_text()

    def ask(self, command, end=b"END\r\n"):
        """What the server answers to a command of its own protocol, up to this end."""
        with socket.create_connection((self.host, self.port), timeout=PATIENCE) as sock:
            sock.sendall(command)
            answer = b""
            while not answer.endswith(end):
                piece = sock.recv(65536)
                assert piece, "memcached closed the connection"
                answer += piece
            return answer

    def count(self, name):
        """A number of its statistics."""
        for line in self.ask(b"stats\r\n").decode().splitlines():
            if line.split()[1:2] == [name]:
                return int(line.split()[2])
        raise KeyError(name)

    def pause(self):
        """Stop it; it answers nothing that is sent from now on."""
        stopped.stop(self._process)

    def go_on(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        self._process.kill()
        self._process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.kill()
