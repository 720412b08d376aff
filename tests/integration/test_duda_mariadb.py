# SPDX-License-Identifier: Apache-2.0
"""The package mariadb: the published calls, and what level 3 adds."""

import shutil
import urllib.parse

import pytest

from harness import certificates, mariadb_server
from harness.databases import wait_until


@pytest.fixture
def database():
    with mariadb_server.start() as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(source, level, database, *flags, **keys):
        return mariadb_server.serve(start, tmp_path / "services", database, source, level, *flags, **keys)

    return run


def test_the_published_calls(serve, database):
    server = serve("packaged_mariadb", 1, database)
    assert server.get("/db/rows").text == ("text(a,b) 1,nulltext(c) end; end;kept(n) 14 end;aborted(n) end; end;last(a) last end;"
                                           "closed")
    assert server.get("/db/many").text == "450015000 closed"
    assert server.get("/db/escape").text == "it\\'s\\0 7 closed"
    for _ in range(3):
        assert server.get("/db/pooled").text == "pooled(n) 1closed"
    assert server.get("/db/waiting").text == "0 n(1) 1 2 3 0;nothing(1) null 0;none(0) 0;none(0) 1;done"
    assert server.get("/db/all").text == "n(1) 1 0;done"
    assert server.get("/db/wrong").text == "all refused"
    wait_until(lambda: database.connections() == 1)  # of the pool


@pytest.fixture
def stock(database):
    database.sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id int AUTO_INCREMENT PRIMARY KEY, name varchar(60))")
    return database


def test_one_query(serve, stock):
    server = serve("packaged_stock", 3, stock)
    for number, name in enumerate(("milk", "it's; DROP TABLE orders", "bread"), 1):
        assert server.get("/db/add?name=" + urllib.parse.quote(name)).text == f"1 rows, id {number}"
    assert server.get("/db/list").text == ("name=bread/5 nothing=null/-1 name=it's; DROP TABLE orders/23 nothing=null/-1 "
                                           "name=milk/4 nothing=null/-1 3 rows, id 0")
    assert server.get("/db/fault").text == "error 1644 45000: no more"
    assert server.get("/db/parameters").text == "error 0 07001: the statement has another number of parameters"
    assert server.get("/db/one?name=still").text == "one=still/5 1 rows, id 0"


def test_kinds_of_values(serve, stock):
    server = serve("packaged_stock", 3, stock)
    for _ in range(2):
        assert server.get("/db/values").text == ("text=" + "x" * 200 + "/200 d=-1.5e300/8 u=18446744073709551615/20 day=2026-01-02/10 "
                                                 "raw=end/3 1 rows, id 0")


def test_more_results_than_one(serve, stock):
    stock.sql("DELIMITER //\nCREATE PROCEDURE shop.two_results(a int) BEGIN SELECT a AS a; SELECT a + 1 AS b, 2 AS c; END//")
    server = serve("packaged_stock", 3, stock)
    for _ in range(2):
        assert server.get("/db/procedure").text == "a=1/1 b=2/1 c=2/1 0 rows, id 0"


def test_more_statements_than_are_kept(serve, stock):
    server = serve("packaged_stock", 3, stock)
    for number in [*range(40), 0, 39]:
        assert server.get(f"/db/another?n={number}").text.startswith(f"n={number}/")
    assert int(stock.sql("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").split()[1]) <= 32


def test_a_kept_statement_of_a_table_that_has_changed(serve, stock):
    server = serve("packaged_stock", 3, stock)
    assert server.get("/db/list").text == "0 rows, id 0"
    stock.sql("ALTER TABLE shop.orders MODIFY name varchar(9), ADD more int")
    assert server.get("/db/add?name=milk").text == "1 rows, id 1"
    assert server.get("/db/list").text == "name=milk/4 nothing=null/-1 1 rows, id 0"


def test_transactions(serve, stock):
    server = serve("packaged_stock", 3, stock)
    assert server.get("/db/transaction?name=kept").text == "0 rows, id 0"
    assert server.get("/db/transaction?name=fault").text.startswith("error 0 40000")
    for _ in range(3):  # more than the pool has connections
        assert server.get("/db/transaction?name=undone").text == "undone"
    assert server.get("/db/list").text == "name=kept/4 nothing=null/-1 1 rows, id 0"


def test_a_transaction_whose_client_has_left_is_rolled_back(serve, stock):
    server = serve("packaged_stock", 3, stock)
    for _ in range(3):
        with server.connect() as client:
            client.send(b"GET /db/transaction?name=parked HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda: stock.sql("SELECT count(*) FROM information_schema.innodb_trx") == "1")
        wait_until(lambda: stock.sql("SELECT count(*) FROM information_schema.innodb_trx") == "0")
    assert server.get("/db/list").text == "0 rows, id 0"


def is_over(text):
    """The server has cancelled the query, or the package has given the connection up."""
    return "error 1969 70100: " in text or "the time limit of the query is over" in text


def test_the_time_limit(serve, stock):
    server = serve("packaged_stock", 3, stock, "-DLIMIT_MS=1000")
    text = server.get("/db/limited", timeout=50).text
    assert text.startswith("-1 ") and is_over(text)
    assert is_over(server.get("/db/slow", timeout=50).text)
    wait_until(lambda: not stock.is_asked("SELECT sleep"))
    wait_until(lambda: server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows, id 0")


def test_tls(serve):
    pair = certificates.issue("127.0.0.1", kind="rsa")
    with mariadb_server.start(f"--ssl-cert={pair.chain}", f"--ssl-key={pair.key}") as database:
        shutil.copy(certificates.authority().certificate, database.folder / "ca.pem")
        shutil.copy(certificates.authority("Other CA").certificate, database.folder / "other.pem")
        server = serve("packaged_mariadb", 1, database)
        assert server.get("/db/secured").text == "secured closed"
        assert server.get("/db/secured?ca=ca.pem").text == "secured closed"
        for other in ("other.pem", "none.pem"):
            assert server.get(f"/db/secured?ca={other}").text == "refused"


def test_a_server_without_tls_is_refused(serve, database):
    assert serve("packaged_mariadb", 1, database).get("/db/secured").text == "refused"
