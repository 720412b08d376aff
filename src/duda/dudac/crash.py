# SPDX-License-Identifier: Apache-2.0
"""What is left of a server that ended by a signal: its output, and a backtrace where gdb and a core file are there."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess

GDB_WITHIN = 60  # seconds


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


def signal_name(code):
    """Of an exit code as of subprocess; None: it ended by itself."""
    return signal.Signals(-code).name if code < 0 else None


def write_report(places, run, server, folder):
    """Write logs/crash_report.PID below the service's folder, or beside the caller; its path is returned."""
    text = (f"The server ended by {signal_name(server.poll())}.\n\nIts last lines:\n{server.output()}\n\n"
            f"Backtrace:\n{backtrace(places, run)}\n")
    for place in (pathlib.Path(folder) / "logs", pathlib.Path.cwd()):
        file = place / f"crash_report.{server.pid}"
        if place.is_dir() and os.access(place, os.W_OK):
            file.write_text(text)
            return file
    return None
