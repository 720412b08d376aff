/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/memcached/memcached.h"

DUDA_REGISTER("tests", "values in memcached");

#ifndef OPTIONS
#define OPTIONS
#endif

/* Commands that were accepted, call-backs, those of requests that had ended. */
static int accepted, answered, left;
static memcached_client_t *values;

static void count(int *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void show(duda_request_t *dr, const struct memcached_answer *answer, void *arg)
{
    count(&answered);
    if (!dr)
        count(&left);
    else if (answer->value)
        response->send(dr, 200, "text/plain", "%d %zu %s", answer->result, answer->len,
                       answer->value);
    else
        response->send(dr, 200, "text/plain", "%d %llu %s", answer->result,
                       (unsigned long long)answer->number, answer->text);
}

static void begun(duda_request_t *dr, int result)
{
    if (result == 0)
        count(&accepted);
    else
        response->send(dr, 503, "text/plain", "%d", result);
}

static const char *key_of(duda_request_t *dr)
{
    const char *key = query->get(dr, "key");

    return key ? key : "key";
}

static uint32_t number_of(duda_request_t *dr, const char *name)
{
    long number = 0;

    query->get_number(dr, name, &number);
    return (uint32_t)number;
}

static void get(duda_request_t *dr)
{
    begun(dr, memcached->get(values, dr, key_of(dr), show, NULL));
}

static void set(duda_request_t *dr)
{
    size_t len = 0;
    const char *body = request->body(dr, &len);

    begun(dr,
          memcached->set(values, dr, key_of(dr), body, len, number_of(dr, "seconds"), show, NULL));
}

static void add(duda_request_t *dr)
{
    size_t len = 0;
    const char *body = request->body(dr, &len);

    begun(dr, memcached->add(values, dr, key_of(dr), body, len, 0, show, NULL));
}

static void replace(duda_request_t *dr)
{
    size_t len = 0;
    const char *body = request->body(dr, &len);

    begun(dr, memcached->replace(values, dr, key_of(dr), body, len, 0, show, NULL));
}

static void drop(duda_request_t *dr)
{
    begun(dr, memcached->drop(values, dr, key_of(dr), show, NULL));
}

static void incr(duda_request_t *dr)
{
    begun(dr, memcached->incr(values, dr, key_of(dr), number_of(dr, "by"), show, NULL));
}

static void decr(duda_request_t *dr)
{
    begun(dr, memcached->decr(values, dr, key_of(dr), number_of(dr, "by"), show, NULL));
}

static void touch(duda_request_t *dr)
{
    begun(dr, memcached->touch(values, dr, key_of(dr), number_of(dr, "seconds"), show, NULL));
}

/* ---- many commands of one request ---- */

struct many {
    int left, good;
};

static void one_of_many(duda_request_t *dr, const struct memcached_answer *answer, void *arg)
{
    struct many *many = arg;

    many->good += answer->result == MEMCACHED_OK;
    if (--many->left > 0)
        return;
    if (dr)
        response->send(dr, 200, "text/plain", "%d", many->good);
    free(many);
}

static void many(duda_request_t *dr)
{
    struct many *many = calloc(1, sizeof(*many));
    int n = (int)number_of(dr, "n");
    char key[32];

    many->left = 1;
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof(key), "many%d", i);
        many->left += memcached->set(values, dr, key, key, strlen(key), 0, one_of_many, many) == 0;
        many->left += memcached->get(values, dr, key, one_of_many, many) == 0;
    }
    if (--many->left == 0) {
        response->send(dr, 503, "text/plain", "none");
        free(many);
    }
}

/* ---- without a request ---- */

static void alone(duda_request_t *dr)
{
    int result = memcached->set(values, NULL, "alone", "alone", 5, 0, NULL, NULL);

    begun(dr, result ? result : memcached->get(values, dr, "alone", show, NULL));
}

static void wrong(duda_request_t *dr)
{
    char key[252];
    int is_refused;

    memset(key, 'k', 251);
    key[251] = 0;
    is_refused =
        memcached->get(values, dr, key, show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, dr, "", show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, dr, NULL, show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, dr, "a b", show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, dr, "a\r\nflush_all", show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(NULL, dr, "key", show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, dr, "key", NULL, NULL) == MEMCACHED_REFUSED &&
        memcached->set(values, dr, "key", NULL, 1, 0, show, NULL) == MEMCACHED_REFUSED &&
        memcached->set(values, dr, "key", "", (size_t)-1, 0, show, NULL) == MEMCACHED_REFUSED &&
        memcached->get(values, (duda_request_t *)&values, "key", show, NULL) == MEMCACHED_REFUSED &&
        !memcached->client(&(struct memcached_options){.servers = "127.0.0.1:1"});
    response->send(dr, 200, "text/plain", is_refused ? "all refused" : "accepted");
}

static void counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d", __atomic_load_n(&accepted, __ATOMIC_RELAXED),
                   __atomic_load_n(&answered, __ATOMIC_RELAXED),
                   __atomic_load_n(&left, __ATOMIC_RELAXED));
}

static void are_refused(void)
{
    static const struct memcached_options rows[] = {
        {.servers = NULL},
        {.servers = ""},
        {.servers = "localhost"},
        {.servers = "redis://localhost"},
        {.servers = "memcached://localhost?connections=0"},
        {.servers = "127.0.0.1"},
        {.servers = "127.0.0.1:0"},
        {.servers = "127.0.0.1:65536"},
        {.servers = "[::1:11211"},
        {.servers = "127.0.0.1:11211", .connections = 17},
        {.servers = "127.0.0.1:11211", .value_max = (size_t)1 << 30},
        {.servers = "127.0.0.1:11211 127.0.0.1:11211"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (memcached->client(&rows[i]))
            abort();
    if (memcached->client(NULL))
        abort();
}

int duda_main()
{
    const struct memcached_options options = {.servers = SERVERS, OPTIONS};

    duda_load_package(memcached, "memcached");
    are_refused();
    values = memcached->client(&options);
    if (!values)
        return 1;
    router->get("/get", get);
    router->post("/set", set);
    router->post("/add", add);
    router->post("/replace", replace);
    router->get("/drop", drop);
    router->get("/incr", incr);
    router->get("/decr", decr);
    router->get("/touch", touch);
    router->get("/many", many);
    router->get("/alone", alone);
    router->get("/wrong", wrong);
    router->get("/counts", counts);
    return 0;
}
