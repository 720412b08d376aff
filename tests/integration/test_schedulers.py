# SPDX-License-Identifier: Apache-2.0
"""Fair and ReusePort: threads with names, work for all of them, and none delays another's clients."""

import os
import pathlib

import pytest

from harness import http, tools
from harness.client import eventually
from harness.plugins import load
from harness.variants import SCHEDULERS

FILES = {"a.txt": "text"}


def workers(server):
    """The directories in /proc of the threads that are workers. Each names itself when it begins to run."""
    return [task for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir() if "worker" in (task / "comm").read_text()]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_serves_with_any_number_of_workers(start, scheduler, workers):
    server = start(server=f"Scheduler {scheduler}\nWorkers {workers}", files=FILES)
    for _ in range(20):
        assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_threads_have_names(start, scheduler):
    server = start(server=f"Scheduler {scheduler}\nWorkers 3", files=FILES)
    assert eventually(lambda: len(workers(server)) == 3)
    assert len({(task / "comm").read_text() for task in workers(server)}) == 3


def turns_on_cpu(server):
    return sorted(int((task / "schedstat").read_text().split()[2]) for task in workers(server))


def test_fair_gives_work_to_every_worker(start):
    server = start(server="Scheduler Fair\nWorkers 4\nKeepAliveTimeout 60", files=FILES)
    assert eventually(lambda: len(workers(server)) == 4)
    before = turns_on_cpu(server)
    held = [server.connect() for _ in range(40)]
    for connection in held:
        assert connection.request("/a.txt").text == "text"
    assert all(after > earlier for earlier, after in zip(before, turns_on_cpu(server)))


CROWD = 2600 # more than two rings of the acceptor hold
BLOCKS = 64 # 10 ms each: as many as a turn may answer


def test_fair_lets_clients_wait_while_the_workers_are_late(start):
    tools.raise_descriptor_limit(CROWD + 500)
    server = start(server=f"Scheduler Fair\nWorkers 2\nFDLimit {CROWD + 500}\nTimeout 60", files=FILES,
                   handlers="Match ^/block events block", extra={"plugins.load": load("events")})
    late = [server.connect() for _ in range(2)]
    for connection in late:
        connection.send(http.request("/block") * BLOCKS)
    crowd = []
    try:
        while len(crowd) < CROWD:
            crowd.append(server.connect(timeout=30))
            crowd[-1].send(http.request("/a.txt"))
        for connection in crowd:
            assert connection.response().text == "text"
    finally:
        for connection in [*late, *crowd]:
            connection.close()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_workers_0_is_one_a_cpu(start, scheduler):
    server = start(server=f"Scheduler {scheduler}\nWorkers 0", files=FILES)
    wanted = len(os.sched_getaffinity(0))
    assert eventually(lambda: len(workers(server)) == wanted)


def test_cpu_affinity(start):
    server = start(server="Workers 2\nCPUAffinity 0 1", files=FILES)

    def masks():
        lines = [line for task in workers(server) for line in (task / "status").read_text().splitlines()]
        return {line.split()[1] for line in lines if line.startswith("Cpus_allowed_list:")}

    assert eventually(lambda: masks() == {"0", "1"})
