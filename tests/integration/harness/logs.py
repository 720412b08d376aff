# SPDX-License-Identifier: Apache-2.0
"""A server with access logs, and clients that make many lines."""

import re
import threading

from harness import http
from harness.client import PATIENCE, Connection, eventually
from harness.config import section


# For a crowd whose clients wait for each other on a busy machine, and are not to be taken for idle ones.
PATIENT = "MaxKeepAliveRequest 100000000\nKeepAliveTimeout 60\nTimeout 60"


def logging(settings="FlushTimeout 0", log="AccessLog access.log", extra=None, **config):
    """Arguments for start(): the logger with settings in its file, and log in [LOGGER] of the default site."""
    return dict(config, site=section("LOGGER", log) if log else "", extra={
        "plugins.load": section("PLUGINS", "Load logger"),
        "plugins/logger/logger.conf": section("LOGGER", settings), **(extra or {})})


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


def wait_for_lines(path, count, within=PATIENCE):
    """Wait until there are so many; all of them are returned."""
    eventually(lambda: len(lines_of(path)) >= count, within=within)
    lines = lines_of(path)
    assert len(lines) == count, f"{len(lines)} lines in {path} and not {count}:\n" + "\n".join(lines[-20:])
    return lines


def one_line(path, **kwargs):
    return wait_for_lines(path, 1, **kwargs)[0]


def told_lost(server):
    """The sum of all lines that the server's error log calls lost."""
    return sum(int(count) for count in re.findall(r"\blost=(\d+)", server.log()))


class Crowd:
    """Clients that ask numbered targets on keep-alive connections, depth at once, until they are stopped."""

    def __init__(self, port, clients=4, depth=50, each=None):
        self.answers = 0
        self.faults = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(port, n, depth, each)) for n in range(clients)]

    def _work(self, port, number, depth, each):
        asked = 0
        try:
            with Connection(("127.0.0.1", port), timeout=30) as connection:
                while not self._stop.is_set() and (each is None or asked < each):
                    connection.send(b"".join(http.request(f"/?{number}-{asked + i}") for i in range(depth)))
                    for _ in range(depth):
                        connection.response()
                    asked += depth
                    with self._lock:
                        self.answers += depth
        except (OSError, AssertionError) as fault:
            self.faults.append(repr(fault))

    def start(self):
        for thread in self._threads:
            thread.start()

    def join(self):
        for thread in self._threads:
            thread.join(120)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self.join()


def check_numbers(lines, answers):
    """Each line is whole, and each of the crowd's requests stands there once. The number of lines is returned."""
    numbers = [re.fullmatch(r'127\.0\.0\.1 - - \[[^]]+\] "GET /\?(\d+-\d+) HTTP/1\.1" 200 \S+ "-" "-"', line)
               for line in lines]
    broken = [line for line, number in zip(lines, numbers) if not number]
    assert not broken, f"broken lines: {broken[:5]}"
    assert len({number[1] for number in numbers}) == len(lines) <= answers
    return len(lines)
