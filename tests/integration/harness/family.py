# SPDX-License-Identifier: Apache-2.0
"""The processes below a server: who is alive, who is a zombie, what they use."""

import os
import pathlib
import re
import signal

from harness.client import PATIENCE, eventually


def _state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _children_of_all_threads(pid):
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return []
    found = []
    for task in tasks:
        try:
            found += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def descendants(pid):
    found = _children_of_all_threads(pid)
    for one in found:
        found += _children_of_all_threads(one)
    return found


def zombies(server):
    return [one for pid in (server.pid, *spawners(server)) for one in descendants(pid) if _state(one) == "Z"]


def spawners(server):
    """
    Those that start the scripts of a server. They have its standard error, and are children of the process that leads
    their session and waits for their end; what is not so (yet) only begins, and becomes another process.
    """
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            _, parent, _, session, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            if (parent == session and (entry / "comm").read_text() == "monkey-palm\n"
                    and (entry / "fd/2").resolve() == server.stderr.resolve()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def spawner(server):
    """The one that it has, if need be after a moment."""
    found = []

    def is_one():  # while one begins, there are none or two for a moment
        found[:] = spawners(server)
        return len(found) == 1

    assert eventually(is_one), found
    return found[0]


def scripts(server):
    return descendants(spawner(server))


def have_ended(server, within=PATIENCE):
    """No script is left, not as a zombie either."""
    return eventually(lambda: not scripts(server), within=within)


def of_user(uid):
    """Every living process of a user."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid and _state(int(entry.name)) not in ("Z", "X", ""):
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


def end_all_of_user(uid, attempts=100):
    """For a user that only the test has."""
    for _ in range(attempts):
        found = of_user(uid)
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def private_kb(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(value) for value in re.findall(r"(?m)^Private_(?:Clean|Dirty):\s+(\d+) kB", text))


def peak_kb(pid):
    """What was resident at most."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def is_palm(pid):
    """A spawner, or the process that waits for its end."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text() == "monkey-palm\n"
    except (FileNotFoundError, ProcessLookupError):
        return False
