# SPDX-License-Identifier: Apache-2.0
"""
Servers of memcached for tests: the program itself, and one that answers as a test wants it.

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
import threading

import pytest

from harness.client import eventually

PATIENCE = 30.0


class Server:
    """memcached on a free port of loopback, which it keeps when it is started again."""

    def __init__(self, folder, name="memcached"):
        self._program = shutil.which("memcached")
        if not self._program:
            pytest.skip("memcached is not installed")
        self._ports = pathlib.Path(folder) / f"{name}.ports"
        self._process = None
        self.port = None
        self.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        self._ports.unlink(missing_ok=True)
        user = pwd.getpwuid(os.geteuid()).pw_name
        self._process = subprocess.Popen(
            [self._program, "-l", "127.0.0.1", "-p", str(self.port or -1), "-U", "0", "-t", "1", "-m", "64", "-u", user],
            env={**os.environ, "MEMCACHED_PORT_FILENAME": str(self._ports)}, stdin=subprocess.DEVNULL)
        assert eventually(self._ports.exists, within=PATIENCE), "memcached does not start"
        self.port = int(self._ports.read_text().split(":")[1])

    def ask(self, command, end=b"END\r\n"):
        """What the server answers to a command of its own protocol, up to this end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as sock:
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
        self._process.send_signal(signal.SIGSTOP)

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


class Liar:
    """Answers the first bytes on each connection with others, and then says nothing or closes."""

    def __init__(self, answer, closes=False):
        self._answer, self._closes = answer, closes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets, self._threads = [], [threading.Thread(target=self._accept)]
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(sock)
            self._threads.append(threading.Thread(target=self._serve, args=(sock,)))
            self._threads[-1].start()

    def _serve(self, sock):
        try:
            if sock.recv(65536):
                sock.sendall(self._answer)
            while not self._closes and sock.recv(65536):
                pass
        except OSError:
            pass
        sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(PATIENCE)
        for sock in self._sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads[1:]:
            thread.join(PATIENCE)
        self._listener.close()
