/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kit/backends/pool.h"
#include "kit/intake/uploads.h"

/* ---- upstreams and uploads, of which only the life counts ---- */

struct mk_upstream {
    struct mk_upstream_options options;
    bool is_distrusted;
    unsigned idle, waiting;
};

struct uploads {
    uploads_waiting_fn waiting;
    void *of;
};

static unsigned nupstreams, nuploads;
static bool no_upstream, no_uploads;

struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                    const struct mk_upstream_options *options)
{
    struct mk_upstream *u = no_upstream ? NULL : calloc(1, sizeof(*u));

    (void)server;
    if (!u)
        return NULL;
    u->options = *options;
    nupstreams++;
    return u;
}

void mk_upstream_free(struct mk_upstream *u)
{
    nupstreams -= u != NULL;
    free(u);
}

bool mk_upstream_is_trusted(const struct mk_upstream *u)
{
    return !u->is_distrusted;
}

void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle, unsigned *waiting)
{
    *open = 77;
    *idle = u->idle;
    *waiting = u->waiting;
}

struct uploads *uploads_new(uploads_waiting_fn waiting, void *of)
{
    struct uploads *all = no_uploads ? NULL : calloc(1, sizeof(*all));

    if (!all)
        return NULL;
    *all = (struct uploads){waiting, of};
    nuploads++;
    return all;
}

void uploads_free(struct uploads *all)
{
    nuploads -= all != NULL;
    free(all);
}

/* ---- pools ---- */

static const struct mk_upstream_options plain = {
    .size = sizeof(struct mk_upstream_options),
    .host = "backend.example",
    .port = 8080,
    .name = "name.example",
    .max_connections = 4,
    .max_idle = 2,
    .max_waiting = 9,
    .connect_ms = 100,
    .idle_ms = 200,
    .queue_ms = 300,
    .max_uses = 1000,
    .protocol = "h2",
};

static void test_texts_are_copied(void **state)
{
    char host[] = "a", name[] = "b", transport[] = "c", protocol[] = "d";
    struct mk_upstream_options options = plain;
    struct backend_pool *pool;

    (void)state;
    options.host = host;
    options.name = name;
    options.transport = transport;
    options.protocol = protocol;
    pool = backend_pool_new(NULL, &options);
    host[0] = name[0] = transport[0] = protocol[0] = 'x';
    assert_string_equal(pool->options.host, "a");
    assert_string_equal(pool->options.name, "b");
    assert_string_equal(pool->options.transport, "c");
    assert_string_equal(pool->options.protocol, "d");
    assert_int_equal(pool->upstream->options.port, 8080);
    backend_pool_put(pool);
    assert_int_equal(nupstreams + nuploads, 0);
}

static void test_the_last_reference_ends_it(void **state)
{
    struct backend_pool *pool = backend_pool_new(NULL, &plain);

    (void)state;
    assert_ptr_equal(backend_pool_get(pool), pool);
    backend_pool_put(pool);
    assert_int_equal(nupstreams, 1);
    backend_pool_put(pool);
    assert_int_equal(nupstreams + nuploads, 0);
    backend_pool_put(NULL);
}

static void test_uploads_ask_how_many_wait_for_a_connection(void **state)
{
    struct backend_pool *pool = backend_pool_new(NULL, &plain);

    (void)state;
    pool->upstream->waiting = 3;
    assert_int_equal(pool->uploads->waiting(pool->uploads->of), 3);
    backend_pool_put(pool);
}

static void test_an_idle_connection_spares_an_upload(void **state)
{
    struct backend_pool *pool = backend_pool_new(NULL, &plain);

    (void)state;
    pool->upstream->waiting = 3;
    pool->upstream->idle = 2;
    assert_int_equal(pool->uploads->waiting(pool->uploads->of), 1);
    pool->upstream->idle = 4;
    assert_int_equal(pool->uploads->waiting(pool->uploads->of), 0);
    backend_pool_put(pool);
}

static void test_without_memory_nothing_stays(void **state)
{
    (void)state;
    no_upstream = true;
    assert_null(backend_pool_new(NULL, &plain));
    no_upstream = false;
    no_uploads = true;
    assert_null(backend_pool_new(NULL, &plain));
    no_uploads = false;
    assert_int_equal(nupstreams + nuploads, 0);
}

static void test_any_other_option_makes_another_pool(void **state)
{
    struct backend_pool *pool = backend_pool_new(NULL, &plain);
    char host[] = "backend.example", name[] = "name.example", protocol[] = "h2";
    struct mk_upstream_options same = plain, others[12];
    unsigned n = 0;

    (void)state;
    same.host = host; /* texts are compared, not where they are */
    same.name = name;
    same.protocol = protocol;
    assert_true(backend_pool_is(pool, &same));
    for (; n < sizeof(others) / sizeof(others[0]); n++)
        others[n] = plain;
    others[--n].host = "other.example";
    others[--n].port = 8081;
    others[--n].name = NULL;
    others[--n].max_connections = 5;
    others[--n].max_idle = 3;
    others[--n].max_waiting = 8;
    others[--n].connect_ms = 101;
    others[--n].idle_ms = 201;
    others[--n].queue_ms = 301;
    others[--n].max_uses = 0;
    others[--n].protocol = "http/1.1";
    others[--n].protocol = NULL;
    assert_int_equal(n, 0);
    for (; n < sizeof(others) / sizeof(others[0]); n++)
        assert_false(backend_pool_is(pool, &others[n]));
    backend_pool_put(pool);
}

/* Whom it trusts is said in other settings, which a reload may have changed. */
static void test_a_transport_begins_anew(void **state)
{
    struct mk_upstream_options tls = plain;
    struct backend_pool *pool;

    (void)state;
    tls.transport = "tls";
    pool = backend_pool_new(NULL, &tls);
    assert_false(backend_pool_is(pool, &tls));
    assert_false(backend_pool_is(pool, &plain));
    backend_pool_put(pool);
    pool = backend_pool_new(NULL, &plain);
    assert_false(backend_pool_is(pool, &tls));
    backend_pool_put(pool);
}

static void test_a_distrusted_backend_begins_anew(void **state)
{
    struct backend_pool *pool = backend_pool_new(NULL, &plain);

    (void)state;
    pool->upstream->is_distrusted = true;
    assert_false(backend_pool_is(pool, &plain));
    backend_pool_put(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_copied),
        cmocka_unit_test(test_the_last_reference_ends_it),
        cmocka_unit_test(test_uploads_ask_how_many_wait_for_a_connection),
        cmocka_unit_test(test_an_idle_connection_spares_an_upload),
        cmocka_unit_test(test_without_memory_nothing_stays),
        cmocka_unit_test(test_any_other_option_makes_another_pool),
        cmocka_unit_test(test_a_transport_begins_anew),
        cmocka_unit_test(test_a_distrusted_backend_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
