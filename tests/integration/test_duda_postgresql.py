# SPDX-License-Identifier: Apache-2.0
"""The package postgresql: the published calls, and what level 3 adds."""

import urllib.parse

import pytest

from harness import postgres_server
from harness.databases import wait_until


@pytest.fixture
def database():
    with postgres_server.start() as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(source, level, database, *flags, **keys):
        return postgres_server.serve(start, tmp_path / "services", database, source, level, *flags, **keys)

    return run


def test_the_published_calls(serve, database):
    server = serve("packaged_postgresql", 1, database)
    assert server.get("/db/rows").text == ("text(a,b) 1,nulltext(c) end;params(n,t,l) 8,null,3 end; end;prepared(n) 14 end;"
                                           "aborted(n) end; end;closed")
    assert server.get("/db/escape").text == "'it''s' \"a\"\"b\" \\x0001 7 3 closed"
    for _ in range(3):
        assert server.get("/db/pooled").text == "pooled(n) 1closed"
    assert server.get("/db/wrong").text == "all refused"
    wait_until(lambda: database.backends() == 1)  # of the pool


def test_a_unix_socket(serve, database):
    server = serve("packaged_postgresql", 1, database, uri=database.socket_uri())
    assert server.get("/db/escape").text.endswith("closed")


@pytest.fixture
def orders(database):
    database.sql("CREATE TABLE orders (name text)")
    return database


def test_one_query(serve, orders):
    server = serve("packaged_orders", 3, orders)
    for name in ("milk", "it's; DROP TABLE orders", "bread"):
        assert server.get("/db/add?name=" + urllib.parse.quote(name)).text == "1 rows"
    assert server.get("/db/list").text == ("name=bread/5 nothing=null/-1 name=it's; DROP TABLE orders/23 nothing=null/-1 "
                                           "name=milk/4 nothing=null/-1 3 rows")
    assert server.get("/db/fault").text.startswith("error 22012: ERROR:  division by zero")
    assert "COPY is not possible" in server.get("/db/copy").text
    assert server.get("/db/one?name=still").text == "one=still/5 1 rows"


def test_a_kept_statement_of_a_table_that_has_changed(serve, orders):
    server = serve("packaged_orders", 3, orders)
    assert server.get("/db/list").text == "0 rows"
    orders.sql("ALTER TABLE orders ALTER name TYPE varchar(9)")
    assert server.get("/db/list").text.startswith("error 0A000")
    assert server.get("/db/list").text == "0 rows"


def test_transactions(serve, orders):
    server = serve("packaged_orders", 3, orders)
    assert server.get("/db/transaction?name=kept").text == "0 rows"
    assert server.get("/db/transaction?name=fault").text.startswith("error 40000")
    for _ in range(3):  # more than the pool has connections
        assert server.get("/db/transaction?name=undone").text == "undone"
    assert server.get("/db/list").text == "name=kept/4 nothing=null/-1 1 rows"


def test_a_transaction_whose_client_has_left_is_rolled_back(serve, orders):
    server = serve("packaged_orders", 3, orders)
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
    for _ in range(3):
        with server.connect() as client:
            client.send(b"GET /db/transaction?name=parked HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda: orders.sql(open_ones) == "1")
        wait_until(lambda: orders.sql(open_ones) == "0")
    assert server.get("/db/list").text == "0 rows"


def is_over(text):
    """The server has cancelled the query, or the package has given the connection up."""
    return "error 57014: " in text or "the time limit of the query is over" in text


def test_the_time_limit(serve, orders):
    server = serve("packaged_orders", 3, orders, "-DLIMIT_MS=1000")
    text = server.get("/db/limited", timeout=50).text
    assert text.startswith("-1 ") and is_over(text)
    assert is_over(server.get("/db/slow", timeout=50).text)
    wait_until(lambda: orders.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(100)' AND state = 'active'")
               == "0")
    wait_until(lambda: server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows")


def test_a_queue_of_none(serve, orders):
    server = serve("packaged_orders", 3, orders, "-DQUEUE=0")
    with server.connect() as one, server.connect() as other:
        for client in (one, other):  # all connections of the pool
            client.send("GET /db/slow HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: orders.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(100)'"
                                      " AND state = 'active' AND pid <> pg_backend_pid()") == "2")
        assert server.get("/db/one?name=more").status == 503
    wait_until(lambda: server.get("/db/one?name=well").text == "one=well/4 1 rows")


def test_notifications(serve, orders):
    server = serve("packaged_orders", 3, orders, "-DHEARS")
    wait_until(lambda: server.get("/db/heard").text.count("from now on") == 2)
    orders.sql('NOTIFY "a ""name"""')
    orders.sql("NOTIFY orders, 'milk'; NOTIFY orders, 'bread'; NOTIFY others")
    wait_until(lambda: server.get("/db/heard").text.endswith('a "name":;orders:milk;orders:bread;'))
    assert server.get("/db/mute").text == "-1 -1 0 -1"
    orders.sql("NOTIFY orders, 'never'")
    orders.sql('NOTIFY "a ""name""", \'last\'')
    wait_until(lambda: server.get("/db/heard").text.endswith('bread;a "name":last;'))
