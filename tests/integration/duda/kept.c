/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("tests", "journal, metrics and caches of level 3");

static duda_cache_t *pages;
static duda_metric_t *asked, *level, *taken;

static void put(duda_request_t *dr)
{
    size_t len;
    const char *body = request->body(dr, &len);

    response->send(dr, 200, "text/plain", "%d",
                   cache->set(pages, param->get(dr, "key"), body, len));
}

static void put_for(duda_request_t *dr)
{
    long ms = 0;

    (void)query->get_number(dr, "ms", &ms);
    response->send(dr, 200, "text/plain", "%d",
                   cache->set_for(pages, param->get(dr, "key"), "brief", 5, (unsigned)ms));
}

static void get(duda_request_t *dr)
{
    size_t len = 0;
    char *value = cache->get(pages, param->get(dr, "key"), &len);

    gc->add(dr, value);
    response->send(dr, value ? 200 : 404, "text/plain", "%zu %s", len, value ? value : "none");
}

static void drop(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d", cache->drop(pages, param->get(dr, "key")));
}

static void wrong(duda_request_t *dr)
{
    int failed = cache->create(5000, 0) == NULL && cache->set(NULL, "a", "", 0) == -1 &&
                 cache->set(pages, NULL, "", 0) == -1 && cache->get(NULL, "a", NULL) == NULL &&
                 cache->set_for(NULL, "a", "", 0, 1) == -1 && cache->drop(pages, NULL) == -1 &&
                 metrics->counter("late", "Late.") == NULL && journal->info(NULL, NULL) == -1;

    metrics->add(NULL, 1);
    metrics->set(NULL, 1);
    metrics->observe(NULL, 1);
    metrics->add(asked, -5);
    metrics->set(asked, -5);
    metrics->observe(asked, 5);
    metrics->add(taken, 5);
    response->send(dr, 200, "text/plain", "%d", failed);
}

static void count(duda_request_t *dr)
{
    metrics->add(asked, 1);
    metrics->set(level, 5);
    metrics->add(level, -2.5);
    metrics->observe(taken, 0.003);
    metrics->observe(taken, 60);
    response->send(dr, 200, "text/plain", "counted");
}

static void report(duda_request_t *dr)
{
    static char long_text[8192];
    int results = journal->info("visit", "path", query->get(dr, "path"), "none", NULL, NULL) +
                  journal->warn("warning", NULL) + journal->error("error", NULL);

    memset(long_text, 'x', sizeof(long_text) - 1);
    response->send(dr, 200, "text/plain", "%d %d", results,
                   journal->info("long", "text", long_text, NULL));
}

int duda_main()
{
    pages = cache->create(100000, 3600);
    asked = metrics->counter("asked", "Requests that were counted.");
    level = metrics->gauge("level", "What goes up and down.");
    taken = metrics->histogram("taken_seconds", "Time of requests.");
    if (!pages || !asked || !level || !taken || metrics->gauge("asked", "Another one.") ||
        metrics->counter("a b", "No name.") || metrics->counter("c", NULL))
        return -1;
    router->put("/page/:key", put);
    router->put("/brief/:key", put_for);
    router->get("/page/:key", get);
    router->delete ("/page/:key", drop);
    router->get("/wrong", wrong);
    router->get("/count", count);
    router->get("/report", report);
    return 0;
}
