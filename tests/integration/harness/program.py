# SPDX-License-Identifier: Apache-2.0
"""The program around the server: daemons, the two processes below root, free low ports."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile

import pytest

from harness import process
from harness.client import PATIENCE, eventually
from harness.config import Config

NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def _is_open(folder):
    """May everybody enter it and all above it?"""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (folder, *folder.parents))


def as_nobody():
    """Words before an executable of the tree that make it run as nobody, from any interpreter that only root can read."""
    if not _is_open(pathlib.Path(process.binary()).resolve().parent):
        pytest.skip("nobody may not enter the folder of this tree")
    return [sys.executable, "-c", "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
            "os.execv(sys.argv[1], sys.argv[1:])"]


@contextlib.contextmanager
def _folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="monkey-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def open_folder():
    """A folder that every user may enter, unlike pytest's own."""
    with _folder() as folder:
        yield folder


@pytest.fixture
def start_open(open_folder):
    """Like `start`, but for servers that become another user, whose files that user must reach."""
    with process.starter(open_folder) as start:
        yield start


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def serving_pid(keeper):
    """The one child of a keeper."""
    found = children(keeper)
    assert len(found) == 1, found
    return found[0]


def status(pid):
    """The fields of /proc/PID/status."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def free_low_port():
    """A port that only root may bind, usually."""
    for port in range(1023, 511, -1):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    pytest.skip("no low port is free")


class Daemon:
    """A server in the background; `with Daemon(...) as daemon` ends it by its pid."""

    def __init__(self, folder, arguments=(), server="", cwd=None, configdir=None, **config):
        self.folder = folder
        self.pid_file = folder / "run.pid"
        self.error_log = folder / "error.log"
        self.config = Config(folder)
        self._lines = f"PidFile {self.pid_file}\nErrorLog {self.error_log}\n"
        self.write(server, **config)
        self.parent = process.run("--configdir", configdir or self.config.folder, "--daemon", *arguments, cwd=cwd)
        self.pid = int(self.pid_file.read_text()) if self.parent.returncode == 0 else None

    def write(self, server="", **config):
        self.config.write(server=self._lines + server, **config)

    def log(self):
        return self.error_log.read_text()

    @property
    def port(self):
        return int(re.findall(r"listening address=\S+:(\d+)", self.log())[-1])

    def signal(self, number):
        os.kill(self.pid, number)

    def has_ended(self, within=PATIENCE):
        return eventually(lambda: not is_alive(self.pid), within=within)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid and is_alive(self.pid):
            self.signal(signal.SIGTERM)
            if not self.has_ended():
                self.signal(signal.SIGKILL)
                raise AssertionError("the daemon does not end")
