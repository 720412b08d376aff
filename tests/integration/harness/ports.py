# SPDX-License-Identifier: Apache-2.0
"""
Ports of servers that are told one and cannot choose it themselves.

    ports.on_free(lambda port: Server(port).start())
"""

import contextlib
import os
import pathlib

from harness.client import free_ports
from harness.program import children

ATTEMPTS = 5
LISTENS = "0A"  # a state in /proc/net/tcp


def on_free(start, number=1):
    """
    What start(*ports) returns. A port may be taken until the server binds it: a start whose AssertionError
    says so, which has what the server said, is tried again with others.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return start(*free_ports(number))
        except AssertionError as error:
            if not left or "address already in use" not in str(error).lower():
                raise


def listens(pid, port):
    """Whether it is this process, or a child of it, that listens there: another server may answer."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    sockets = {f"socket:[{words[9]}]" for words in map(str.split, lines)
               if words[3] == LISTENS and int(words[1].partition(":")[2], 16) == port}
    with contextlib.suppress(OSError):  # it has ended
        return any(os.readlink(link) in sockets for each in [pid, *children(pid)] for link in os.scandir(f"/proc/{each}/fd"))
    return False
