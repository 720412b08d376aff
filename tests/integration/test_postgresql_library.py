# SPDX-License-Identifier: Apache-2.0
"""<monkey/postgresql.h>: handlers of programs that ask PostgreSQL, what they get when it fails, and how they end."""

import concurrent.futures
import contextlib
import signal
import subprocess
from urllib.parse import quote_plus

import pytest

from harness import askers, installed, postgres_server, process, redis_server
from harness.client import eventually
from harness.liar import Liar

PROGRAMS = process.TREE / "tests" / "integration" / "programs"
PATIENCE = 60.0
pytestmark = [pytest.mark.limit(180), pytest.mark.once("a program of its own, without a carrier", and_in=["asan"])]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = installed.Installation(tmp_path_factory.mktemp("image"))
    if not list(made.image.rglob("libmonkey-postgresql.so")):
        pytest.skip("libpq is not installed")
    return made


@pytest.fixture(scope="module")
def program(installation):
    return installation.build(PROGRAMS / "postgresql_asker.c", "monkey-postgresql")


@pytest.fixture(scope="module")
def shared():
    with postgres_server.start() as server:
        server.sql("CREATE TABLE items (id integer PRIMARY KEY, name text)")
        yield server


@pytest.fixture
def database():
    """One that a test may hurt."""
    with postgres_server.start() as server:
        yield server


@pytest.fixture
def asking(installation, program, tmp_path):
    with contextlib.ExitStack() as stack:
        def start(url, workers=1, timeout_ms=30_000, connections=4, queries=64, within=()):
            return stack.enter_context(askers.Asker(installation, program, tmp_path, url, workers, timeout_ms, connections, queries,
                                                    within=within))
        yield start


def ask(sql, value=None, path="/ask"):
    return f"{path}?q={quote_plus(sql)}" + ("" if value is None else f"&v={quote_plus(value)}")


def test_rows_come_later(shared, asking):
    asker = asking(shared.uri())
    assert asker.get(ask("SELECT 1 AS a, NULL AS b, 'x' AS c")) == (200, "0  1 3 1 a=1 b=null c=x")
    assert asker.get(ask("SELECT n FROM generate_series(1, 100) AS n")) == (200, "0  100 1 100 n=1")
    assert asker.get(ask("SELECT 1 AS a WHERE false")) == (200, "0  0 1 0 a=null")
    assert asker.get(ask("SELECT")) == (200, "0  1 0 1")


def test_values_are_no_text_of_the_statement(shared, asking):
    asker = asking(shared.uri())
    evil = "'; DROP TABLE items; -- \\ \" é"
    assert asker.get(ask("SELECT $1::text AS t", evil)) == (200, f"0  1 1 1 t={evil}")
    assert asker.get(ask("INSERT INTO items VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET name = $1", "x")) == (200, "0  0 0 1")
    assert asker.get(ask("UPDATE items SET name = $1", "")) == (200, "0  0 0 1")
    assert asker.get(ask("SELECT name FROM items")) == (200, "0  1 1 1 name=")
    assert asker.get("/nul")[0] == 500


def test_an_error_of_the_server_is_a_value(shared, asking):
    asker = asking(shared.uri())
    assert asker.get(ask("SELECT 1/0")) == (200, "-13 22012 0 0 0")
    assert asker.get(ask("SELECT nothing")) == (200, "-13 42703 0 0 0")
    assert asker.get(ask("SELECT $1::int AS a", "x")) == (200, "-13 22P02 0 0 0")
    assert asker.get(ask("SELECT 1 AS a")) == (200, "0  1 1 1 a=1")


def test_two_queries_at_once_and_one_after_another(shared, asking):
    asker = asking(shared.uri(), connections=2)
    with asker.connect() as connection:
        for path in ("/both", "/chain") * 4:
            connection.request("GET", ask("SELECT 7 AS a", path=path))
            assert connection.getresponse().read() == b"0  1 1 1 a=7"


