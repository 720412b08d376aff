# SPDX-License-Identifier: Apache-2.0
"""What a set of processes used: CPU, system calls, memory.  All from /proc, but for the calls."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

SYSTEM_LIBRARY = re.compile(r" (/usr)?/lib/\S+-linux-gnu/[^/]+\.so[^/]*$")
TICK = os.sysconf("SC_CLK_TCK")


def _read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def alive(pid):
    stat = _read(f"/proc/{pid}/stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] not in "ZX"


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


@dataclass
class Cpu:
    """Seconds of CPU.  The total is exact (schedstat); user is a share sampled by the kernel's tick."""
    total: float = 0.0
    user: float = 0.0
    system: float = 0.0

    def __sub__(self, other):
        total = self.total - other.total
        user, system = self.user - other.user, self.system - other.system
        share = user / (user + system) if user + system > 0 else 0.0
        return Cpu(total, total * share, total * (1 - share))


def cpu(pids):
    """CPU used so far by all threads of the processes."""
    used = Cpu()
    for pid in pids:
        for task in _tasks(pid):
            stat = _read(f"/proc/{pid}/task/{task}/schedstat").split()
            used.total += int(stat[0]) / 1e9 if stat else 0
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if fields:
            used.user += int(fields[11]) / TICK
            used.system += int(fields[12]) / TICK
    return used


def machine_busy():
    """Seconds that all cores were busy since the boot, to see what else ran during a measurement."""
    fields = [int(x) for x in _read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return (sum(fields) - idle) / TICK


def _rollup(pid, key):
    found = re.search(rf"^{key}:\s+(\d+) kB", _read(f"/proc/{pid}/smaps_rollup"), re.M)
    return int(found[1]) if found else 0


def _private(pid):
    """KB. Clean pages of the system's libraries are left out: who else has touched them just now is chance."""
    total = 0
    for mapping in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", _read(f"/proc/{pid}/smaps"), flags=re.M)[1:]:
        fields = ["Private_Dirty"] if SYSTEM_LIBRARY.search(mapping.partition("\n")[0]) else ["Private_Dirty", "Private_Clean"]
        total += sum(int(re.search(rf"^{field}: +(\d+) kB", mapping, re.M)[1]) for field in fields)
    return total


def memory(pids):
    """KB: resident, proportional, private; summed over the processes."""
    return {
        "rss": sum(_rollup(p, "Rss") for p in pids),
        "pss": sum(_rollup(p, "Pss") for p in pids),
        "private": sum(_private(p) for p in pids),
    }


def peak_rss(pids):
    """KB: the most each process had resident, summed."""
    total = 0
    for pid in pids:
        found = re.search(r"^VmHWM:\s+(\d+) kB", _read(f"/proc/{pid}/status"), re.M)
        total += int(found[1]) if found else 0
    return total


_CALLS_EVENT = "raw_syscalls:sys_enter"
_perf_works = None


def perf_counts_calls():
    """Whether the tracepoint of system calls may be read here."""
    global _perf_works
    if _perf_works is None:
        _perf_works = bool(shutil.which("perf")) and subprocess.run(
            ["perf", "stat", "-x,", "-e", _CALLS_EVENT, "true"],
            capture_output=True, check=False).returncode == 0
    return _perf_works


class Calls:
    """Counts system calls of processes: with calls: ...; then calls.count, and by_name with strace.

    The tracepoint is nearly free.  Where it may not be read strace stands in: it slows the server
    down, which gathers more work in a turn, so its figures are a little lower.
    """

    def __init__(self, pids, by_name=False):
        self._pids = pids
        self._strace = by_name or not perf_counts_calls()
        self.count = 0
        self.by_name = {}

    def __enter__(self):
        self._out = tempfile.NamedTemporaryFile("r", prefix="monkey-bench-calls-")
        if self._strace:
            argv = ["strace", "-f", "-c", "-U", "name,calls", "-o", self._out.name]
            for pid in self._pids:
                argv += ["-p", str(pid)]
        else:
            argv = ["perf", "stat", "-x,", "-e", _CALLS_EVENT, "-o", self._out.name, "-p",
                    ",".join(map(str, self._pids))]
        self._process = subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True)
        if self._strace:
            attached = 0
            while attached < len(self._pids):
                line = self._process.stderr.readline()
                if not line:
                    raise RuntimeError("strace could not attach")
                attached += "attached" in line
        else:
            _wait_for_perf(self._process.pid)
        return self

    def __exit__(self, *_):
        self._process.send_signal(2)
        self._process.communicate()
        text = self._out.read()
        self._out.close()
        if self._strace:
            for name, calls in re.findall(r"^(\w+)\s+(\d+)$", text, re.M):
                if name != "total":
                    self.by_name[name] = int(calls)
            self.count = sum(self.by_name.values())
        else:
            found = re.search(rf"^(\d+),[^,]*,{_CALLS_EVENT}", text, re.M)
            self.count = int(found[1]) if found else 0


def _wait_for_perf(pid):
    """Until perf has opened its counters: it then holds descriptors of perf events."""
    for _ in range(400):
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except FileNotFoundError:
            return
        if any("perf_event" in link for link in links):
            break
        time.sleep(0.005)
    time.sleep(0.02)
