# SPDX-License-Identifier: Apache-2.0
"""
TCP Fast Open (RFC 7413): a client that was here before sends its request in the SYN.

In a network namespace of the test's own, where net.ipv4.tcp_fastopen may be switched on. The first connection gets a
cookie, the second one uses it; the kernel counts both.
"""

import pathlib
import socket

import pytest

from harness import http, tools
from harness.variants import SCHEDULERS


def counters():
    """TcpExt of this thread's network namespace."""
    names, values = [line.split()[1:] for line in pathlib.Path("/proc/thread-self/net/netstat").read_text().splitlines()
                     if line.startswith("TcpExt:")]
    return dict(zip(names, map(int, values)))


def ask_in_the_syn(port):
    with socket.socket() as sock:
        # Blocking, so that without a cookie the call waits for the ordinary handshake.
        sock.sendto(http.request("/a.txt", headers={"Connection": "close"}), socket.MSG_FASTOPEN, ("127.0.0.1", port))
        sock.settimeout(30)
        return http.parse_one(b"".join(iter(lambda: sock.recv(65536), b""))).text


def ask_twice(start, lines):
    """-> (the two answers, connections whose data came in the SYN)"""
    def work():
        pathlib.Path("/proc/sys/net/ipv4/tcp_fastopen").write_text("3")
        server = start(server=lines, files={"a.txt": "text"})
        before = counters()["TCPFastOpenPassive"]
        answers = [ask_in_the_syn(server.port), ask_in_the_syn(server.port)]
        passive = counters()["TCPFastOpenPassive"] - before
        server.stop()
        return answers, passive

    return tools.in_network_namespace(work)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_request_in_the_syn_is_answered(start, scheduler):
    answers, passive = ask_twice(start, f"Scheduler {scheduler}\nTCPFastOpen on")
    assert answers == ["text", "text"]
    assert passive == 1, "the second connection did not bring its data in the SYN"


def test_off_means_an_ordinary_handshake(start):
    answers, passive = ask_twice(start, "TCPFastOpen off")
    assert answers == ["text", "text"]
    assert passive == 0