def test_an_open_transaction_is_no_others(shared, asking):
    asker = asking(shared.uri(), connections=1)
    assert asker.get(ask("BEGIN"))[0] == 200
    assert asker.get(ask("SAVEPOINT a")) == (200, "-13 25P01 0 0 0")


def test_a_long_answer_is_an_error(shared, asking):
    asker = asking(shared.uri())
    assert asker.get(ask("SELECT repeat('x', 70000)"))[0] == 500
    assert asker.get(ask("SELECT NULL FROM generate_series(1, 100000)"))[0] == 500
    assert asker.get(ask("SELECT repeat('x', 60000) AS a"))[1].endswith("xxx")


def test_a_worker_never_blocks(shared, asking):
    asker = asking(shared.uri())
    with asker.send(ask("SELECT pg_sleep(1)")) as waiting:
        for _ in range(20):
            assert asker.get("/alive") == (200, "alive")
        assert waiting.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_slow_query_costs_its_time_limit(shared, asking):
    asker = asking(shared.uri(), timeout_ms=500)
    assert asker.get(ask("SELECT pg_sleep(100)"))[0] == 504
    assert asker.get(ask("SELECT 1 AS a"))[0] == 200


def cancel_sleepers(server):
    server.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100)'")
    return True


def test_a_full_queue_is_refused(shared, asking):
    asker = asking(shared.uri(), connections=1, queries=2, timeout_ms=100_000)
    assert asker.get(ask("SELECT 1"))[0] == 200
    waiting = [asker.send(ask("SELECT pg_sleep(100)")) for _ in range(12)]
    assert eventually(lambda: asker.fields(ask("SELECT 1", path="/both"))[0] == 503, within=PATIENCE)
    assert asker.fields(ask("SELECT 1", path="/both"))[1]["Retry-After"] == "1"
    for sock in waiting:
        sock.close()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        served = pool.submit(eventually, lambda: asker.get(ask("SELECT 1"))[0] == 200, PATIENCE)
        assert eventually(lambda: cancel_sleepers(shared) and served.done(), within=PATIENCE)
        assert served.result()


def test_a_client_goes_while_its_query_runs(shared, asking):
    asker = asking(shared.uri(), connections=2)
    for _ in range(8):
        asker.send(ask("SELECT pg_sleep(0.1)", path="/both")).close()
    assert asker.get("/alive") == (200, "alive")
    assert asker.get(ask("SELECT 1 AS a")) == (200, "0  1 1 1 a=1")
    assert eventually(lambda: shared.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%sleep%' AND state = 'active'"
                                         " AND pid <> pg_backend_pid()") == "0", within=PATIENCE)


def test_the_program_ends_while_queries_run(shared, asking):
    asker = asking(shared.uri(), workers=2)
    waiting = [asker.send(ask("SELECT pg_sleep(100)", path="/both")) for _ in range(8)]
    assert asker.get("/alive") == (200, "alive")
    assert len(waiting) == 8


@pytest.mark.parametrize("connections", [1, 3])
def test_workers_share_their_bound_of_connections(database, asking, connections):
    asker = asking(database.uri(), workers=4, connections=connections, queries=1000)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: asker.get(ask("SELECT pg_sleep(0.002)"))[0], range(200)))
        assert answers == [200] * 200
    assert database.backends() <= connections


def test_there_is_no_server(asking):
    asker = asking("postgresql://127.0.0.1:1/x")
    status, fields = asker.fields(ask("SELECT 1"))
    assert (status, fields["Retry-After"]) == (503, "1")
    assert asker.get("/alive") == (200, "alive")


