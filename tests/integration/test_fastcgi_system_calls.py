# SPDX-License-Identifier: Apache-2.0
"""What a FastCGI request costs in system calls, seen by strace."""

import pytest

from harness import fastcgi, process, system_calls

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")
REQUESTS = 40
# To the application it writes and reads by calls that are not for sockets alone.
KINDS = {**system_calls.KINDS, "write": "send", "writev": "send", "read": "recv", "readv": "recv"}


def calls_of(start, tmp_path, application, ask):
    config = fastcgi.config(application, location="KeepAlive on", match=r"\.php(/|$)", files={"a.php": "<?php"})
    return system_calls.count(start, tmp_path / "calls", ask, REQUESTS, KINDS, **config)


def check(counts, sends, receives):
    slack = 5  # the script is looked for once a second
    assert counts.pop("send", 0) <= sends * REQUESTS + slack
    assert counts.pop("recv", 0) <= receives * REQUESTS + slack
    assert counts.pop("epoll_wait", 0) <= 3 * REQUESTS + slack  # two when the machine is quiet
    assert sum(counts.values()) <= 20, counts


@pytest.mark.parametrize("size", [0, 200, 15000])
def test_a_get_is_two_reads_a_look_and_two_writes(start, tmp_path, size):
    def ask(connection):
        answer = connection.request("/a.php")
        assert (answer.status, len(answer.body), answer.framing) == (200, size, "length")

    with fastcgi.Application(lambda call: call.answer(b"x" * size), path=tmp_path / "s") as application:
        check(calls_of(start, tmp_path, application, ask), sends=2, receives=3)


def test_a_post_is_two_reads_a_look_and_two_writes(start, tmp_path):
    def ask(connection):
        assert connection.request("/a.php", "POST", body=b"x" * 500).body == b"x" * 500

    with fastcgi.Application(lambda call: call.answer(call.body()), path=tmp_path / "s") as application:
        check(calls_of(start, tmp_path, application, ask), sends=2, receives=3)
