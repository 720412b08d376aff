# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while a package works for a request: an answer, an error or a cut, and the next request works."""

import functools

import pytest

from harness import duda, http, mariadb_server, postgres_server, redis_server
from test_duda_redis_client import build as build_redis

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]
WITHIN = 50.0


class Failing:
    """Starts a service, and asks it until no allocation fails."""

    def __init__(self, start, services, allocations):
        self.start = functools.partial(start, env=allocations.environment)
        self.services = services
        self.allocations = allocations

    def serve(self, **keys):
        return self.start(**duda.config(self.services, "db", server="Workers 1\n", duda={"PackagesRoot": duda.packages(), **keys}))

    def ask(self, server, target, good):
        data = http.request(target, headers={"Connection": "close"})

        def once(number):
            seen = server.raw_until_cut(data)
            assert not seen or seen.startswith(b"HTTP/1.1 "), f"allocation {number}: {seen[:100]}"

        def works():
            answer = server.get(target, timeout=WITHIN)
            return answer.status == 200 and good(answer.text)

        assert works()
        return self.allocations.until_none_fails(server, once, works)


@pytest.fixture
def fails(start, tmp_path, allocations):
    return Failing(start, tmp_path / "services", allocations)


def test_sqlite(fails, tmp_path):
    duda.require_package("sqlite")
    duda.build(fails.services, "packaged_sqlite", name="db", level=1, flags=("-fcommon", f'-DDATABASE="{tmp_path / "rows.db"}"'))
    rows = "row n=1;row n=2; 1 1.5 one 2 2.5 two done 0 -1"
    assert fails.ask(fails.serve(), "/db/rows", lambda text: text == rows) > 5


def test_postgresql(fails):
    with postgres_server.start() as database:
        database.sql("CREATE TABLE orders (name text)")
        server = postgres_server.serve(fails.start, fails.services, database, "packaged_orders", 3)
        assert server.get("/db/add?name=milk", timeout=WITHIN).text == "1 rows"
        assert fails.ask(server, "/db/list", lambda text: text.endswith("1 rows")) > 5


def test_mariadb(fails):
    with mariadb_server.start() as database:
        database.sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id int AUTO_INCREMENT PRIMARY KEY, name varchar(60))")
        server = mariadb_server.serve(fails.start, fails.services, database, "packaged_stock", 3)
        assert server.get("/db/add?name=milk", timeout=WITHIN).text.startswith("1 rows")
        assert fails.ask(server, "/db/list", lambda text: text.endswith("1 rows, id 0")) > 5


@pytest.mark.parametrize("target, good", [("/db/get?key=k", "value"), ("/db/alone", "alone")])
def test_redis(fails, tmp_path, target, good):
    duda.require_package("redis")
    with redis_server.Server(tmp_path) as redis:
        build_redis(fails.services, "db", redis)
        server = fails.serve(WaitTimeout=3)  # of a request whose answer fails
        assert server.get("/db/ask?c=SET,k,value", timeout=WITHIN).status == 200
        assert fails.ask(server, target, lambda text: good in text) > 5