def test_a_server_that_was_killed_is_asked_again(database, asking):
    asker = asking(database.uri())
    assert asker.get(ask("SELECT 1"))[0] == 200
    waiting = [asker.send(ask("SELECT pg_sleep(100)")) for _ in range(3)]
    assert eventually(lambda: database.backends() >= 3, within=PATIENCE)
    database.kill()
    for sock in waiting:
        with sock:
            assert sock.recv(65536).startswith((b"HTTP/1.1 502 ", b"HTTP/1.1 503 ")), "lost"
    assert eventually(lambda: asker.get(ask("SELECT 1"))[0] == 503, within=PATIENCE)
    database.start()
    assert eventually(lambda: asker.get(ask("SELECT 1"))[0] == 200, within=PATIENCE)


def test_a_server_that_stands_still(database, asking):
    asker = asking(database.uri(), timeout_ms=500)
    assert asker.get(ask("SELECT 1"))[0] == 200
    database.signal(signal.SIGSTOP)
    assert asker.get(ask("SELECT 1"))[0] == 504
    assert asker.get(ask("SELECT 1"))[0] in (503, 504)
    assert asker.get("/alive") == (200, "alive")
    database.signal(signal.SIGCONT)
    assert eventually(lambda: asker.get(ask("SELECT 1"))[0] == 200, within=PATIENCE)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad\r\n\r\n", b"R\0\0\0\x08\0\0\0\x63", b"R\xff\xff\xff\xff", b"\0" * 5000,
                                    b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05IZ\0\0\0\x05I", b""])
def test_a_server_that_lies(asking, answer):
    with Liar(answer, closes=True) as liar:
        asker = asking(f"postgresql://x@{liar.address}/x?sslmode=disable&gssencmode=disable", timeout_ms=500)
        assert asker.get(ask("SELECT 1"))[0] in (502, 503, 504)
        assert asker.get("/alive") == (200, "alive")


def test_a_server_that_is_full(asking):
    with postgres_server.start(max_connections="4", superuser_reserved_connections="0") as database:
        asker = asking(database.uri(), workers=2, connections=16, queries=1000)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda number: asker.get(ask("SELECT pg_sleep(0.002)"))[0], range(100)))
        assert set(answers) <= {200, 503} and answers.count(200) > 0
        assert eventually(lambda: asker.get(ask("SELECT 1"))[0] == 200, within=PATIENCE)


@pytest.mark.parametrize("url", ["", "http://a", "postgresql://1.2.3/x", "postgresql://a.name,b.name/x", "postgresql://a%20b/x", "postgresql://127.0.0.1/x?no=key"])
def test_invalid_urls(installation, program, tmp_path, url):
    done = subprocess.run([program, f"unix:{tmp_path}/socket", url, "1", "0", "0", "0"], env=installation.env, stderr=subprocess.PIPE,
                          timeout=PATIENCE)
    assert done.returncode == 1 and done.stderr.startswith(b"asker: ") and len(done.stderr) > 12


def test_the_example(installation, shared, tmp_path):
    if not list(installation.image.rglob("libmonkey-redis.so")):
        pytest.skip("hiredis is not installed")
    program = installation.build("embed/shop.c", "monkey-postgresql monkey-redis")
    shared.sql("DROP TABLE items; CREATE TABLE items (id integer PRIMARY KEY, name text, price integer);"
               " INSERT INTO items VALUES (7, 'a \"cup\"', 12)")
    with redis_server.Server(tmp_path) as cache, askers.Asker(installation, program, tmp_path, shared.uri(),
                                                              f"redis://{cache.address}") as shop:
        wanted = (200, '{"name":"a \\"cup\\"","price":12}')
        assert shop.get("/items/7") == wanted
        assert shop.get("/items/7") == wanted
        assert shop.get("/items/8")[0] == 404
        assert shop.get("/items/99999999999")[0] == 500
        cache.ask("SET", "item:5", '{"kept":1}')
        assert shop.get("/items/5") == (200, '{"kept":1}')
        cache.kill()
        assert eventually(lambda: shop.get("/items/7") == wanted, within=PATIENCE)
