/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/store/cache_store.h"

#include <stdio.h>
#include <string.h>

static bool has(struct mk_duda_cache_store *s, const char *key, const char *value, uint64_t now)
{
    size_t len = 0;
    const void *found = mk_duda_cache_get(s, key, &len, now);

    return found && len == strlen(value) && memcmp(found, value, len) == 0;
}

static void keeps_and_replaces(void **state)
{
    struct mk_duda_cache_store *s = mk_duda_cache_new(0);
    size_t len = 7;

    (void)state;
    assert_true(mk_duda_cache_set(s, "a", "one", 3, 0));
    assert_true(mk_duda_cache_set(s, "", "empty key", 9, 0));
    assert_true(mk_duda_cache_set(s, "b", NULL, 0, 0));
    assert_true(has(s, "a", "one", 1));
    assert_true(has(s, "", "empty key", UINT64_MAX));
    assert_true(has(s, "b", "", 1));
    assert_true(mk_duda_cache_set(s, "a", "two words", 9, 0));
    assert_true(has(s, "a", "two words", 1));
    assert_null(mk_duda_cache_get(s, "c", &len, 1));
    assert_int_equal(len, 7);
    assert_true(mk_duda_cache_drop(s, "a"));
    assert_false(mk_duda_cache_drop(s, "a"));
    assert_false(has(s, "a", "two words", 1));
    mk_duda_cache_free(s);
    mk_duda_cache_free(NULL);
}

static void forgets_after_its_time(void **state)
{
    struct mk_duda_cache_store *s = mk_duda_cache_new(0);

    (void)state;
    assert_true(mk_duda_cache_set(s, "a", "1", 1, 6000));
    assert_true(has(s, "a", "1", 5999));
    assert_false(has(s, "a", "1", 6000));
    assert_false(mk_duda_cache_drop(s, "a"));
    mk_duda_cache_free(s);
}

/* About 30 values of 100 bytes fit; the one that is asked for all the time stays. */
static void the_least_used_makes_room(void **state)
{
    struct mk_duda_cache_store *s = mk_duda_cache_new(MK_DUDA_CACHE_MIN);
    char key[16], value[101];
    unsigned kept = 0;

    (void)state;
    memset(value, 'x', 100);
    value[100] = '\0';
    assert_true(mk_duda_cache_set(s, "used", value, 100, 0));
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        assert_true(mk_duda_cache_set(s, key, value, 100, 0));
        assert_true(has(s, "used", value, 1));
        assert_true(has(s, key, value, 1));
    }
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "%u", i);
        kept += has(s, key, value, 1);
    }
    assert_in_range(kept, 10, 40);
    assert_true(has(s, "999", value, 1));
    mk_duda_cache_free(s);
}

static void refuses_what_is_large(void **state)
{
    struct mk_duda_cache_store *s = mk_duda_cache_new(MK_DUDA_CACHE_MIN);
    static char large[MK_DUDA_CACHE_MIN];

    (void)state;
    assert_true(mk_duda_cache_set(s, "a", "1", 1, 0));
    assert_false(mk_duda_cache_set(s, "a", large, MK_DUDA_CACHE_MIN / 4, 0));
    assert_false(has(s, "a", "1", 1)); /* the old value is not the one of the key any more */
    assert_false(mk_duda_cache_set(s, "a", large, SIZE_MAX - 1, 0));
    memset(large, 'k', sizeof(large) - 1);
    assert_false(mk_duda_cache_set(s, large, "1", 1, 0));
    mk_duda_cache_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_and_replaces),
        cmocka_unit_test(forgets_after_its_time),
        cmocka_unit_test(the_least_used_makes_room),
        cmocka_unit_test(refuses_what_is_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
