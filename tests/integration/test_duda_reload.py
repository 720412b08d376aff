# SPDX-License-Identifier: Apache-2.0
"""A service is replaced again and again while clients ask it: each is answered, by the old one or by the new one."""

import os
import shutil

import pytest

from harness import duda
from harness.client import eventually
from harness.clients import Clients
from harness.family import private_kb
from harness.process import is_sanitized

RELOADS = 50
WARM_UP = 10        # reloads after which memory has its size
A_RELOAD_MAX = 40   # KB that stay: what was loaded is not unloaded, since threads of a service may still run in it
ENDINGS = ("now", "later")

pytestmark = pytest.mark.slow


def asking(target):
    def ask(connection):
        response = connection.request(target)
        assert response.status == 200 and response.text in ("version 0", "version 1"), response
        return response
    return ask


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
    asks = [asking(f"/reloaded/{ending}") for ending in ENDINGS * 2]
    with Clients(("127.0.0.1", server.port), asks, a_connection=50) as clients:
        for number in range(1, RELOADS + 1):
            put(number % 2)
            server.reload(expect="configuration reloaded")
            assert server.get("/reloaded/now").text == f"version {number % 2}"
            if number == WARM_UP:
                before = private_kb(server.pid)
        after = private_kb(server.pid)
    assert clients.faults == [] and clients.answers > RELOADS
    assert is_sanitized() or after - before < A_RELOAD_MAX * (RELOADS - WARM_UP), (before, after)
    # Each that was replaced leaves once its last request has ended, and the last one with the server.
    eventually(lambda: exits.exists() and len(exits.read_text().split()) >= RELOADS)
    server.stop()
    left = exits.read_text().split()
    assert (len(left), left.count("0"), left.count("1")) == (RELOADS + 1, RELOADS // 2 + 1, RELOADS // 2)
