# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while memcached is asked: an answer or an error, and the next one works."""

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
            def ask(number, data=http.request(f"/values/{path}", headers={"Connection": "close"})):
                memcached.kill()  # so that each time begins with a connection
                memcached.start()
                seen = server.raw_until_cut(data)
                assert not seen or seen.startswith(b"HTTP/1.1 "), f"allocation {number}: {seen[:100]}"

            works = lambda: server.get("/values/get", timeout=WITHIN).text.startswith("1 ")  # noqa: E731
            assert allocations.until_none_fails(server, ask, works) > 5
        counts = lambda: server.get("/values/counts").text.split()  # noqa: E731
        assert eventually(lambda: counts()[0] == counts()[1], within=WITHIN)
