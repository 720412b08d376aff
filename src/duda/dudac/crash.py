# SPDX-License-Identifier: Apache-2.0
"""What is left of a server that ended by a signal: where it was, its output, and a backtrace where gdb and a core file are there."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

GDB_WITHIN = 60  # seconds
ADDR2LINE_WITHIN = 20
SHOWN_CALLS = 16  # of a recursion that never ends the first are enough

# What CrashReport of [DUDA] writes.
HEAD = re.compile(r'crash signal=\d+ service=(.*?) callback=(.*?) request="(.*)"$')
CALL = re.compile(r"crash at=(.+)\+0x([0-9a-f]+)$")


def allow_core_files():
    """For what is started later."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def backtrace(places, run):
    """Text for people; says why there is none."""
    cores = sorted(run.path.glob("core*"))
    if not cores:
        return "No core file was written: see /proc/sys/kernel/core_pattern."
    gdb = shutil.which("gdb")
    if not gdb:
        return "gdb is not installed: no backtrace."
    try:
        done = subprocess.run([gdb, "-batch", "-nx", "-ex", "bt", "-ex", "thread apply all bt", str(places.server), str(cores[0])],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=GDB_WITHIN, check=False)
    except subprocess.TimeoutExpired:
        return "gdb found no backtrace in time."
    return done.stdout


def place_of(file, offset, is_innermost):
    """A call in words: its function and line where the file has them and addr2line is there."""
    unknown = f"{file}+{offset:#x}"
    addr2line = shutil.which("addr2line")
    if not addr2line:
        return unknown
    at = offset if is_innermost else offset - 1  # the others are where the call returns to, maybe another line
    try:
        done = subprocess.run([addr2line, "-f", "-p", "-e", file, hex(at)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=ADDR2LINE_WITHIN, check=False)
    except subprocess.TimeoutExpired:
        return unknown
    said = done.stdout.partition(" (discriminator")[0].strip()
    return said if done.returncode == 0 and said and "??" not in said else unknown


def where(lines):
    """Text for people from the server's lines: service, call-back, request, and each call; "" when it has not said."""
    heads = [(number, HEAD.search(line)) for number, line in enumerate(lines) if HEAD.search(line)]
    if not heads:
        return ""
    number, head = heads[-1]
    calls = [call for call in map(CALL.search, lines[number + 1:]) if call][:SHOWN_CALLS]
    facts = [f"{name} {value}" for name, value in zip(("service", "call-back", "request"), head.groups()) if value]
    return "".join([f"Crash in {', '.join(facts) or 'the server'}\n",
                    *(f"    {place_of(call[1], int(call[2], 16), n == 0)}\n" for n, call in enumerate(calls))])


def signal_name(code):
    """Of an exit code as of subprocess; None: it ended by itself."""
    return signal.Signals(-code).name if code < 0 else None


def write_report(places, run, server, folder):
    """Write logs/crash_report.PID below the service's folder, or beside the caller; its path is returned."""
    text = (f"The server ended by {signal_name(server.poll())}.\n{where(list(server.lines))}\nIts last lines:\n{server.output()}\n\n"
            f"Backtrace:\n{backtrace(places, run)}\n")
    for place in (pathlib.Path(folder) / "logs", pathlib.Path.cwd()):
        file = place / f"crash_report.{server.pid}"
        if place.is_dir() and os.access(place, os.W_OK):
            file.write_text(text)
            return file
    return None
