# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/embed that have the server in a loop of their own."""

import contextlib
import pathlib
import shutil
import socket
import subprocess

import pytest

from harness import installed
from harness.client import eventually
from test_example_embed import UnixConnection

WITHIN = 60.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


class Program(installed.Running):
    def __init__(self, installation, program, folder):
        self.path = folder / "socket"
        self.child = subprocess.Popen([program, f"unix:{self.path}"], env=installation.env, stdin=subprocess.PIPE)
        assert eventually(lambda: self.child.poll() is not None or self.listens(), within=WITHIN)

    def listens(self):
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
            return probe.connect_ex(str(self.path)) == 0

    def get(self):
        with contextlib.closing(UnixConnection(self.path)) as connection:
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert answer.status == 200
            return answer.read()

    def write(self, text):
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.child.pid}/task").iterdir()))


def is_sanitized(installation):
    return "b_sanitize" in installation.chosen


def test_a_loop_with_poll_serves_between_its_own_events(installation, tmp_path):
    with Program(installation, installation.build("embed/poll.c", "monkey-web"), tmp_path) as program:
        assert program.get() == b"nothing yet\n"
        for word in (b"one\n", b"two\n"):
            program.write(word)
            assert eventually(lambda word=word: program.get() == word, within=WITHIN)
        if not is_sanitized(installation):  # which may have a thread of its own
            assert program.threads() == 1


@pytest.mark.skipif(not shutil.which("pkg-config") or subprocess.run(["pkg-config", "--exists", "libuv"], check=False).returncode,
                    reason="there is no libuv")
def test_a_loop_of_libuv_serves_beside_its_timers(installation, tmp_path):
    if installation.is_foreign():
        pytest.skip("there is no libuv for this build")
    with Program(installation, installation.build("embed/uv.c", "monkey-web libuv"), tmp_path) as program:
        first = int(program.get().split()[0])
        assert eventually(lambda: int(program.get().split()[0]) > first, within=WITHIN)
