# SPDX-License-Identifier: Apache-2.0
"""What a proxied request costs in system calls, seen by strace."""

import re

import pytest

from harness import process
from harness.backend import Backend, configured
from harness.tools import require

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")
REQUESTS = 40
KINDS = {"sendto": "send", "sendmsg": "send", "recvfrom": "recv", "epoll_pwait": "epoll_wait",
         "epoll_pwait2": "epoll_wait"}


def calls_of(start, tmp_path, each, ask):
    """The worker's calls for REQUESTS requests on one connection, once all is warm: name -> how often."""
    out = tmp_path / "calls"
    with Backend(each=each) as backend:
        server = start(wrapper=[require("strace"), "-D", "-f", "-o", out], server="Workers 1", **configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                ask(client)
            before = out.stat().st_size
            for _ in range(REQUESTS):
                ask(client)
            seen = out.read_bytes()[before:].decode(errors="replace")
        server.stop()
    counts = {}
    for name in re.findall(r"^\d+ +(\w+)\(", seen, re.M):
        name = KINDS.get(name, name)
        counts[name] = counts.get(name, 0) + 1
    return counts


def check(counts, **most):
    slack = 5
    for name, number in most.items():
        assert counts.pop(name, 0) <= number * REQUESTS + slack, name
    assert sum(counts.values()) <= slack, counts


@pytest.mark.parametrize("method, body, size", [("GET", b"", 13), ("GET", b"", 8000), ("POST", b"x" * 1000, 13)])
def test_a_small_one_is_read_and_sent_once_each_way(start, tmp_path, method, body, size):
    def ask(client):
        assert len(client.request("/", method, body=body).body) == size

    # A turn of the loop more is the machine's: it may wake us between two events that come together when it is quiet.
    check(calls_of(start, tmp_path, lambda c, q: c.answer(b"x" * size), ask), recv=2, send=2, epoll_wait=3)


def test_a_large_one_is_spliced(start, tmp_path):
    def ask(client):
        assert len(client.request("/").body) == 200_000

    counts = calls_of(start, tmp_path, lambda c, q: c.answer(b"x" * 200_000), ask)
    assert counts["splice"] >= 2 * REQUESTS
    check(counts, recv=4, send=2, splice=16, epoll_wait=12)
