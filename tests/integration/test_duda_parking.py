# SPDX-License-Identifier: Apache-2.0
"""Requests that packages park: each undoes its own, and no other's."""

import pytest

from harness import duda, memcached_server, postgres_server
from harness.executable import is_sanitized

WITHIN = 50.0
SERVICE = """
/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
#include "packages/memcached/memcached.h"
#include "packages/postgresql/postgresql.h"
#include "packages/redis/redis.h"

#include <malloc.h>
#include <stdlib.h>

DUDA_REGISTER("parking", "asks several servers at once");

static memcached_client_t *memory;
static redis_client_t *nobody;
static duda_global_t pool, full;

static void on_memory(duda_request_t *dr, const struct memcached_answer *answer, void *arg)
{
    if (dr)
        response->send(dr, 200, "text/plain", "memory");
}

static void on_nobody(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
}

static void on_row(void *priv, postgresql_query_t *q, int n, char **fields, char **values, duda_request_t *dr)
{
}

static void on_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    if (dr && priv)
        response->send(dr, 200, "text/plain", "database");
}

static int ask(duda_global_t *which, duda_request_t *dr, void *priv)
{
    return postgresql->run(which, dr, "SELECT 1", 0, NULL, on_row, on_end, priv);
}

/* One answers, and the other one is not there. */
static void two(duda_request_t *dr)
{
    if (memcached->get(memory, dr, "key", on_memory, NULL) < 0)
        response->problem(dr, 503, "No memory", NULL);
    (void)redis->run(nobody, dr, on_nobody, NULL, "GET key");
    (void)ask(&full, dr, NULL);
}

static void later(void *arg)
{
    duda_request_t *dr = arg;

    if (request->validate_request(dr) != MK_TRUE)
        return;
    response->cont(dr);
    response->send(dr, 200, "text/plain", "later");
}

/* It waits for something of its own. */
static void own(duda_request_t *dr)
{
    response->wait(dr);
    timer->after(300, later, dr);
    (void)ask(&full, dr, NULL);
    (void)redis->run(nobody, dr, on_nobody, NULL, "GET key");
}

static void page(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "page");
}

/* What is noted on the side stops nothing. */
static void audit(duda_request_t *dr)
{
    (void)ask(&pool, dr, NULL);
}

static void audited(void)
{
    router->before(audit);
    router->get("/page", page);
}

static void work(void *arg)
{
}

static void done(duda_request_t *dr, void *arg)
{
    response->send(dr, 200, "text/plain", "done");
}

static void both(duda_request_t *dr)
{
    (void)ask(&pool, dr, NULL);
    if (task->run(dr, work, done, NULL, NULL) < 0)
        response->problem(dr, 503, "No task", NULL);
}

static void database(duda_request_t *dr)
{
    if (ask(&pool, dr, dr) < 0)
        response->problem(dr, 503, "No database", NULL);
}

/* One request asks 5,000 times. What it holds after the first thousand is what it holds in the end. */
static int asked;
static size_t used;

static void on_again(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    if (!dr)
        return;
    if (++asked == 1000)
        used = mallinfo2().uordblks;
    if (asked == 5000)
        response->send(dr, 200, "text/plain", "%d", mallinfo2().uordblks > used + 20000);
    else if (postgresql->run(&pool, dr, "SELECT 1", 0, NULL, on_row, on_again, NULL) < 0)
        response->problem(dr, 503, "No database", NULL);
}

static void again(duda_request_t *dr)
{
    asked = 0;
    on_again(NULL, NULL, dr);
}

int duda_main()
{
    const struct memcached_options memories = {.servers = getenv("MEMORY")};
    const struct redis_options servers = {.server = "redis://127.0.0.1:1"};

    duda_load_package(memcached, "memcached");
    duda_load_package(postgresql, "postgresql");
    duda_load_package(redis, "redis");
    memory = memcached->client(&memories);
    nobody = redis->client(&servers);
    postgresql->create_pool_uri(&pool, 1, 2, getenv("DATABASE"));
    postgresql->create_pool_uri(&full, 1, 1, "postgresql://127.0.0.1:1/none");
    postgresql->pool_queue(&full, 0);
    router->get("/two", two);
    router->get("/own", own);
    router->get("/both", both);
    router->get("/database", database);
    router->get("/again", again);
    router->group("/audited", audited);
    return 0;
}
"""


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    for package in ("memcached", "postgresql", "redis"):
        duda.require_package(package)
    folder = tmp_path_factory.mktemp("parking")
    duda.build(folder / "services", SERVICE, name="parking", level=3)
    with postgres_server.start() as database, memcached_server.Server(folder) as memory:
        yield start_shared(env={"DATABASE": database.uri(), "MEMORY": memory.address},
                           **duda.config(folder / "services", "parking", server="Workers 1",
                                         duda={"PackagesRoot": duda.packages(), "WaitTimeout": "20"}))


@pytest.mark.plain
@pytest.mark.parametrize("path, body", [("two", "memory"), ("own", "later"), ("audited/page", "page"), ("both", "done"), ("database", "database")])
def test_an_answer_comes(server, path, body):
    """Whoever else was asked, and however that ended; again and again, while the other server is left out."""
    for _ in range(20):
        answer = server.get(f"/parking/{path}", timeout=WITHIN)
        assert (answer.status, answer.text) == (200, body), server.log()


@pytest.mark.plain
def test_a_request_that_asks_often_holds_no_more(server):
    if is_sanitized():
        pytest.skip("a sanitizer brings its own malloc")
    assert server.get("/parking/again", timeout=WITHIN).text == "0"
