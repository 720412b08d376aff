# SPDX-License-Identifier: Apache-2.0
"""Syslog on: lines go to /dev/log, which is a socket of this test in a mount namespace of the server's own."""

import os
import socket

import pytest

from harness.logs import logging

# A /dev with the usual devices and our socket; then the server.
IN_OTHER_DEV = """
set -e
mount --rbind /dev "$1/dev"
mount -t tmpfs monkey-test /dev
for name in null zero full random urandom; do
    touch /dev/$name
    mount --bind "$1/dev/$name" /dev/$name
done
touch /dev/log
mount --bind "$1/socket" /dev/log
shift
exec "$@"
"""


@pytest.fixture
def syslog(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("a mount namespace needs root")
    (tmp_path / "dev").mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "socket"))
        sock.settimeout(30)
        yield sock


def test_lines_go_to_syslog(start, syslog, tmp_path):
    server = start(wrapper=["unshare", "--mount", "sh", "-c", IN_OTHER_DEV, "sh", tmp_path],
                   **logging("FlushTimeout 0\nFormat '%m %U %s'\nSyslog on", log="ErrorLog errors.log"))
    server.get("/nothing")
    messages = sorted(syslog.recv(4096).rstrip() for _ in range(2))  # musl ends them with a newline
    daemon = 3 << 3
    assert any(m.startswith(b"<%d>" % (daemon | 6)) and m.endswith(b"GET /nothing 404") for m in messages)
    assert any(m.startswith(b"<%d>" % (daemon | 4)) and b"status=404" in m for m in messages)
    server.get("/again")
    assert b"GET /again 404" in syslog.recv(4096) + syslog.recv(4096)
    assert not list(server.conf.glob("*.log"))
