# SPDX-License-Identifier: Apache-2.0
"""What an idle TLS connection costs: docs/budgets.md."""

import time

import pytest

from harness import certificates, executable, secured, tls_connection, tools

plugin = secured.each_plugin()

MOST = 20 << 10
FEW, MANY = 50, 300


def private_bytes(server):
    with open(f"/proc/{server.pid}/smaps_rollup", encoding="ascii") as text:
        return 1024 * sum(int(line.split()[1]) for line in text if line.startswith("Private_"))


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
        used.append(private_bytes(server))
    each = (used[1] - used[0]) / (MANY - FEW)
    assert all(connection.request("/a.txt").status == 200 for connection in connections)
    for connection in connections:
        connection.close()
    print(f"{plugin}: {each:.0f} bytes")
    assert each <= MOST
