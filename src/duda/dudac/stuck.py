# SPDX-License-Identifier: Apache-2.0
"""Workers of a server that do not come back to their loop, and its end from within one of them."""

import ctypes
import os
import pathlib
import signal

_libc = ctypes.CDLL(None)

WORKER = "mk-worker-"
AT_REST = ("", "0", "ep_poll")  # where the kernel has a worker that waits for events; or it does not say


class Busy:
    """A worker in a call: whether it waits there, and the clock ticks that it has run."""

    def __init__(self, waits, ticks):
        self.waits, self.ticks = waits, ticks


def _look(task):
    """The Busy of a thread; None: it is at rest."""
    fields = (task / "stat").read_text().rpartition(") ")[2].split()
    waits = fields[0] in "SD" and (task / "wchan").read_text().strip() not in AT_REST
    return Busy(waits, int(fields[11]) + int(fields[12])) if waits or fields[0] == "R" else None


def busy_workers(pid):
    """Thread -> Busy, of the workers that are in a call just now, or that a processor has no time for."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            busy = _look(task) if (task / "comm").read_text().startswith(WORKER) else None
        except OSError:  # it has ended, or may not be looked at
            continue
        if busy:
            found[int(task.name)] = busy
    return found


def stuck_workers(before, now):
    """
    Threads that are in both and have not only waited for a processor: those in a call for sure, the surest first. On a machine
    that is busy, one that was woken may not run for seconds.
    """
    ran = {thread: now[thread].ticks - before[thread].ticks for thread in before.keys() & now.keys()}
    return sorted((thread for thread in ran if ran[thread] > 0 or now[thread].waits), key=lambda thread: (-ran[thread], thread))


def abort(pid, thread):
    """Let this thread report what it does (CrashReport) and end the process."""
    if hasattr(_libc, "tgkill"):
        _libc.tgkill(pid, thread, int(signal.SIGABRT))
    else:
        os.kill(pid, signal.SIGABRT)
