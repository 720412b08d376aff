/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include "failing.h"

#include <pthread.h>
#include <time.h>

static struct mk_cache *cache_of(size_t bytes, size_t entries, unsigned lasts_ms)
{
    const struct mk_cache_options options = {sizeof(options), bytes, entries, lasts_ms};
    struct mk_cache *cache;

    assert_int_equal(mk_cache_new(&cache, &options), 0);
    return cache;
}

static struct mk_cache_facts facts_of(struct mk_cache *cache)
{
    struct mk_cache_facts facts = {.size = sizeof(facts)};

    mk_cache_facts(cache, &facts);
    return facts;
}

static void values_are_copied_out(void **state)
{
    struct mk_cache *cache;
    char text[4] = "....";

    (void)state;
    assert_int_equal(mk_cache_new(&cache, NULL), 0);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), text, sizeof(text)), MK_E_NOENT);
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), MK_STR("abc"), 0), 0);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), text, 2), 3);
    assert_memory_equal(text, "....", 4);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), NULL, 0), 3);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), text, 3), 3);
    assert_memory_equal(text, "abc.", 4);
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), (struct mk_str){NULL, 0}, 0), 0);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), text, 3), 0);
    assert_true(mk_cache_drop(cache, MK_STR("a")));
    assert_false(mk_cache_drop(cache, MK_STR("a")));
    assert_int_equal(facts_of(cache).hits, 4);
    assert_int_equal(facts_of(cache).misses, 1);
    mk_cache_free(cache);
}

static void what_lacks_something_is_refused(void **state)
{
    struct mk_cache *cache = cache_of(MK_CACHE_MIN, 0, 0);
    static char large[MK_CACHE_MIN / 4];
    const struct mk_str nothing = {NULL, 0};

    (void)state;
    assert_int_equal(mk_cache_set(cache, nothing, MK_STR("a"), 0), MK_E_INVALID);
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), (struct mk_str){NULL, 1}, 0), MK_E_INVALID);
    assert_int_equal(mk_cache_get(cache, nothing, large, 1), MK_E_INVALID);
    assert_int_equal(mk_cache_get(cache, MK_STR("a"), NULL, 1), MK_E_INVALID);
    assert_false(mk_cache_drop(cache, nothing));
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), (struct mk_str){large, sizeof(large)}, 0),
                     MK_E_LIMIT);
    assert_int_equal(facts_of(cache).entries, 0);
    mk_cache_free(cache);
}

static void entries_and_bytes_are_bounded(void **state)
{
    struct mk_cache *few = cache_of(0, 2, 0), *small = cache_of(1, 0, 0);
    char key[16], value[100] = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct mk_str name = {key, (size_t)snprintf(key, sizeof(key), "%d", i)};

        assert_int_equal(mk_cache_set(few, name, MK_STR("1"), 0), 0);
        assert_int_equal(mk_cache_set(small, name, (struct mk_str){value, sizeof(value)}, 0), 0);
        assert_true(facts_of(few).entries <= 2);
        assert_true(facts_of(small).bytes <= MK_CACHE_MIN);
    }
    assert_int_equal(facts_of(few).displaced, 998);
    assert_int_equal(mk_cache_get(few, MK_STR("999"), NULL, 0), 1);
    mk_cache_clear(few);
    assert_int_equal(facts_of(few).entries, 0);
    assert_int_equal(facts_of(few).bytes, 0);
    mk_cache_free(few);
    mk_cache_free(small);
}

/* Of a brief value and a lasting one in the same cache, the brief one goes. */
static void values_have_a_time(void **state)
{
    struct mk_cache *cache = cache_of(0, 0, 1);

    (void)state;
    assert_int_equal(mk_cache_set(cache, MK_STR("lasting"), MK_STR("1"), 3600000), 0);
    assert_int_equal(mk_cache_set(cache, MK_STR("brief"), MK_STR("1"), 0), 0);
    while (mk_cache_get(cache, MK_STR("brief"), NULL, 0) >= 0)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(mk_cache_get(cache, MK_STR("lasting"), NULL, 0), 1);
    mk_cache_free(cache);
}

static void *fill(void *cache)
{
    char key[16], value[32];

    for (int i = 0; i < 20000; i++) {
        const struct mk_str name = {key, (size_t)snprintf(key, sizeof(key), "%d", i % 100)};
        ssize_t len;

        assert_int_equal(mk_cache_set(cache, name, name, 0), 0);
        len = mk_cache_get(cache, name, value, sizeof(value));
        assert_true(len == MK_E_NOENT ||
                    (len == (ssize_t)name.len && !memcmp(value, key, name.len)));
    }
    return NULL;
}

static void threads_share_it(void **state)
{
    struct mk_cache *cache = cache_of(0, 50, 0);
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill, cache), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(facts_of(cache).entries, 50);
    mk_cache_free(cache);
}

static enum mk_verdict show(struct mk_request *r, void *cache)
{
    struct mk_str value;
    char text[8];
    const int err = mk_cache_find(cache, r, MK_STR("page"), &value);

    (void)mk_cache_drop(cache, MK_STR("page"));
    if (err < 0)
        return mk_reply_bytes(
            r, 404, NULL, (struct mk_str){text, (size_t)snprintf(text, sizeof(text), "%d", err)});
    assert_int_equal(value.p[value.len], '\0');
    assert_int_equal(mk_cache_find(cache, NULL, MK_STR("page"), &value), MK_E_INVALID);
    assert_int_equal(mk_cache_find(cache, r, MK_STR("page"), NULL), MK_E_INVALID);
    return mk_reply_bytes(r, 200, "text/plain", value);
}

static void a_request_keeps_its_copy(void **state)
{
    struct mk_cache *cache = cache_of(0, 0, 0);
    struct mk_server *server = web_serve_one("GET", "/", show, cache);

    (void)state;
    assert_int_equal(mk_cache_set(cache, MK_STR("page"), MK_STR("a page"), 0), 0);
    web_expect(server, "/", 200, "a page");
    web_expect(server, "/", 404, "-6"); /* MK_E_NOENT */
    mk_server_free(server);
    mk_cache_free(cache);
}

static void without_memory_there_is_no_cache(void **state)
{
    const long live = mk_heap_live();
    struct mk_cache *cache;

    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(mk_cache_new(&cache, NULL), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    for (unsigned n = 1; n <= 2; n++) {
        fails_in = n;
        assert_int_equal(mk_cache_new(&cache, NULL), MK_E_NOMEM);
        assert_int_equal(fails_in, 0);
    }
    assert_int_equal(mk_heap_live(), live);
    cache = cache_of(0, 0, 0);
    fails_in = 1;
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), MK_STR("b"), 0), MK_E_NOMEM);
    assert_int_equal(mk_cache_set(cache, MK_STR("a"), MK_STR("b"), 0), 0);
    mk_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_copied_out),
        cmocka_unit_test(what_lacks_something_is_refused),
        cmocka_unit_test(entries_and_bytes_are_bounded),
        cmocka_unit_test(values_have_a_time),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(a_request_keeps_its_copy),
        cmocka_unit_test(without_memory_there_is_no_cache),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
