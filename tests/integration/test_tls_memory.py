# SPDX-License-Identifier: Apache-2.0
"""What an idle TLS connection costs: docs/budgets.md."""

import time

import pytest

from harness import certificates, executable, http, secured, tls_connection, tools
from harness.family import private_kb

plugin = secured.each_plugin()

MOST = 20 << 10
FEW, MANY = 50, 300


@pytest.mark.slow
@pytest.mark.limit(120)
def test_an_idle_connection_is_within_its_budget(start, plugin):
    if executable.is_sanitized():
        pytest.skip("a sanitizer's memory is another")
    tools.raise_descriptor_limit(4 * MANY)
    server = start(**secured.config(certificates.issue().lines(), server="Workers 1\nKeepAliveTimeout 100",
                                    files={"a.txt": "a" * 5000}))
    connections, used = [], []
    for count in (FEW, MANY):
        while len(connections) < count:
            connections.append(tls_connection.connect(server))
            assert connections[-1].request("/a.txt").status == 200
        time.sleep(1.5)
        used.append(1024 * private_kb(server.pid))
    each = (used[1] - used[0]) / (MANY - FEW)
    assert all(connection.request("/a.txt").status == 200 for connection in connections)
    for connection in connections:
        connection.close()
    print(f"{plugin}: {each:.0f} bytes")
    assert each <= MOST


STALLED = 24
AHEAD = 64 << 10


@pytest.mark.timed
@pytest.mark.limit(120)
def test_little_is_encrypted_ahead_for_a_reader_that_stalls(start, plugin):
    """It read fast at first, so that its batches have grown."""
    if executable.is_sanitized():
        pytest.skip("a sanitizer's memory is another")
    server = start(**secured.config(certificates.issue().lines(), server="Workers 1\nTimeout 100\nWriteTimeout 100"))
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(100 << 20)
    connections = [tls_connection.connect(server) for _ in range(STALLED)]
    before = 1024 * private_kb(server.pid)
    for connection in connections:
        connection.send(http.request("/large.bin"))
        for _ in range(20):
            connection.stream.exactly(64 << 10)
    time.sleep(1)
    each = (1024 * private_kb(server.pid) - before) / STALLED
    for connection in connections:
        connection.close()
    print(f"{plugin}: {each:.0f} bytes")
    assert each <= AHEAD + 4096


CROWD = 40
PATIENT = "Timeout 120\nKeepAliveTimeout 120\nWriteTimeout 120\nMinReadRate 0"


def test_max_memory_bounds_what_is_encrypted_ahead(start, plugin):
    server = start(**secured.config(certificates.issue().lines(), server=f"Workers 2\nMaxMemory 64K\n{PATIENT}",
                                    files={"a.txt": "text"}))
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(100 << 20)
    crowd = [tls_connection.connect(server) for _ in range(CROWD)]
    for connection in crowd:
        connection.send(http.request("/large.bin"))
    server.wait_for_log("made room: MaxMemory", within=20)
    with tls_connection.connect(server) as connection:
        assert connection.request("/a.txt").status == 200
    for connection in crowd:
        connection.close()
