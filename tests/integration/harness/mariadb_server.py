# SPDX-License-Identifier: Apache-2.0
"""
Servers of MariaDB for tests: one data folder is made in a session, each server has a copy, a port and a Unix socket.

    with mariadb_server.start() as database:
        database.sql("SELECT 1")  # "1"
"""

import contextlib
import functools
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from harness import duda, ports, stopped
from harness.client import eventually

READY = 60  # seconds, under sanitizers and beside other tests
SIZES = ("--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--key-buffer-size=64K")
QUICK = ("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--performance-schema=OFF", "--skip-name-resolve",
         "--max-connections=40", "--innodb-use-native-aio=0")
USER = pwd.getpwuid(os.geteuid()).pw_name


@functools.cache
def _program(name):
    """Without one the test is skipped."""
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    return found or pytest.skip("there is no MariaDB")


@functools.cache
def _room():
    """A folder of the session, with a short name for sockets."""
    return tempfile.TemporaryDirectory(prefix="monkey-mariadb-")


@functools.cache
def _pattern():
    """A data folder as it is installed, which takes seconds."""
    folder, scratch = pathlib.Path(_room().name, "pattern"), pathlib.Path(_room().name, "scratch")
    folder.mkdir()
    scratch.mkdir()
    subprocess.run([_program("mariadb-install-db"), "--no-defaults", f"--datadir={folder}", f"--user={USER}", "--skip-test-db",
                    "--auth-root-authentication-method=normal", f"--tmpdir={scratch}", *SIZES],
                   check=True, timeout=READY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


class Server:
    """A server with a data folder of its own; it may be started again at the same port."""

    def __init__(self, *options):
        pattern = _pattern()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="data-", dir=_room().name))
        self.socket = self.folder / "socket"
        shutil.copytree(pattern, self.folder / "data")
        (self.folder / "tmp").mkdir()  # a server that starts removes temporary tables of others from a shared one
        self.options = options
        self.port = None
        self.process = None

    def start(self):
        if self.port:
            return self._start_at(self.port)
        return ports.on_free(self._start_at)

    def _start_at(self, port):
        self.port = port
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [_program("mariadbd"), "--no-defaults", f"--user={USER}", f"--datadir={self.folder / 'data'}",
                 f"--socket={self.socket}", f"--port={self.port}", "--bind-address=127.0.0.1",
                 f"--pid-file={self.folder / 'pid'}", f"--tmpdir={self.folder / 'tmp'}", *SIZES, *QUICK, *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        assert eventually(self._is_ready, within=READY), self.text()
        return self

    def text(self):
        return (self.folder / "log").read_text()

    def _is_ready(self):
        assert self.process.poll() is None, self.text()
        if not ports.listens(self.process.pid, self.port):
            return False
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=READY) as sock:
            return bool(sock.recv(1))
        return False

    def sql(self, text, *options):
        """What the client prints."""
        done = subprocess.run([_program("mariadb"), "--no-defaults", "-NB", "-h127.0.0.1", f"-P{self.port}", "-uroot", *options, "-e", text],
                              check=False, timeout=READY, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def connections(self):
        """Those beside that which asks."""
        return int(self.sql("SELECT count(*) - 1 FROM information_schema.processlist WHERE user = 'root'"))

    def is_asked(self, text):
        return self.sql(f"SELECT count(*) FROM information_schema.processlist WHERE info LIKE '{text}%'") != "0"

    def cancel(self, text):
        """The queries that begin so."""
        for each in self.sql(f"SELECT id FROM information_schema.processlist WHERE info LIKE '{text}%'").split():
            with contextlib.suppress(AssertionError):  # it is over
                self.sql(f"KILL QUERY {each}")

    def pause(self):
        stopped.stop(self.process)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(READY)
        self.process = None

    def stop(self):
        """In order."""
        self.process.terminate()
        self.process.wait(READY)
        self.process = None

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def start(*options):
    server = Server(*options)
    try:
        yield server.start()
    finally:
        server.close()


def serve(start, folder, database, source, level, *flags, names=("db",)):
    """A server of one worker with services of tests/integration/duda that use this database."""
    own = (f"-DDB_PORT={database.port}", f'-DDB_SOCKET="{database.socket}"',
           f'-DDB_FOLDER="{database.folder}"')
    return duda.serve_package(start, folder, "mariadb", source, level, *own, *flags, names=names)
