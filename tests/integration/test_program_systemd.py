# SPDX-License-Identifier: Apache-2.0
"""Started by systemd: its sockets are used, and it is told how we are."""

import re
import signal
import socket
import struct
import sys

import pytest

from harness.client import PATIENCE, eventually, free_port
from harness.program import needs_root, open_folder, start_open  # noqa: F401

# Words before the executable that do what systemd does with a socket unit, for SPEC = fd source, ...
ACTIVATE = """
import os, socket, sys
port, pid, count, name = sys.argv[1:5]
if name == "file":
    sock = open("/etc/hostname")
else:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", int(port)))
    if name == "listening":
        sock.listen(16)
os.dup2(sock.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS=count, LISTEN_PID=pid.replace("SELF", str(os.getpid())))
os.execv(sys.argv[5], sys.argv[5:])
"""
USERS = ["", pytest.param("User nobody", marks=needs_root)]


def activate(port, pid="SELF", count="1", kind="listening"):
    return [sys.executable, "-c", ACTIVATE, str(port), pid, count, kind]


class Manager:
    """The end of NOTIFY_SOCKET that systemd has."""

    def __init__(self, address):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.sock.settimeout(30)
        self.sock.bind(address)

    def next(self):
        """What is said next and by whom."""
        text, more, _, _ = self.sock.recvmsg(1024, socket.CMSG_SPACE(12))
        pid = struct.unpack("3i", more[0][2])[0]
        return text.decode(), pid


@pytest.fixture(params=["path", "abstract"])
def manager(request, open_folder):  # noqa: F811
    path = str(open_folder / "notify")
    manager = Manager(path if request.param == "path" else "\0" + path)
    if request.param == "path":
        (open_folder / "notify").chmod(0o777)
    manager.name = path if request.param == "path" else "@" + path
    yield manager
    manager.sock.close()


@pytest.mark.parametrize("user", USERS)
def test_states_are_told_by_the_main_process(start_open, manager, user):  # noqa: F811
    server = start_open(server=user, wrapper=["env", f"NOTIFY_SOCKET={manager.name}"])
    assert manager.next() == ("READY=1", server.pid)
    server.reload()
    text, pid = manager.next()
    assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", text) and pid == server.pid
    assert manager.next() == ("READY=1", server.pid)
    server.signal(signal.SIGTERM)
    assert manager.next() == ("STOPPING=1", server.pid)


@pytest.mark.parametrize("user", USERS)
def test_broken_reload_ends_the_reload_and_shows_why(start_open, manager, user):  # noqa: F811
    server = start_open(server=user, wrapper=["env", f"NOTIFY_SOCKET={manager.name}"])
    manager.next()
    server.reload(server=f"{user}\nTiemout 5", expect="stays in force")
    assert manager.next()[0].startswith("RELOADING=1")
    assert re.fullmatch(r'STATUS=reload failed: .*unknown key "Tiemout".*', manager.next()[0])
    assert manager.next()[0] == "READY=1"
    server.reload(server=user)
    assert manager.next()[0].startswith("RELOADING=1")
    assert [manager.next()[0] for _ in range(2)] == ["STATUS=", "READY=1"]


def test_nobody_listens_to_what_is_told(start_open, open_folder):  # noqa: F811
    for name in (open_folder / "none", "@none", "relative", "", "/" + "x" * 200):
        start_open(wrapper=["env", f"NOTIFY_SOCKET={name}"])


@pytest.mark.parametrize("scheduler", ["Fair", "ReusePort"])
@pytest.mark.parametrize("user", USERS)
def test_inherited_socket_is_used(start_open, user, scheduler):  # noqa: F811
    port = free_port()
    server = start_open(server=f"Listen 127.0.0.1:{port}\nScheduler {scheduler}\n{user}", files={"a.txt": "text"},
                        wrapper=activate(port))
    assert server.port == port
    assert "inherited=yes" in server.log()
    for _ in range(5):
        assert server.get("/a.txt").text == "text"


def test_inherited_socket_survives_a_reload(start_open):  # noqa: F811
    port = free_port()
    lines = f"Listen 127.0.0.1:{port}"
    server = start_open(server=lines, files={"a.txt": "text"}, wrapper=activate(port))
    server.reload(server=lines, host="Header X-Version 2")
    assert server.get("/a.txt").header("X-Version") == "2"


def test_keeper_closes_a_removed_address_beside_an_inherited_one(start_open):  # noqa: F811
    """The server passes no socket to be kept then, so none that it passed before may stay."""
    port, other = free_port(), free_port()
    lines = f"Restart on\nListen 127.0.0.1:{port}"
    server = start_open(server=f"{lines}\nListen 127.0.0.1:{other}", files={"a.txt": "text"}, wrapper=activate(port))
    server.wait_for_log("started workers=")
    server.reload(expect="configuration reloaded", server=lines)

    def is_refused():
        try:
            socket.create_connection(("127.0.0.1", other), timeout=PATIENCE).close()
            return False
        except ConnectionRefusedError:
            return True

    assert eventually(is_refused)
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("kwargs", [dict(pid="1"), dict(pid=""), dict(pid="SELFx"), dict(count="0"), dict(count="-1"),
                                    dict(count="x")])
def test_sockets_of_somebody_else_are_left_alone(start_open, kwargs):  # noqa: F811
    server = start_open(files={"a.txt": "text"}, wrapper=activate(0, **kwargs))
    assert "inherited" not in server.log()
    assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("kind", ["file", "bound"])
def test_descriptor_that_is_no_listening_socket(start_open, kind):  # noqa: F811
    server = start_open(files={"a.txt": "text"}, wrapper=activate(0, kind=kind))
    assert "descriptor 3 from systemd is not a listening stream socket" in server.log()
    assert server.get("/a.txt").text == "text"


def test_more_sockets_promised_than_given(start_open):  # noqa: F811
    port = free_port()
    server = start_open(server=f"Listen 127.0.0.1:{port}", files={"a.txt": "text"},
                        wrapper=activate(port, count="2000000000"))
    assert server.get("/a.txt").text == "text"
