# SPDX-License-Identifier: Apache-2.0
"""The server as a child of dudac: started, read, ended by its id."""

import collections
import ctypes
import re
import signal
import subprocess
import sys
import threading
import time

from . import stuck

GRACE = 3.0         # seconds for requests in flight before the second signal, and before the last one
START_WITHIN = 60.0
STUCK_AFTER = 3.0   # seconds in which a worker has not come back to its loop
REPORT_WITHIN = 30.0  # seconds for the report of one that is stuck, and for the end of the output
LOOK_EVERY = 0.1
SHOWN_LINES = 200   # of the output, where something failed

_libc = ctypes.CDLL(None)
RELOADED = re.compile(r"server configuration reloaded |(; the old configuration stays in force)$")
LISTENS = re.compile(r"listening address=(\S+):(\d+)$")
SKIPPED = re.compile(r"service '([^']*)': skipped")


def end_with_dudac():
    _libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: also when dudac is killed


class Server:
    """A server that runs. Its output is kept, and shown as it comes if so wished."""

    def __init__(self, places, run, shows_output=False):
        # A group of its own, so that Ctrl-C reaches it through dudac alone; a core file falls into the run's folder.
        self.process = subprocess.Popen([str(places.server), "--configdir", str(run.configuration)], cwd=run.path,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        process_group=0, preexec_fn=end_with_dudac)
        self.pid = self.process.pid
        self.port = None
        self.skipped = set()  # names of services that the server left out
        self.stuck = []       # threads of workers that kept it from a reload, the surest first
        self.lines = collections.deque(maxlen=SHOWN_LINES)
        self._shows_output = shows_output
        self._started = threading.Event()
        self._reload_ended = threading.Event()
        self._is_reloaded = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with self.process.stdout as pipe:
            for raw in pipe:
                self._take(raw.decode(errors="replace").rstrip("\n"))
        self._started.set()
        self._reload_ended.set()

    def _take(self, line):
        self.lines.append(line)
        if self._shows_output:
            print(line, flush=True)
        listens, skipped, reloaded = LISTENS.search(line), SKIPPED.search(line), RELOADED.search(line)
        if listens:
            self.port = int(listens[2])
        if skipped:
            self.skipped.add(skipped[1])
        if "started workers=" in line:
            self._started.set()
        if reloaded:
            self._is_reloaded = not reloaded[1]
            self._reload_ended.set()

    def wait_until_started(self):
        """True when it listens; False when it ended, or is silent for too long."""
        return self._started.wait(START_WITHIN) and self.port is not None and self.process.poll() is None

    def reload(self):
        """Let it read its configuration again; False: the old one stays in force, or it ended, or is silent for too long."""
        self.lines.clear()
        self.skipped.clear()
        self._is_reloaded = False
        self._reload_ended.clear()
        if self.poll() is None:
            self.process.send_signal(signal.SIGHUP)
            self._wait_for_reload()
        return self._is_reloaded and self.poll() is None

    def _wait_for_reload(self):
        """A worker that is in a call-back all the time will not load anything."""
        end = time.monotonic() + START_WITHIN
        begun, busy = time.monotonic(), None
        while not self._reload_ended.wait(LOOK_EVERY) and time.monotonic() < end and self.poll() is None:
            now = stuck.busy_workers(self.pid)
            busy = now if busy is None else {thread: busy[thread] for thread in busy.keys() & now.keys()}
            if not busy:
                begun, busy = time.monotonic(), None
            elif time.monotonic() - begun >= STUCK_AFTER:
                self.stuck = stuck.stuck_workers(busy, now)
                if self.stuck:
                    return

    def abort_stuck(self):
        """End it from within a worker that is stuck, so that it reports the call-back."""
        stuck.abort(self.pid, self.stuck[0])
        self.wait(REPORT_WITHIN)
        self.stop()

    def poll(self):
        """Its exit code, as of subprocess; None while it runs."""
        return self.process.poll()

    def wait(self, seconds=None):
        """poll(), after at most so many seconds; None: for ever."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def output(self):
        """The last lines, whole only after its end."""
        if self.poll() is not None:
            self._reader.join(REPORT_WITHIN)
        return "\n".join(self.lines)

    def stop(self):
        """End it: gracefully, then at once, then by force."""
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if self.poll() is None:
                self.process.send_signal(number)
                self.wait(GRACE)
        self.process.wait()
        self._reader.join(REPORT_WITHIN)

    def show_output(self):
        if not self._shows_output:
            print(self.output(), file=sys.stderr, flush=True)
