# SPDX-License-Identifier: Apache-2.0
"""What the smallest service costs: user instructions of a whole turn of the loop for a request on a kept connection."""

import budgets
import counted
import pytest

from harness import duda, http, process

RUNS = 3  # at most: where other processes have the processors, timers come in more turns


def ask(connection):
    connection.send(http.request("/hello/"))
    assert connection.response().status == 200


def test_the_smallest_service_stays_in_budget(tmp_path):
    if process.is_sanitized():
        pytest.skip("a sanitizer's build has other costs")
    services = tmp_path / "services"
    duda.build(services, "hello")
    runs = []
    while len(runs) < RUNS and min(runs, default=budgets.SERVICE + 1) > budgets.SERVICE:
        runs.append(counted.each(tmp_path / f"run{len(runs)}", lambda connection: None, ask,
                                 server="Workers 1\nMaxKeepAliveRequest 10000", **duda.config(services, "hello")))
    print(f"{min(runs):.0f} instructions for a request of a service")
    assert min(runs) <= budgets.SERVICE
