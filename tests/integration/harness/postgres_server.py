# SPDX-License-Identifier: Apache-2.0
"""
Servers of PostgreSQL for tests: one data folder is made in a session, each server has a copy, a port and a Unix socket.

    with postgres_server.start(tmp_path) as database:
        database.uri()  # postgresql://monkey@127.0.0.1:PORT/postgres
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
import time

import pytest

from harness import duda, ports

READY = 60  # seconds, under sanitizers and beside other tests
USER = "monkey"
SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "8MB",
            "max_wal_size": "64MB", "autovacuum": "off", "max_worker_processes": "0", "max_parallel_workers": "0",
            "listen_addresses": "127.0.0.1", "logging_collector": "off", "dynamic_shared_memory_type": "mmap",
            "superuser_reserved_connections": "1", "max_connections": "40"}


@functools.cache
def programs():
    """The folder of the newest version; without one the test is skipped."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if folders:
        return folders[-1].parent
    found = shutil.which("postgres")
    if not found:
        pytest.skip("there is no PostgreSQL")
    return pathlib.Path(found).resolve().parent


@functools.cache
def _owner():
    """Whose process it is: the server refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return pytest.skip("PostgreSQL refuses root, and there is no other user")


def _as_owner():
    owner = _owner()
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}


def _give(path):
    if _owner():
        for each in [path, *path.rglob("*")]:
            os.chown(each, _owner().pw_uid, _owner().pw_gid)


@functools.cache
def _room():
    """A folder of the session: those of pytest are not open to other users."""
    room = tempfile.TemporaryDirectory(prefix="monkey-postgres-")
    pathlib.Path(room.name).chmod(0o755)
    return room


@functools.cache
def _pattern():
    """A data folder as initdb leaves it, which takes seconds."""
    folder = pathlib.Path(_room().name, "pattern")
    folder.mkdir(mode=0o700)
    _give(folder)
    subprocess.run([programs() / "initdb", "-D", folder, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
                   check=True, timeout=READY, cwd="/", stdout=subprocess.DEVNULL, **_as_owner())
    return folder


class Server:
    """A server with a data folder of its own; it may be started again at the same port."""

    def __init__(self, **settings):
        pattern = _pattern()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="data-", dir=_room().name))
        self.data, self.log = self.folder / "data", self.folder / "log"
        shutil.copytree(pattern, self.data)
        self.data.chmod(0o700)
        _give(self.folder)
        self.settings = {**SETTINGS, **settings}
        self.port = None
        self.process = None

    def uri(self, **keys):
        query = "&".join(f"{key}={value}" for key, value in keys.items())
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres" + (f"?{query}" if query else "")

    def socket_uri(self):
        return f"postgresql:///postgres?host={self.folder}&port={self.port}&user={USER}"

    def start(self):
        if self.port:
            return self._start_at(self.port)
        return ports.on_free(self._start_at)

    def _start_at(self, port):
        self.port = port
        options = [f"-c{key}={value}" for key, value in self.settings.items()]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [programs() / "postgres", "-D", self.data, f"-p{self.port}", f"-k{self.folder}", *options],
                cwd="/", stdout=log, stderr=log, stdin=subprocess.DEVNULL, **_as_owner())
        self.wait()
        return self

    def wait(self):
        """Until it takes connections."""
        deadline = time.monotonic() + READY
        while "ready" not in self._state():
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def _state(self):
        """The last line of the lock file says it."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return ""
        return lines[-1] if len(lines) >= 8 and lines[0] == str(self.process.pid) else ""

    def sql(self, text):
        """What psql prints."""
        done = subprocess.run([programs() / "psql", "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-c", text,
                               "postgres"], check=True, timeout=READY, cwd="/", capture_output=True, text=True)
        return done.stdout.strip()

    def backends(self):
        """Connections beside that which asks."""
        return int(self.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                            " AND pid <> pg_backend_pid()"))

    def _children(self):
        """Those that the server has forked have sessions of their own."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            return [int(pid) for pid in text.split()]
        return []

    def signal(self, number):
        """The server and its children."""
        for pid in [self.process.pid, *self._children()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """At once, with its children."""
        if self.process and self.process.poll() is None:
            self.signal(signal.SIGSTOP)  # or it would fork others meanwhile
            self.signal(signal.SIGKILL)
            self.process.wait(READY)
        self.process = None

    def stop(self):
        """In order, but without waiting for clients."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(READY)
        self.process = None

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


    def secure(self, pair):
        """Speak TLS too, with this certificate: the server takes no key that others could read."""
        for name, path in (("server.crt", pair.chain), ("server.key", pair.key)):
            shutil.copy(path, self.folder / name)
            (self.folder / name).chmod(0o600)
        _give(self.folder)
        self.settings.update(ssl="on", ssl_cert_file=self.folder / "server.crt", ssl_key_file=self.folder / "server.key")


@contextlib.contextmanager
def start(pair=None, **settings):
    server = Server(**settings)
    try:
        if pair:
            server.secure(pair)
        yield server.start()
    finally:
        server.close()


def serve(start, folder, database, source, level, *flags, names=("db",), uri=None):
    """A server of one worker with services of tests/integration/duda that use this database."""
    return duda.serve_package(start, folder, "postgresql", source, level, f'-DDATABASE="{uri or database.uri()}"',
                              f'-DDB_PORT="{database.port}"', *flags, names=names)
