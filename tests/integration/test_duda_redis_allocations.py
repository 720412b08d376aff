# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while a session is fetched or changed: an answer or an error, and the next one works."""

import pytest

from harness import duda, http, redis_server
from harness.client import eventually

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]
WITHIN = 50.0


@pytest.fixture
def redis(tmp_path):
    duda.require_package("redis")
    duda.require_package("websocket")
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def serve(start, tmp_path, redis, allocations):
    def run(service, level):
        duda.build(tmp_path / "services", service, level=level)
        url = f"redis://{redis.address}"
        return start(env=allocations.environment, **duda.config(
            tmp_path / "services", service, server="Workers 1\n",
            duda={"SessionStore": url, "Backplane": url, "PackagesRoot": duda.packages()}))

    return run


def test_sessions(serve, allocations):
    server = serve("obj_session", 1)

    def created():
        answer = server.get("/obj_session/s/create/user/me/0", timeout=WITHIN)
        return answer.status == 200 and answer.body == b"0" and answer.header("Set-Cookie").split(";")[0]

    assert eventually(created, within=WITHIN)
    cookie = {"Cookie": created()}
    works = lambda: server.get("/obj_session/s/get/user", headers=cookie, timeout=WITHIN).body == b"me 0"  # noqa: E731
    for target, headers in (("get/user", cookie), ("create/a/b/0", {})):
        def ask(number, data=http.request(f"/obj_session/s/{target}", headers={"Connection": "close", **headers})):
            seen = server.raw_until_cut(data)
            assert not seen or seen.startswith(b"HTTP/1.1 "), f"allocation {number}: {seen[:100]}"

        assert allocations.until_none_fails(server, ask, works) > 5
