# SPDX-License-Identifier: Apache-2.0
"""Programs on libmonkey whose handlers ask another server, each on a socket in a folder of its own."""

import contextlib
import http.client
import random
import shutil
import socket
import subprocess

import pytest

from harness import installed
from harness.client import eventually

PATIENCE = 60.0


def _mounting(folder, **files):
    """What surrounds a program for which files of /etc have these contents."""
    words = ["unshare", "--mount", "sh", "-c"]
    for name, content in files.items():
        (folder / name).write_text(content)
    script = "".join(f"mount --bind {folder / name} /etc/{name.replace('_', '.')} && " for name in files) + 'exec "$0" "$@"'
    if not shutil.which("unshare") or subprocess.run([*words, script, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("names cannot be given to a program without rights")
    return [*words, script]


def naming(folder, lines):
    """For which /etc/hosts has these lines."""
    return _mounting(folder, hosts=lines)


@contextlib.contextmanager
def waiting_for_names(folder):
    """For which look-ups take two seconds, and find nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        address = f"127.53.{random.randrange(256)}.{random.randrange(1, 255)}"
        try:
            silent.bind((address, 53))
        except PermissionError:
            pytest.skip("port 53 needs rights")
        yield _mounting(folder, resolv_conf=f"nameserver {address}\noptions timeout:2 attempts:1\n")


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Asker(installed.Running):
    """A program that was built, whose first word is its address; it ends when its input ends."""

    def __init__(self, installation, program, folder, *words, within=()):
        self.path = folder / "asker.socket"
        self.log = folder / "asker.log"
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen([*within, program, f"unix:{self.path}", *map(str, words)], env=installation.env,
                                          stdin=subprocess.PIPE, stderr=log)
        assert eventually(self._listens, within=PATIENCE), self.log.read_text()

    def _listens(self):
        assert self.child.poll() is None, self.log.read_text()
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
            return probe.connect_ex(str(self.path)) == 0

    def connect(self):
        return contextlib.closing(Connection(self.path))

    def send(self, target):
        """A socket over which a request was sent, and whose answer is to come."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE)
        sock.connect(str(self.path))
        sock.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        return sock

    def get(self, target):
        """Status and text."""
        with self.connect() as connection:
            connection.request("GET", target)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def fields(self, target):
        with self.connect() as connection:
            connection.request("GET", target)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers
