# SPDX-License-Identifier: Apache-2.0
"""The package postgresql beside databases that fail: an error within the time limit, and each call-back once."""

import signal
import subprocess

import pytest

from harness import duda, postgres_server
from harness.databases import all_have_ended, asking, wait_until

QUICK = ("-DLIMIT_MS=500",)


@pytest.fixture
def database():
    with postgres_server.start() as server:
        server.sql("CREATE TABLE orders (name text)")
        yield server


@pytest.fixture
def serve(start, tmp_path):
    def run(database, *flags, **keys):
        return postgres_server.serve(start, tmp_path / "services", database, "packaged_orders", 3, *flags, **keys)

    return run


def works(server):
    return server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows"


def is_asked(database, text):
    return database.sql(f"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '{text}%'") != "0"


def test_more_queries_than_connections(serve, database):
    server = serve(database)
    with asking(server, *(f"/db/one?name={n}" for n in range(20)), *(["/db/transaction?name=kept"] * 5)) as texts:
        pass
    assert sorted(texts) == sorted([f"one={n}/{len(str(n))} 1 rows" for n in range(20)] + ["0 rows"] * 5)
    assert all_have_ended(server)
    assert database.backends() <= 2


def test_no_server_listens(serve, database):
    database.stop()
    server = serve(database, *QUICK)
    with asking(server, "/db/one?name=a", "/db/transaction?name=a", "/db/limited") as texts:
        pass
    assert all("Connection refused" in text for text in texts), texts
    database.start()
    wait_until(lambda: works(server))
    assert all_have_ended(server)


def test_the_server_is_killed(serve, database):
    server = serve(database)
    assert works(server)
    with asking(server, "/db/slow", "/db/slow", "/db/add?name=waits") as texts:
        wait_until(lambda: is_asked(database, "SELECT pg_sleep"))
        database.kill()
        wait_until(lambda: len(texts) >= 2)
        database.start()
    assert sorted(text[:5] for text in texts) in (["1 row", "error", "error"], ["error"] * 3)
    wait_until(lambda: works(server))
    assert all_have_ended(server)


def test_the_server_is_restarted(serve, database):
    server = serve(database)
    assert works(server)
    before = server.open_descriptors()
    for _ in range(3):
        with asking(server, "/db/slow") as texts:
            wait_until(lambda: is_asked(database, "SELECT pg_sleep"))
            database.stop()
        assert texts[0].startswith("error ") and len(texts[0]) > 10
        database.start()
        wait_until(lambda: works(server))
    assert all_have_ended(server)
    wait_until(lambda: server.open_descriptors() <= before)


def test_the_server_is_stopped_for_a_while(serve, database):
    server = serve(database, *QUICK)
    wait_until(lambda: works(server))
    database.signal(signal.SIGSTOP)
    with asking(server, "/db/one?name=a", "/db/transaction?name=a", "/db/add?name=b") as texts:
        pass
    assert all("time limit" in text or "no connection is free" in text for text in texts), texts
    assert server.get("/db/count").status == 200
    database.signal(signal.SIGCONT)
    wait_until(lambda: works(server))
    assert all_have_ended(server)
    wait_until(lambda: database.backends() <= 2)


def test_too_many_connections(serve, database):
    database.sql("CREATE ROLE few LOGIN CONNECTION LIMIT 1")
    uri = database.uri().replace(postgres_server.USER, "few", 1)
    holder = subprocess.Popen([postgres_server.programs() / "psql", "-X", uri, "-c", "SELECT pg_sleep(300)"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_asked(database, "SELECT pg_sleep(300)"))
        server = serve(database, "-DLIMIT_MS=4000", uri=uri)
        assert "too many connections" in server.get("/db/one?name=a", timeout=50).text
        database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(300)'")
    finally:
        holder.kill()
        holder.wait(60)
    wait_until(lambda: works(server))
    with asking(server, *(f"/db/one?name={n}" for n in range(6))) as texts:  # by one connection: the second is refused
        pass
    assert all(text.endswith("1 rows") for text in texts), texts
    assert all_have_ended(server)


def cancel(database):
    database.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100)'")


def test_a_client_that_leaves_while_its_query_runs(serve, database):
    server = serve(database)
    for turn in range(3):
        with server.connect() as client:
            client.send(b"GET /db/slow HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda turn=turn: server.get("/db/count").text.startswith(f"{turn + 1} "))
            wait_until(lambda: is_asked(database, "SELECT pg_sleep"))
        cancel(database)
        wait_until(lambda: all_have_ended(server))
    assert works(server)
    assert all_have_ended(server)
    assert database.backends() <= 2


def test_a_client_that_leaves_while_it_waits_for_a_connection(serve, database):
    server = serve(database)
    with asking(server, "/db/slow", "/db/slow"):
        wait_until(lambda: database.sql("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100)'") == "2")
        with server.connect() as client:
            client.send(b"GET /db/add?name=never HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda: server.get("/db/count").text.startswith("3 "))
        wait_until(lambda: server.get("/db/count").text.split()[2] == "1")
        cancel(database)
    wait_until(lambda: all_have_ended(server))
    assert server.get("/db/list").text == "0 rows"


def test_a_lost_listener_hears_again(serve, database):
    server = serve(database, "-DHEARS")
    wait_until(lambda: server.get("/db/heard").text.count("from now on") == 2)
    database.kill()
    database.start()
    wait_until(lambda: server.get("/db/heard").text.count("from now on") == 4)
    database.sql("NOTIFY orders, 'again'")
    wait_until(lambda: server.get("/db/heard").text.endswith("orders:again;"))


def test_services_do_not_meet(serve, database):
    server = serve(database, "-DHEARS", names=("db", "other"))
    for name in ("db", "other"):
        wait_until(lambda name=name: server.get(f"/{name}/heard").text.count("from now on") == 2)
    assert server.get("/other/mute").text == "-1 -1 0 -1"
    database.sql("NOTIFY orders, 'milk'")
    wait_until(lambda: server.get("/db/heard").text.endswith("orders:milk;"))
    assert "milk" not in server.get("/other/heard").text
    with asking(server, *["/db/add?name=a", "/other/add?name=b"] * 5) as texts:
        pass
    assert texts == ["1 rows"] * 10
    assert server.get("/db/count").text == server.get("/other/count").text == "5 5 0"


def test_a_reload_leaves_no_connection(serve, database, tmp_path):
    server = serve(database, "-DHEARS")
    for _ in range(3):
        assert works(server)
        duda.build(tmp_path / "services", "packaged_orders", name="db", level=3, flags=(f'-DDATABASE="{database.uri()}"', "-fcommon"))
        server.reload()
    assert works(server)
    wait_until(lambda: database.backends() == 1)
