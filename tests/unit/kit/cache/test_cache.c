/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/cache/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static unsigned fails_in; /* the number of the allocation that fails; 0: none */
static uint64_t now_ms = 1000;

static bool memory_fails(void)
{
    return fails_in > 0 && --fails_in == 0;
}

#include "../../wrapped_memory.h"

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) -- the names that the linker's --wrap gives */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = (time_t)(now_ms / 1000);
    now->tv_nsec = (long)(now_ms % 1000) * 1000000;
    return 0;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static struct cache *cache_of(size_t bytes, size_t entries)
{
    struct cache *c = cache_new(&(struct cache_limits){bytes, entries});

    assert_non_null(c);
    return c;
}

static int set(struct cache *c, const char *key, const char *value, uint64_t lasts_ms)
{
    return cache_set(c, mk_str_from(key), mk_str_from(value), lasts_ms);
}

static void take(void *arg, struct mk_str value)
{
    struct mk_str *text = arg;

    assert_true(value.len <= text->len);
    if (value.len > 0)
        memcpy((char *)(uintptr_t)text->p, value.p, value.len);
    text->len = value.len;
}

static bool has(struct cache *c, const char *key, const char *value)
{
    char room[CACHE_MIN];
    struct mk_str found = {room, sizeof(room)};

    return cache_get(c, mk_str_from(key), take, &found) && found.len == strlen(value) &&
           memcmp(room, value, found.len) == 0;
}

static void keeps_and_replaces(void **state)
{
    struct cache *c = cache_of(0, 0);
    struct cache_facts facts;

    (void)state;
    assert_int_equal(set(c, "a", "one", 0), 0);
    assert_int_equal(set(c, "", "empty key", 0), 0);
    assert_int_equal(cache_set(c, MK_STR("b"), (struct mk_str){NULL, 0}, 0), 0);
    assert_int_equal(cache_set(c, MK_STR("n\0l"), MK_STR("x\0y"), 0), 0);
    assert_true(has(c, "a", "one"));
    assert_true(has(c, "", "empty key"));
    assert_true(has(c, "b", ""));
    assert_false(has(c, "n", ""));
    assert_int_equal(set(c, "a", "two words", 0), 0);
    assert_true(has(c, "a", "two words"));
    assert_false(has(c, "c", ""));
    cache_facts(c, &facts);
    assert_int_equal(facts.entries, 4);
    assert_int_equal(facts.hits, 4);
    assert_int_equal(facts.misses, 2);
    assert_int_equal(facts.displaced, 0);
    assert_true(cache_drop(c, MK_STR("a")));
    assert_false(cache_drop(c, MK_STR("a")));
    assert_false(has(c, "a", "two words"));
    cache_clear(c);
    cache_facts(c, &facts);
    assert_int_equal(facts.entries, 0);
    assert_int_equal(facts.bytes, 0);
    cache_free(c);
    cache_free(NULL);
}

static void forgets_after_its_time(void **state)
{
    struct cache *c = cache_of(0, 0);

    (void)state;
    assert_int_equal(set(c, "a", "1", 1), 0);
    assert_int_equal(set(c, "b", "2", 5000), 0);
    assert_int_equal(set(c, "c", "3", UINT64_MAX), 0);
    assert_true(has(c, "a", "1"));
    now_ms += 1;
    assert_false(has(c, "a", "1"));
    now_ms += 4998;
    assert_true(has(c, "b", "2"));
    now_ms += 1;
    assert_false(cache_drop(c, MK_STR("b")));
    assert_false(has(c, "b", "2"));
    now_ms += UINT64_C(1) << 40;
    assert_true(has(c, "c", "3"));
    cache_free(c);
}

/* The one that is asked for all the time stays. @return how many of 1000 have */
static unsigned fill(struct cache *c)
{
    char key[16], value[101];
    unsigned kept = 0;

    memset(value, 'x', 100);
    value[100] = '\0';
    assert_int_equal(set(c, "used", value, 0), 0);
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        assert_int_equal(set(c, key, value, 0), 0);
        assert_true(has(c, "used", value));
        assert_true(has(c, key, value));
    }
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        kept += has(c, key, value);
    }
    assert_true(has(c, "999", value));
    return kept;
}

static void the_least_used_makes_room(void **state)
{
    struct cache *c = cache_of(CACHE_MIN, 0);
    struct cache_facts facts;
    unsigned kept;

    (void)state;
    kept = fill(c);
    assert_in_range(kept, 10, 40);
    cache_facts(c, &facts);
    assert_int_equal(facts.entries, kept + 1);
    assert_int_equal(facts.displaced, 1000 - kept);
    assert_true(facts.bytes <= CACHE_MIN);
    cache_free(c);
}

static void entries_have_a_bound_of_their_own(void **state)
{
    struct cache *c = cache_of(1 << 20, 3);

    (void)state;
    assert_int_equal(fill(c), 2);
    cache_free(c);
}

static void refuses_what_is_large(void **state)
{
    struct cache *c = cache_of(CACHE_MIN, 0);
    static char large[CACHE_MIN];

    (void)state;
    memset(large, 'k', sizeof(large));
    assert_int_equal(set(c, "a", "1", 0), 0);
    assert_int_equal(cache_set(c, MK_STR("a"), (struct mk_str){large, CACHE_MIN / 4}, 0),
                     MK_E_LIMIT);
    assert_false(has(c, "a", "1")); /* the old value is not the one of the key any more */
    assert_int_equal(cache_set(c, MK_STR("a"), (struct mk_str){large, SIZE_MAX - 1}, 0),
                     MK_E_LIMIT);
    assert_int_equal(cache_set(c, (struct mk_str){large, sizeof(large)}, MK_STR("1"), 0),
                     MK_E_LIMIT);
    cache_free(c);
}

static void lives_with_little_memory(void **state)
{
    struct cache *c = NULL;
    unsigned n = 0;

    (void)state;
    while (!c) {
        fails_in = ++n;
        c = cache_new(&(struct cache_limits){0, 0});
    }
    fails_in = 0;
    assert_int_equal(n, 3);
    assert_int_equal(set(c, "a", "1", 0), 0);
    fails_in = 1;
    assert_int_equal(set(c, "a", "2", 0), MK_E_NOMEM);
    assert_false(has(c, "a", "1"));
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(set(c, (char[2]){(char)('A' + i), 0}, "1", 0), 0);
    fails_in = 2; /* chains are longer, and nothing else */
    assert_int_equal(set(c, "b", "2", 0), 0);
    assert_int_equal(fails_in, 0);
    assert_true(has(c, "b", "2"));
    cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_and_replaces),
        cmocka_unit_test(forgets_after_its_time),
        cmocka_unit_test(the_least_used_makes_room),
        cmocka_unit_test(entries_have_a_bound_of_their_own),
        cmocka_unit_test(refuses_what_is_large),
        cmocka_unit_test(lives_with_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
