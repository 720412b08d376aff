# SPDX-License-Identifier: Apache-2.0
"""Workers of a server that do not come back to their loop, and its end from within one of them."""

import ctypes
import os
import pathlib
import signal

_libc = ctypes.CDLL(None)

WORKER = "mk-worker-"
AT_REST = ("", "0", "ep_poll")  # where the kernel has a worker that waits for events; or it does not say


def _is_busy(task):
    """Does it run, or wait for something else than events?"""
    state = (task / "stat").read_text().rpartition(") ")[2][:1]
    return state == "R" or (state in "SD" and (task / "wchan").read_text().strip() not in AT_REST)


def busy_workers(pid):
    """The numbers of the threads of workers that are in a call just now."""
    found = set()
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            if (task / "comm").read_text().startswith(WORKER) and _is_busy(task):
                found.add(int(task.name))
        except OSError:  # it has ended, or may not be looked at
            continue
    return found


def abort(pid, thread):
    """Let this thread report what it does (CrashReport) and end the process."""
    if hasattr(_libc, "tgkill"):
        _libc.tgkill(pid, thread, int(signal.SIGABRT))
    else:
        os.kill(pid, signal.SIGABRT)
