# SPDX-License-Identifier: Apache-2.0
"""What a proxied request costs in system calls, seen by strace."""

import pytest

from harness import process, system_calls
from harness.backend import Backend, configured

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")
REQUESTS = 40


def calls_of(start, tmp_path, each, ask):
    with Backend(each=each) as backend:
        return system_calls.count(start, tmp_path / "calls", ask, REQUESTS, **configured("", backend))


def check(counts, **most):
    slack = 5
    for name, number in most.items():
        assert counts.pop(name, 0) <= number * REQUESTS + slack, name
    assert sum(counts.values()) <= slack, counts


@pytest.mark.parametrize("method, body, size", [("GET", b"", 13), ("GET", b"", 8000), ("POST", b"x" * 1000, 13)])
def test_a_small_one_is_read_and_sent_once_each_way(start, tmp_path, method, body, size):
    def ask(client):
        assert len(client.request("/", method, body=body).body) == size

    # The third read looks whether the kept connection is quiet. A turn of the loop more is the machine's: it may wake us between two events that come together when it is quiet.
    check(calls_of(start, tmp_path, lambda c, q: c.answer(b"x" * size), ask), recv=3, send=2, epoll_wait=3)


def test_a_large_one_is_spliced(start, tmp_path):
    def ask(client):
        assert len(client.request("/").body) == 200_000

    counts = calls_of(start, tmp_path, lambda c, q: c.answer(b"x" * 200_000), ask)
    assert counts["splice"] >= 2 * REQUESTS
    check(counts, recv=4, send=2, splice=16, epoll_wait=12)
