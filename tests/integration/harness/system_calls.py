# SPDX-License-Identifier: Apache-2.0
"""What requests cost in system calls, counted by strace."""

import re

from harness import tools

# Calls that differ in how they are given what they are for.
KINDS = {"sendto": "send", "sendmsg": "send", "recvfrom": "recv", "epoll_pwait": "epoll_wait", "epoll_pwait2": "epoll_wait"}


def count(start, out, ask, requests, kinds=KINDS, **config):
    """
    The calls of a server for so many times ask(connection), on one connection and once all is warm: name -> how often.
    out: where strace may write. The server is one of one worker, and has ended then.
    """
    server = start(wrapper=[tools.require("strace"), "-D", "-f", "-o", out], server="Workers 1", **config)
    with server.connect() as connection:
        for _ in range(3):
            ask(connection)
        before = out.stat().st_size
        for _ in range(requests):
            ask(connection)
        seen = out.read_bytes()[before:].decode(errors="replace")
    server.stop()
    counts = {}
    for name in re.findall(r"^\d+ +(\w+)\(", seen, re.M):
        name = kinds.get(name, name)
        counts[name] = counts.get(name, 0) + 1
    return counts
