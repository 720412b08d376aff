# SPDX-License-Identifier: Apache-2.0
"""The package mariadb beside databases that fail: an error within the time limit, and each call-back once."""

import pytest

from harness import duda, mariadb_server
from harness.databases import all_have_ended, asking, wait_until

QUICK = ("-DLIMIT_MS=500",)
SLOW = "SELECT sleep"


@pytest.fixture
def database():
    with mariadb_server.start() as server:
        server.sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id int AUTO_INCREMENT PRIMARY KEY, name varchar(60))")
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(database, *flags, **keys):
        return mariadb_server.serve(start, tmp_path / "services", database, "packaged_stock", 3, *flags, **keys)

    return run


def works(server):
    return server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows, id 0"


def test_more_queries_than_connections(serve, database):
    server = serve(database)
    with asking(server, *(f"/db/one?name={n}" for n in range(20)), *(["/db/transaction?name=kept"] * 5)) as texts:
        pass
    assert sorted(texts) == sorted([f"one={n}/{len(str(n))} 1 rows, id 0" for n in range(20)] + ["0 rows, id 0"] * 5)
    assert all_have_ended(server)
    assert database.connections() <= 2


def test_no_server_listens(serve, database):
    database.stop()
    server = serve(database, *QUICK)
    with asking(server, "/db/one?name=a", "/db/transaction?name=a", "/db/limited", "/db/waiting") as texts:
        pass
    assert all("Can't connect" in text or text in ("error: no connection", "error: not connected") for text in texts), texts
    database.start()
    wait_until(lambda: works(server))
    assert all_have_ended(server)


def test_the_server_is_killed(serve, database):
    server = serve(database)
    assert works(server)
    with asking(server, "/db/slow", "/db/waiting", "/db/add?name=waits") as texts:
        wait_until(lambda: database.is_asked(SLOW))
        database.kill()
        wait_until(lambda: len(texts) >= 2)
        database.start()
    assert sum(text.startswith("error") for text in texts) >= 2, texts
    wait_until(lambda: works(server))
    assert all_have_ended(server)


def test_the_server_is_restarted(serve, database):
    server = serve(database)
    assert works(server)
    before = server.open_descriptors()
    for target in ("/db/slow", "/db/waiting"):
        with asking(server, target) as texts:
            wait_until(lambda: database.is_asked(SLOW))
            database.stop()
        assert texts[0].startswith("error") and len(texts[0]) > 10
        database.start()
        wait_until(lambda: works(server))
    assert all_have_ended(server)
    wait_until(lambda: server.open_descriptors() <= before)


def test_the_server_is_stopped_for_a_while(serve, database):
    server = serve(database, *QUICK)
    wait_until(lambda: works(server))
    database.pause()
    with asking(server, "/db/one?name=a", "/db/transaction?name=a", "/db/add?name=b", "/db/waiting") as texts:
        pass
    assert all("time limit" in text or "no connection" in text for text in texts), texts
    assert server.get("/db/count").status == 200
    database.go_on()
    wait_until(lambda: works(server))
    assert all_have_ended(server)
    wait_until(lambda: database.connections() <= 2)


def test_too_many_connections(serve, database):
    database.sql("CREATE USER few WITH MAX_USER_CONNECTIONS 1; GRANT ALL ON *.* TO few")
    server = serve(database, "-DLIMIT_MS=4000", '-DDB_USER="few"')
    with asking(server, *(f"/db/one?name={n}" for n in range(6))) as texts:  # by one connection: the second is refused
        pass
    assert all(text.endswith("1 rows, id 0") for text in texts), texts
    assert all_have_ended(server)


def test_a_client_that_leaves_while_its_query_runs(serve, database):
    server = serve(database)
    for turn, target in enumerate((b"slow", b"slow", b"waiting")):
        with server.connect() as client:
            client.send(b"GET /db/%s HTTP/1.1\r\nHost: a\r\n\r\n" % target)
            wait_until(lambda turn=turn: server.get("/db/count").text.startswith(f"{turn + 1} "))
            wait_until(lambda: database.is_asked(SLOW))
        database.cancel(SLOW)
        wait_until(lambda: all_have_ended(server))
    assert works(server)
    assert all_have_ended(server)
    assert database.connections() <= 2


def test_a_client_that_leaves_while_it_waits_for_a_connection(serve, database):
    server = serve(database)
    with asking(server, "/db/slow", "/db/slow"):
        wait_until(lambda: database.sql("SELECT count(*) FROM information_schema.processlist WHERE info = 'SELECT sleep(100)'") == "2")
        with server.connect() as client:
            client.send(b"GET /db/add?name=never HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda: server.get("/db/count").text.startswith("3 "))
        wait_until(lambda: server.get("/db/count").text.split()[2] == "1")
        database.cancel(SLOW)
    wait_until(lambda: all_have_ended(server))
    assert server.get("/db/list").text == "0 rows, id 0"


def test_services_do_not_meet(serve, database):
    server = serve(database, names=("db", "other"))
    with asking(server, *["/db/add?name=a", "/other/add?name=b"] * 5) as texts:
        pass
    assert all(text.startswith("1 rows") for text in texts), texts
    assert server.get("/db/count").text == server.get("/other/count").text == "5 5 0"


def test_a_reload_leaves_no_connection(serve, database, tmp_path):
    server = serve(database)
    for _ in range(3):
        assert works(server)
        duda.build(tmp_path / "services", "packaged_stock", name="db", level=3, flags=(f"-DDB_PORT={database.port}", '-DDB_SOCKET=""', "-fcommon"))
        server.reload()
    assert works(server)
    wait_until(lambda: database.connections() == 1)
