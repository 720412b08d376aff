# SPDX-License-Identifier: Apache-2.0
"""The process that stays root: what the server may no longer do is done for it, while it serves."""

import os
import re
import shutil
import signal
import time

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import section
from harness.program import (NOBODY, free_low_port, is_alive, needs_root, open_folder, serving_pid, start_open)  # noqa: F401

pytestmark = needs_root


@pytest.fixture
def logs(open_folder):  # noqa: F811
    folder = open_folder / "logs"
    folder.mkdir(mode=0o700)
    return folder


def has(path, text, count=1):
    return eventually(lambda: path.exists() and path.read_text().count(text) == count)


def test_reload_with_a_new_log_and_a_new_low_port(start_open, logs):  # noqa: F811
    server = start_open(server="User nobody", files={"a.txt": "text"})
    port = free_low_port()
    server.config.write(server=f"Listen 127.0.0.1:{port}\nErrorLog {logs}/new.log\nUser nobody",
                        files={"a.txt": "text"})
    server.signal(signal.SIGHUP)
    assert has(logs / "new.log", "configuration reloaded")
    with server.connect(("127.0.0.1", port)) as connection:
        assert connection.request("/a.txt").text == "text"


def test_reload_reads_what_only_root_may(start_open):  # noqa: F811
    server = start_open(server="User nobody")
    server.config.write(server="User nobody", host="@INCLUDE ../secret.conf", files={"a.txt": "text"},
                        extra={"secret.conf": "[HOST]\n    Header X-Version 2\n"})
    text = (server.conf / "sites/default").read_text().replace("    @INCLUDE", "@INCLUDE")
    (server.conf / "sites/default").write_text(text)
    secret = server.conf / "secret.conf"
    secret.write_text("# for root's eyes\n")
    secret.chmod(0o600)
    (server.conf / "monkey.conf").chmod(0o600)
    server.reload(expect="configuration reloaded")
    assert server.get("/a.txt").status == 200


def test_reload_with_what_was_removed_meanwhile(start_open):  # noqa: F811
    server = start_open(server="User nobody", files={"a.txt": "text"})
    (server.conf / "monkey.conf").unlink()
    assert "stays in force" in server.reload(expect="stays in force")
    assert server.get("/a.txt").text == "text"


def test_logs_are_reopened_where_only_root_may_write(start_open, logs):  # noqa: F811
    log = logs / "a.log"
    server = start_open(server=f"ErrorLog {log}\nUser nobody", wait=False)
    assert has(log, "started")
    log.rename(logs / "old.log")
    server.signal(signal.SIGUSR1)
    assert has(log, "logs reopened")
    assert log.stat().st_mode & 0o777 == 0o640


def test_many_reloads_leave_nothing_behind(start_open):  # noqa: F811
    server = start_open(server="User nobody")
    server.reload(expect="configuration reloaded")
    before = server.open_descriptors()
    for _ in range(20):
        server.reload(expect="configuration reloaded")
    # The keeper drops the sockets of the old configuration after the server has logged the reload.
    assert eventually(lambda: server.open_descriptors() <= before)


def test_serves_on_when_the_keeper_is_killed_and_then_ends(start_open):  # noqa: F811
    server = start_open(server="User nobody", handlers="Match ^/echo echo")
    serving = serving_pid(server.pid)
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Content-Length": "10"}) + b"hello")
        time.sleep(0.1)
        server.kill()
        server.wait_for_log("the keeper exited")
        connection.send(b"world")
        assert connection.response("POST").body.endswith(b"helloworld")
    assert eventually(lambda: not is_alive(serving))


def test_end_of_the_server_ends_the_keeper(start_open, open_folder):  # noqa: F811
    pid_file = open_folder / "run.pid"
    server = start_open(server=f"User nobody\nRestart off\nPidFile {pid_file}")
    os.kill(serving_pid(server.pid), signal.SIGKILL)
    assert server.expect_exit() == 128 + signal.SIGKILL
    assert f"signal {int(signal.SIGKILL)}" in server.log()
    assert not pid_file.exists()


def test_server_that_hangs_is_ended_by_force(start_open):  # noqa: F811
    server = start_open(server="User nobody")
    serving = serving_pid(server.pid)
    os.kill(serving, signal.SIGSTOP)
    for _ in range(3):
        server.signal(signal.SIGTERM)
        time.sleep(0.1)
    assert server.expect_exit(5) == 128 + signal.SIGKILL
    assert not is_alive(serving)


def test_socket_file_for_everybody_that_goes_at_the_end(start_open, open_folder):  # noqa: F811
    path = open_folder / "http.sock"
    server = start_open(server=f"Listen unix:{path}\nUser nobody", files={"a.txt": "text"})
    assert path.stat().st_mode & 0o777 == 0o666
    with server.connect(str(path)) as connection:
        assert connection.request("/a.txt").text == "text"
    server.stop()
    assert not path.exists()


@pytest.mark.parametrize("group", ["", "Group daemon"])
def test_socket_file_that_a_killed_keeper_left(start_open, open_folder, group):  # noqa: F811
    """Only root may remove it from its folder, so the keeper of the next server does."""
    path = open_folder / "http.sock"
    lines = f"Listen unix:{path}\nUser nobody" if not group else "User nobody"
    shell = {} if not group else {"plugins.load": section("PLUGINS", "Load cheetah"),
                                  "plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {path}\n{group}")}
    server = start_open(server=lines, extra=shell)
    server.wait_for_log("started workers", within=30)
    serving = serving_pid(server.pid)
    server.kill()
    os.kill(serving, signal.SIGKILL)
    assert eventually(lambda: not is_alive(serving), within=30)
    assert path.is_socket()
    second = start_open(server=lines, extra=shell)
    assert eventually(lambda: second.is_running() and "started workers" in second.log(), within=30), second.log()
    assert second.stop() is None and not path.exists()


def test_low_port_in_use(start_open):  # noqa: F811
    """The kernel would let root share the port; only --allow-shared-sockets does."""
    port = free_low_port()
    start_open(server=f"Listen 127.0.0.1:{port}\nUser nobody")
    second = start_open(server=f"Listen 127.0.0.1:{port}\nUser nobody", wait=False)
    assert second.expect_exit() == 1
    assert "another process" in second.log()
    third = start_open(server=f"Listen 127.0.0.1:{port}\nUser nobody", arguments=["-T"])
    assert third.port == port


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_rights_that_the_shipped_unit_leaves_are_enough(start_open, open_folder, logs):  # noqa: F811
    """A socket file that the keeper makes becomes the server's, which takes a right of its own."""
    unit = (process.TREE / "packaging" / "monkey.service").read_text()
    rights = re.search(r"(?m)^CapabilityBoundingSet=(.*)", unit)[1].lower().replace("cap_", "+").split()
    wrapper = ["setpriv", "--no-new-privs", f"--bounding-set=-all,{','.join(rights)}"]
    http_socket, shell = open_folder / "http.sock", open_folder / "shell"
    server = start_open(server=f"Listen 127.0.0.1:{free_low_port()}\nListen unix:{http_socket} proxy\nUser nobody\n"
                               f"ErrorLog {logs}/a.log", files={"a.txt": "text"}, wrapper=wrapper, wait=False,
                        extra={"plugins.load": section("PLUGINS", "Load cheetah"),
                               "plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {shell}\nGroup daemon")})
    assert has(logs / "a.log", "started workers"), server.log()
    assert (http_socket.stat().st_uid, http_socket.stat().st_gid) == (NOBODY, NOBODY)
    assert (shell.stat().st_uid, shell.stat().st_gid) == (NOBODY, 1)
