# SPDX-License-Identifier: Apache-2.0
"""`Listen unix:... proxy`: whom the server believes is decided by the account at the other end of the socket."""

import os
import subprocess

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import Config
from harness.program import NOBODY, as_nobody, needs_root, open_folder, start_open  # noqa: F401

pytestmark = needs_root

DAEMON = 1
ASK = b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n" + http.request("/a.txt", headers={"Connection": "close"})
CLIENT = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(30)\ns.connect(sys.argv[1])\n"
          "try:\n    s.sendall(sys.stdin.buffer.read())\n"
          "    while piece := s.recv(65536): sys.stdout.buffer.write(piece)\nexcept ConnectionError: pass\n")


def ask(path, uid, groups=()):
    """What an account gets; None: it may not even connect."""
    done = subprocess.run(["/usr/bin/python3", "-c", CLIENT, path], input=ASK, capture_output=True, timeout=40, check=False,
                          user=uid, group=uid, extra_groups=list(groups))
    if b"PermissionError" in done.stderr:
        return None
    assert done.returncode == 0, done.stderr
    return http.parse_one(done.stdout).text if done.stdout else ""


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_only_root_and_the_server_are_believed(start_open, open_folder, user):  # noqa: F811
    path = open_folder / "http.sock"
    uid = {"root": 0, "nobody": NOBODY}[user]
    server = start_open(server=f"Listen unix:{path} proxy\nUser {user}", files={"a.txt": "text"})
    found = path.stat()
    assert (found.st_mode & 0o777, found.st_uid, found.st_gid) == (0o660, uid, uid)
    assert ask(path, 0) == "text"
    assert ask(path, uid) == "text"
    assert ask(path, DAEMON) is None
    path.chmod(0o666)
    assert ask(path, DAEMON) == ""
    server.wait_for_log(f"not one of TrustedUsers uid={DAEMON}")
    server.stop()
    assert not path.exists()


def test_users_that_are_named(start_open, open_folder):  # noqa: F811
    """The file lets in the server's group, which such a user is made a member of."""
    path = open_folder / "http.sock"
    server = start_open(server=f"Listen unix:{path} proxy\nUser nobody\nTrustedUsers daemon 4711", files={"a.txt": "text"})
    for uid in (DAEMON, 4711):
        assert ask(path, uid) is None
        assert ask(path, uid, groups=[NOBODY]) == "text"
    assert ask(path, 4712, groups=[NOBODY]) == ""
    assert ask(path, 0) == ""
    server.config.write(server=f"Listen unix:{path} proxy\nUser nobody\nTrustedUsers root", files={"a.txt": "text"})
    server.reload(expect="configuration reloaded")
    assert eventually(lambda: ask(path, 0) == "text")
    assert ask(path, DAEMON, groups=[NOBODY]) == ""


def test_file_of_a_server_that_was_not_started_as_root(start_open, open_folder):  # noqa: F811
    home = open_folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    path = home / "http.sock"
    start_open(server=f"Listen unix:{path} proxy\nUser nobody", files={"a.txt": "text"}, wrapper=as_nobody())
    assert path.stat().st_mode & 0o777 == 0o660
    assert ask(path, NOBODY) == "text" and ask(path, 0) == "text"


def test_socket_without_proxy_is_for_everybody(start_open, open_folder):  # noqa: F811
    path = open_folder / "http.sock"
    start_open(server=f"Listen unix:{path}\nUser nobody", files={"a.txt": "text"})
    assert path.stat().st_mode & 0o777 == 0o666


def test_unknown_account_is_a_fault(tmp_path):
    config = Config(tmp_path)
    config.write(server="Listen unix:/tmp/none proxy\nTrustedUsers root no-such-account")
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert 'TrustedUsers: there is no account "no-such-account"' in checked.stderr and "monkey.conf:" in checked.stderr
