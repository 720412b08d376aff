# SPDX-License-Identifier: Apache-2.0
"""The server as a process: started, watched, asked, and ended by its pid."""

import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess

from harness import carriers, http
from harness.client import PATIENCE, Connection, eventually
from harness.config import Config
from harness.executable import TREE, binary, built_in_plugins, environment, is_sanitized, plugin, run  # noqa: F401

ALARMS = re.compile(r"Sanitizer|runtime error:|[Aa]ssert|stack smashing|buffer overflow|double free|corrupted")


class Server:
    """
    A running server. `port` is that of its first TCP address; `addresses` has them all, as logged.
    """

    def __init__(self, folder, config, wrapper=(), arguments=(), env=None, namespace=None):
        """wrapper: words before the executable; they must end in exec, so that the pid is the server's."""
        self.folder = folder
        self.config = config
        self.root = config.root
        self.conf = config.folder
        self.stderr = folder / "stderr"
        self._connections = []
        self._checked = False
        with open(self.stderr, "wb") as log:
            self.process = subprocess.Popen(
                [*map(str, wrapper), binary(), "--configdir", str(self.conf), *map(str, arguments)],
                env=environment(env), stderr=log, cwd=folder,
                **dict.fromkeys(("stdin", "stdout"), subprocess.PIPE) if carriers.has_pipes() else
                {"stdin": subprocess.DEVNULL, "stdout": log})
        self.pid = self.process.pid
        self._memory = carriers.hub(self.process)

    def wait_until_listening(self, within=PATIENCE):
        return self._wait_until("listen", lambda: len(self.addresses) >= self.config.listen_lines(), within)

    def wait_until_started(self, within=PATIENCE):
        """Its plugins and threads too: addresses accept connections before. In memory it has none, and says nothing."""
        self.wait_until_listening(within)
        return self if self._memory else self._wait_until("start", lambda: "started workers=" in self.log(), within)

    def _wait_until(self, does, condition, within):
        eventually(lambda: not self.is_running() or condition(), within=within, every=0.005)
        if not condition():
            ended = f"ended with {self.process.returncode}" if not self.is_running() else "is silent"
            log = self.log()
            self.kill()
            raise AssertionError(f"the server does not {does}: it {ended}\n{log}")
        return self

    # -- what it says of itself

    def log(self):
        return self.stderr.read_text(errors="replace")

    def wait_for_log(self, pattern, since=0, within=PATIENCE):
        """Wait until the log, from offset `since` on, matches; the match is returned."""
        found = eventually(lambda: re.search(pattern, self.log()[since:]), within=within)
        assert found, f"{pattern!r} is not in the log:\n{self.log()[since:]}"
        return found

    @property
    def addresses(self):
        """Every address that it listened on so far. Only whole lines count."""
        whole = self.log().rpartition("\n")[0]
        return re.findall(r"listening address=(\S+)", whole)

    @property
    def port(self):
        ports = [address.rpartition(":")[2] for address in self.addresses if not address.startswith("unix:")]
        return int(ports[0])

    def is_running(self):
        return self.process.poll() is None

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def anonymous_bytes(self):
        """Memory of the process alone: pages of files may go at any time."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) * 1024

    def cpu_ms(self):
        """Milliseconds that all its threads have worked, without their waiting for a core."""
        tasks = pathlib.Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def cpu_ticks(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    # -- asking it

    def connect(self, address=None, **kwargs):
        connection = Connection(address or self._memory or ("127.0.0.1", self.port), **kwargs)
        self._connections.append(connection)
        return connection

    def request(self, target="/", method="GET", **kwargs):
        """One request on a connection of its own; the server must close it after exactly one answer."""
        headers = kwargs.pop("headers", None) or {}
        timeout = kwargs.pop("timeout", PATIENCE)
        pairs = list(headers.items() if isinstance(headers, dict) else headers)
        pairs.append(("Connection", "close"))
        return http.parse_one(self.raw(http.request(target, method, headers=pairs, **kwargs), timeout), method)

    def get(self, target="/", headers=None, **kwargs):
        return self.request(target, "GET", headers=headers, **kwargs)

    def head(self, target="/", headers=None, **kwargs):
        return self.request(target, "HEAD", headers=headers, **kwargs)

    def raw(self, data, timeout=PATIENCE):
        """Send bytes on a new connection and return all that comes until the server closes it."""
        with self.connect(timeout=timeout) as connection:
            connection.send(data)
            return connection.rest()

    def raw_until_cut(self, data, timeout=PATIENCE):
        """The same for an answer that the server may have to break off, with a reset even."""
        with self.connect(timeout=timeout) as connection:
            connection.send(data)
            return connection.rest_until_cut()

    # -- changing it

    def signal(self, number):
        os.kill(self.pid, number)

    def reload(self, expect=r"reload", **config):
        """Write another configuration, ask for a reload and wait until the log tells how it went."""
        if config:
            self.config.write(**config)
        since = len(self.log())
        self.signal(signal.SIGHUP)
        self.wait_for_log(expect, since)
        return self.log()[since:]

    # -- ending it

    def stop(self, within=PATIENCE):
        """End it with TERM and check that it ended well."""
        for connection in self._connections:
            connection.close()
        if self.is_running():
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"the server did not end {within} s after TERM\n{self.log()}") from None
        self.check()

    def check(self):
        """It has ended, with exit code 0, and nothing in its output is an alarm."""
        if self._checked:
            return
        self._checked = True
        log = self.log()
        alarm = ALARMS.search(log)
        assert not alarm, f"{alarm[0]!r} in the server's output:\n{log}"
        assert self.process.returncode == 0, f"exit code {self.process.returncode}\n{log}"

    def expect_exit(self, within=PATIENCE):
        """Wait for it to end by itself; the exit code is returned and the last check left out."""
        self._checked = True
        return self.process.wait(within)

    def kill(self):
        self._checked = True
        if self.is_running():
            self.process.kill()
        self.process.wait(10)


def said_of(folder, **config):
    """What --test says of a configuration that is written there."""
    written = Config(folder)
    written.write(**config)
    result = run("--configdir", written.folder, "--test")
    return result.stdout + result.stderr


def start(folder, wrapper=(), arguments=(), env=None, wait=True, **config):
    """Write a configuration (see Config) below folder and start a server on it."""
    written = Config(folder)
    written.write(**config)
    server = Server(folder, written, wrapper, arguments, env)
    return server.wait_until_started() if wait else server


@contextlib.contextmanager
def starter(folder):
    """A function that starts servers below folder; in the end each is ended, and must have ended well."""
    servers, numbers = [], itertools.count()

    def start_one(**kwargs):
        home = folder / f"server{next(numbers)}"
        home.mkdir(mode=0o755)
        servers.append(start(home, **kwargs))
        return servers[-1]

    yield start_one
    faults = []
    for server in servers:
        try:
            server.stop()
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults, "\n".join(faults)
