# SPDX-License-Identifier: Apache-2.0
"""-D: the command returns when the server serves, or says why it does not."""

import os
import signal

import pytest

from harness.client import Connection, eventually
from harness.program import Daemon, children, needs_root, open_folder, serving_pid  # noqa: F401


def get(daemon, target="/a.txt"):
    with Connection(("127.0.0.1", daemon.port)) as connection:
        return connection.request(target)


def assert_detached(pid, session):
    for fd in (0, 1, 2):
        assert os.readlink(f"/proc/{pid}/fd/{fd}") == "/dev/null"
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == session != os.getsid(0)


def test_serves_when_the_command_returns(tmp_path):
    with Daemon(tmp_path, files={"a.txt": "text"}) as daemon:
        assert daemon.parent.returncode == 0, daemon.parent.stderr
        assert get(daemon).text == "text"
        assert_detached(daemon.pid, daemon.pid)
    assert not daemon.pid_file.exists()


@needs_root
def test_with_a_keeper(open_folder):  # noqa: F811
    with Daemon(open_folder, server="User nobody", files={"a.txt": "text"}) as daemon:
        assert daemon.parent.returncode == 0, daemon.parent.stderr
        assert get(daemon).text == "text"
        assert_detached(daemon.pid, daemon.pid)
        assert_detached(serving_pid(daemon.pid), daemon.pid)


@pytest.mark.parametrize("server, reason", [
    ("Tiemout 5", "Tiemout"),
    ("User nobody-of-that-name", "nobody-of-that-name"),
    ("PidFile /nowhere/at/all.pid", "/nowhere/at/all.pid"),
    ("ErrorLog /nowhere/at/all.log", "/nowhere/at/all.log"),
])
def test_reason_of_a_failure(tmp_path, server, reason):
    class Failing(Daemon):
        def write(self, server="", **config):
            self.config.write(server=server, **config)

    with Failing(tmp_path, server=server) as daemon:
        assert daemon.parent.returncode == 1
        assert reason in daemon.parent.stderr


def test_port_in_use(tmp_path, start):
    taken = start()
    with Daemon(tmp_path, server=f"Listen 127.0.0.1:{taken.port}") as daemon:
        assert daemon.parent.returncode == 1
        assert str(taken.port) in daemon.parent.stderr
        assert not daemon.pid_file.exists()


@needs_root
def test_port_in_use_with_a_keeper(open_folder, start):  # noqa: F811
    taken = start()
    with Daemon(open_folder, server=f"Listen 127.0.0.1:{taken.port}\nUser nobody") as daemon:
        assert daemon.parent.returncode == 1
        assert str(taken.port) in daemon.parent.stderr
        assert not daemon.pid_file.exists()


def test_relative_configuration_survives_a_reload(tmp_path):
    """The daemon works in / while its names were said elsewhere."""
    with Daemon(tmp_path, cwd=tmp_path, configdir="conf", host="Header X-Version 1", files={"a.txt": "text"}) as daemon:
        assert get(daemon).header("X-Version") == "1"
        daemon.write(host="Header X-Version 2")
        daemon.signal(signal.SIGHUP)
        assert eventually(lambda: get(daemon).header("X-Version") == "2")


def test_broken_reload_keeps_serving(tmp_path):
    with Daemon(tmp_path, files={"a.txt": "text"}) as daemon:
        daemon.write("Tiemout 5")
        daemon.signal(signal.SIGHUP)
        daemon.signal(signal.SIGUSR1)  # handled after it
        assert eventually(lambda: "reopened" in daemon.log())
        assert get(daemon).text == "text"
