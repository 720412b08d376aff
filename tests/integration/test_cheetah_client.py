# SPDX-License-Identifier: Apache-2.0
"""The client of the shell."""

import json
import os
import pathlib
import pty
import stat
import subprocess

import pytest

from harness import process
from harness.shell import ask, configured, read_until

pytestmark = pytest.mark.once("a program in Python")

CLIENT = pathlib.Path(process.binary()).parent / "tools" / "cheetah"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("cheetah") / "shell"


@pytest.fixture
def server(start_shared, place, shared_servers):
    running = shared_servers[0] if shared_servers else start_shared(**configured(place))
    ask(place, "uptime")
    return running


def client(*arguments, text=None, **env):
    return subprocess.run([CLIENT, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=30,
                          env={**process.environment(), **env}, check=False)


def test_client_asks_one_command(server, place):
    asked = client("-s", place, "loglevel")
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, "level: info\n", "")
    assert json.loads(client("-s", place, "status", "--json").stdout)["pid"] == server.pid


def test_client_tells_failure(server, place, tmp_path):
    asked = client("-s", place, "statsu")
    assert (asked.returncode, asked.stdout) == (1, 'error: unknown command "statsu"; did you mean "status"?\n')
    assert client("-s", place, "statsu", "--json").returncode == 1
    asked = client("-s", tmp_path / "none", "status")
    assert asked.returncode == 1 and "No such file" in asked.stderr
    assert client("-s", place, "status\nquit").returncode == 1
    assert client("-s", place, "x" * 2000).returncode == 1
    assert client("--frob").returncode == 2


def test_client_reads_lines_of_a_pipe(server, place):
    asked = client("-s", place, text="loglevel\n\nloglevel --json\nquit\nstatus\n")
    assert (asked.returncode, asked.stdout) == (0, 'level: info\n{"level": "info"}\n')
    assert client("-s", place, text="what\nloglevel\n").returncode == 1


def test_client_has_help(server):
    asked = client("--help")
    assert asked.returncode == 0 and "--socket" in asked.stdout


def test_client_converses_and_remembers(server, place, tmp_path):
    ours, theirs = pty.openpty()
    env = {**process.environment(), "XDG_STATE_HOME": str(tmp_path), "TERM": "dumb"}
    talk = subprocess.Popen([CLIENT, "-s", str(place)], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    read_until(ours, b"monkey> ")
    os.write(ours, b"loglevel\n")
    read_until(ours, b"level: info\r\n")
    os.write(ours, b"quit\n")
    assert talk.wait(30) == 0
    os.close(ours)
    os.close(theirs)
    if b"el_gets" in CLIENT.read_bytes():
        history = tmp_path / "monkey" / "cheetah_history"
        assert "loglevel" in history.read_text()
        assert stat.S_IMODE(history.stat().st_mode) == 0o600
