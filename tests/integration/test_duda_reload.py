# SPDX-License-Identifier: Apache-2.0
"""A service is replaced again and again while clients ask it: each is answered, by the old one or by the new one."""

import os
import pathlib
import shutil
import threading

import pytest

from harness import duda
from harness.client import Connection, eventually
from harness.process import is_sanitized

RELOADS = 50
WARM_UP = 10        # reloads after which memory has its size
A_RELOAD_MAX = 40   # KB that stay: what was loaded is not unloaded, since threads of a service may still run in it
ENDINGS = ("now", "later")

pytestmark = pytest.mark.slow


class Clients:
    """Threads that ask until they are told to stop; what goes wrong is kept."""

    def __init__(self, port, targets):
        self.port, self.faults, self.answers = port, [], 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(target,)) for target in targets]

    def _work(self, target):
        while not self._stop.is_set():
            try:
                with Connection(("127.0.0.1", self.port)) as connection:
                    for _ in range(50):
                        response = connection.request(target)
                        assert response.status == 200 and response.text in ("version 0", "version 1"), response
                        self.answers += 1
                        if not response.keeps_connection or self._stop.is_set():
                            break
            except (OSError, AssertionError) as fault:
                self.faults.append(repr(fault))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


def private_kb(server):
    text = pathlib.Path(f"/proc/{server.pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_"))


def test_fifty_reloads_under_load(start, tmp_path):
    exits = tmp_path / "exits"
    versions = [duda.build(tmp_path / str(version), "reloaded", level=2, flags=(f"-DVERSION={version}", f'-DEXITS="{exits}"'))
                for version in (0, 1)]
    services = tmp_path / "services"
    services.mkdir()

    def put(version):
        shutil.copy(versions[version], services / "fresh")
        os.rename(services / "fresh", services / "reloaded.duda")

    put(0)
    server = start(**duda.config(services, "reloaded"))
    with Clients(server.port, [f"/reloaded/{ending}" for ending in ENDINGS * 2]) as clients:
        for number in range(1, RELOADS + 1):
            put(number % 2)
            server.reload(expect="configuration reloaded")
            assert server.get("/reloaded/now").text == f"version {number % 2}"
            if number == WARM_UP:
                before = private_kb(server)
        after = private_kb(server)
    assert clients.faults == [] and clients.answers > RELOADS
    assert is_sanitized() or after - before < A_RELOAD_MAX * (RELOADS - WARM_UP), (before, after)
    # Each that was replaced leaves once its last request has ended, and the last one with the server.
    eventually(lambda: exits.exists() and len(exits.read_text().split()) >= RELOADS)
    server.stop()
    left = exits.read_text().split()
    assert (len(left), left.count("0"), left.count("1")) == (RELOADS + 1, RELOADS // 2 + 1, RELOADS // 2)
