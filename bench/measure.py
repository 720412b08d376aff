# SPDX-License-Identifier: Apache-2.0
"""What a set of processes used, as wr measures it; and which processes belong to each other."""

import json
import os
import signal
import subprocess
import tempfile
import time

WR = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "tools", "wr")
PATIENCE_SECONDS = 10       # for wr, to begin and to end


def _read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _stat(pid):
    """What follows the name in /proc/PID/stat: state, parent, ...; nothing of a process that is gone."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def alive(pid):
    stat = _stat(pid)
    return bool(stat) and stat[0] not in "ZX"


def tree(pid):
    """The process and all that descend from it."""
    found = [pid] if alive(pid) else []
    for one in found:
        for task in _tasks(one):
            found += [int(child) for child in _read(f"/proc/{one}/task/{task}/children").split()]
    return found


def named(name, output):
    """Processes of a name that write to a file, whoever's children they are."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if _read(f"/proc/{entry}/comm") == f"{name}\n" and os.readlink(f"/proc/{entry}/fd/2") == output:
                found.append(int(entry))
        except OSError:
            pass
    return found


def _tasks(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return []


def _roots(pids):
    """Those that do not descend from another: wr watches descendants by itself."""
    return [pid for pid in pids if alive(pid) and int(_stat(pid)[1]) not in pids]


def _holds(watcher, pid):
    """Whether wr has opened what the kernel says of a process."""
    try:
        links = [os.readlink(f"/proc/{watcher}/fd/{fd}") for fd in os.listdir(f"/proc/{watcher}/fd")]
    except FileNotFoundError:
        return False
    return f"/proc/{pid}" in links


def _is_traced(pid):
    return "TracerPid:\t0\n" not in _read(f"/proc/{pid}/status")


class Watch:
    """wr as a recorder: with Watch(pids) as watch: ...; then watch[FIGURE] is the sum over the processes.

    apart: processes that are neither part of the sum nor of what wr calls foreign. calls: count system calls by name,
    which slows the processes down; then watch.calls has them.
    """

    def __init__(self, pids, apart=(), calls=False):
        self._pids, self._apart, self._is_tracing = _roots(pids), _roots(apart), calls
        self._runs, self.calls = [], {}

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="monkey-bench-wr-")
        argv = [WR, "--json", self._out(), *(["--trace"] if self._is_tracing else [])]
        for pid in self._pids + self._apart:
            argv += ["-p", str(pid)]
        self._wr = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._wait()
        return self

    def _out(self):
        return os.path.join(self._folder.name, "out.json")

    def _is_ready(self):
        if self._is_tracing and not all(map(_is_traced, self._pids)):
            return False
        return all(_holds(self._wr.pid, pid) for pid in self._pids) and _stat(self._wr.pid)[:1] == ["S"]

    def _wait(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._is_ready():
            if self._wr.poll() is not None or time.monotonic() > end:
                self._wr.kill()
                raise RuntimeError(f"wr: {self._wr.communicate()[1].strip()}")
            time.sleep(0.002)

    def __exit__(self, kind, *_):
        self._wr.send_signal(signal.SIGINT)
        complaint = self._wr.communicate(timeout=PATIENCE_SECONDS)[1]
        text = _read(self._out())
        self._folder.cleanup()
        if kind:
            return
        if not text:
            raise RuntimeError(f"wr: {complaint.strip()}")
        self._runs = json.loads(text)["runs"][:len(self._pids)]
        for run in self._runs:
            for name, count in (run.get("calls") or {}).items():
                self.calls[name] = self.calls.get(name, 0) + count

    def __getitem__(self, figure):
        """None if it could not be read of any."""
        values = [run["figures"][figure] for run in self._runs if run["figures"][figure] is not None]
        return sum(values) if values else None

    def of_all(self, figure):
        """A figure of the machine or of the whole time, which every process has."""
        return self._runs[0]["figures"][figure]


def memory(pids):
    """KB: resident, proportional, private; summed over the processes."""
    with Watch(pids) as watch:
        pass
    return {"rss": watch["rss_peak_kb"], "pss": watch["pss_kb"], "private": watch["private_kb"]}
