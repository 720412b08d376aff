# SPDX-License-Identifier: Apache-2.0
"""Fair and ReusePort: threads with names, work for all of them, and none delays another's clients."""

import os
import pathlib

import pytest

from harness.client import eventually
from harness.variants import SCHEDULERS

FILES = {"a.txt": "text"}


def thread_names(server):
    return [pathlib.Path(path, "comm").read_text().strip() for path in pathlib.Path(f"/proc/{server.pid}/task").iterdir()]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_serves_with_any_number_of_workers(start, scheduler, workers):
    server = start(server=f"Scheduler {scheduler}\nWorkers {workers}", files=FILES)
    for _ in range(20):
        assert server.get("/a.txt").text == "text"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_threads_have_names(start, scheduler):
    server = start(server=f"Scheduler {scheduler}\nWorkers 3", files=FILES)
    workers = [name for name in thread_names(server) if "worker" in name]
    assert len(workers) == 3
    assert len(set(workers)) == 3


def worker_ticks(server):
    ticks = []
    for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir():
        if "worker" in (task / "comm").read_text():
            ticks.append(int((task / "schedstat").read_text().split()[2]))
    return sorted(ticks)


def test_fair_gives_work_to_every_worker(start):
    server = start(server="Scheduler Fair\nWorkers 4\nKeepAliveTimeout 60", files=FILES)
    before = worker_ticks(server)
    held = [server.connect() for _ in range(40)]
    for connection in held:
        assert connection.request("/a.txt").text == "text"
    assert all(after > start for start, after in zip(before, worker_ticks(server)))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_workers_0_is_one_a_cpu(start, scheduler):
    server = start(server=f"Scheduler {scheduler}\nWorkers 0", files=FILES)
    wanted = len(os.sched_getaffinity(0))
    assert eventually(lambda: len([name for name in thread_names(server) if "worker" in name]) == wanted)


def test_cpu_affinity(start):
    server = start(server="Workers 2\nCPUAffinity 0 1", files=FILES)
    masks = set()
    for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir():
        if "worker" in (task / "comm").read_text():
            masks.add([line.split()[1] for line in (task / "status").read_text().splitlines()
                       if line.startswith("Cpus_allowed_list:")][0])
    assert masks == {"0", "1"}
