# SPDX-License-Identifier: Apache-2.0
"""The package sqlite: work on threads of the server, while its one worker serves others."""

import http.client
import threading

import pytest

from harness import duda, http as raw
from harness.client import eventually

WRITERS = 100
ROWS = 3


@pytest.fixture
def server(start, tmp_path):
    duda.require_package("sqlite")
    duda.build(tmp_path / "services", "packaged_later", name="db", level=3,
               flags=("-fcommon", f'-DDATABASE="{tmp_path / "rows.db"}"'))
    return start(server="Workers 1", **duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}))


def add(server, text, path="/db/add"):
    return server.request(path, "POST", body=text)


def rows(server):
    count, *found = server.get("/db/list").text.splitlines()
    assert int(count) == len(found)
    return found


def counts(server, method="GET", path="/db/counts"):
    numbers = server.request(path, method).body.split()
    return dict(zip(("begun", "ends", "left"), map(int, numbers), strict=True))


def test_the_answer_follows_the_commit(server):
    assert add(server, b"milk").status == 201
    assert add(server, b"it's; DROP TABLE rows").status == 201
    assert rows(server) == ["milk", "it's; DROP TABLE rows"]


def test_work_that_fails_is_rolled_back(server):
    refused = add(server, b"never", "/db/fail")
    assert (refused.status, refused.text) == (500, "-1")
    assert rows(server) == []


def test_wrong_calls(server):
    assert server.get("/db/wrong").text == "-3"


def test_the_worker_serves_others_meanwhile(server):
    counts(server, "DELETE", "/db/gate")
    with server.connect() as connection:
        connection.send(raw.request("/db/add", "POST", body=b"slow"))
        assert eventually(lambda: counts(server)["begun"] == 1)
        assert rows(server) == []  # readers see what was committed
        counts(server, "PUT", "/db/gate")
        assert connection.response().status == 201
    assert rows(server) == ["slow"]


def test_a_lost_client_is_rolled_back(server):
    counts(server, "DELETE", "/db/gate")
    with server.connect() as connection:
        connection.send(raw.request("/db/add", "POST", body=b"gone"))
        assert eventually(lambda: counts(server)["begun"] == 1)
    assert eventually(lambda: counts(server)["left"] == 1)
    assert counts(server, "PUT", "/db/gate")["ends"] == 0
    assert eventually(lambda: counts(server)["ends"] == 1)
    assert rows(server) == []
    assert add(server, b"next").status == 201
    assert rows(server) == ["next"]


def _write(port, number, kept):
    """Add rows; those for which the queue has no room are tried again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    turn, pause = 0, threading.Event()
    while turn < ROWS:
        connection.request("POST", "/db/add", body=f"{number}.{turn}")
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            kept.append(f"{number}.{turn}")
            turn += 1
        else:
            assert answer.status == 503
            pause.wait(0.02)
    connection.close()


def test_rows_of_100_writers(server):
    kept = []
    writers = [threading.Thread(target=_write, args=(server.port, n, kept)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(kept) == WRITERS * ROWS
    assert sorted(rows(server)) == sorted(kept)


# What a service of each level can call: the row is written on another thread, and the worker answers.
AT_ALL_LEVELS = """
#include "webservice.h"
#include "packages/sqlite/sqlite.h"
DUDA_REGISTER("tests", "rows");

struct job {
    long long id;
    int inserted, changed;
};

static sqlite_pool_t *pool;
static struct job job;

static int insert(sqlite_pool_t *p, void *arg)
{
    struct job *j = arg;
    sqlite3 *db = sqlite->pool_handle(p);

    if (sqlite->run(p, "INSERT INTO item (text) VALUES ('a'), ('b')") < 0)
        return -1;
    j->inserted = sqlite->changed_rows(db);
    j->id = sqlite->last_id(db);
    if (sqlite->run(p, "UPDATE item SET text = 'c'") < 0)
        return -1;
    j->changed = sqlite->changed_rows(db);
    return 0;
}

static void inserted(duda_request_t *dr, int result, void *arg)
{
    const struct job *j = arg;

    response->http_status(dr, 200);
    response->printf(dr, "%d %lld %d %d", result, j->id, j->inserted, j->changed);
    response->finalize(dr, NULL);
}

void add(duda_request_t *dr)
{
    if (sqlite->transaction_later(dr, pool, insert, inserted, NULL, &job) < 0) {
        response->http_status(dr, 503);
        response->end(dr, NULL);
    }
}

void none(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%lld %d", (long long)sqlite->last_id(NULL), sqlite->changed_rows(NULL));
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(sqlite, "sqlite");
    pool = sqlite->pool_open(DATABASE, 1000);
    if (!pool || sqlite->run(pool, "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)") < 0)
        return -1;
    map->static_add("/add", "add");
    map->static_add("/none", "none");
    return 0;
}

void duda_exit(void)
{
    sqlite->pool_close(pool);
}
"""


@pytest.mark.parametrize("level", [1, 2, 3])
def test_off_the_worker_at_all_levels(start, tmp_path, level):
    duda.require_package("sqlite")
    duda.build(tmp_path / "services", AT_ALL_LEVELS, name="rows", level=level,
               flags=("-fcommon", f'-DDATABASE="{tmp_path / "rows.db"}"'))
    server = start(**duda.config(tmp_path / "services", "rows", server="Workers 1\n", duda={"PackagesRoot": duda.packages()}))
    assert [server.get("/rows/add").text for _ in range(2)] == ["0 2 2 2", "0 4 2 4"]
    assert server.get("/rows/none").text == "0 -1"
