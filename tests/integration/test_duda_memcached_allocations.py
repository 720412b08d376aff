# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while memcached is asked: an answer or an error, and the next one works."""

import itertools

import pytest

from harness import duda, http, memcached_server
from harness.client import eventually

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]
WITHIN = 50.0


def test_commands(start, tmp_path, allocations):
    duda.require_package("memcached")
    with memcached_server.Server(tmp_path) as memcached:
        duda.build(tmp_path / "services", "packaged_memcached", name="values", level=3,
                   flags=("-fcommon", f'-DSERVERS="localhost:{memcached.port}"', "-DOPTIONS=.timeout_ms=5000"))
        server = start(env=allocations.environment, **duda.config(
            tmp_path / "services", "values", server="Workers 1\n", duda={"PackagesRoot": duda.packages(), "WaitTimeout": 3}))  # of a request whose answer fails
        for path in ("get", "alone"):
            for number in itertools.count(1):
                memcached.kill()  # so that each time begins with a connection
                memcached.start()
                allocations.arm(number)
                with server.connect() as connection:
                    connection.send(http.request(f"/values/{path}", headers={"Connection": "close"}))
                    seen = connection.rest_until_cut()
                assert not seen or seen.startswith(b"HTTP/1.1 "), seen[:100]
                assert server.is_running(), f"allocation {number}\n{server.log()}"
                allocations.disarm()
                failed = allocations.failed
                assert eventually(lambda: server.get("/values/get", timeout=WITHIN).text.startswith("1 "), within=WITHIN), number
                if not failed:
                    assert number > 5
                    break
        counts = lambda: server.get("/values/counts").text.split()  # noqa: E731
        assert eventually(lambda: counts()[0] == counts()[1], within=WITHIN)
