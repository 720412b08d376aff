/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "packages/memcached/command.h"
#include "packages/memcached/places.h"
#include "packages/memcached/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS = 8, KEYS = 20000 };

static const uint64_t everybody = UINT64_MAX;

static const char *const names[SERVERS] = {"10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211",
                                           "10.0.0.4:11211", "10.0.0.5:11211", "10.0.0.6:11211",
                                           "10.0.0.7:11211", "10.0.0.8:11211"};

static uint32_t hash_of(int key)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "key:%d", key);
    return memc_hash(text, strlen(text));
}

static void each_server_has_its_share(void **state)
{
    struct ring *ring = memc_ring_new(names, SERVERS);
    unsigned share[SERVERS] = {0};

    (void)state;
    assert_non_null(ring);
    for (int i = 0; i < KEYS; i++)
        share[ring_find(ring, hash_of(i), &everybody)]++;
    for (int i = 0; i < SERVERS; i++)
        assert_in_range(share[i], KEYS / SERVERS / 2, KEYS / SERVERS * 2);
    ring_free(ring);
}

/* Whether it is left out or no longer in the list. */
static void only_the_keys_of_a_server_that_goes_move(void **state)
{
    struct ring *all = memc_ring_new(names, SERVERS);
    struct ring *fewer = memc_ring_new(names, SERVERS - 1);
    const uint64_t alive = UINT64_MAX & ~((uint64_t)1 << (SERVERS - 1));
    int moved = 0;

    (void)state;
    for (int i = 0; i < KEYS; i++) {
        const int before = ring_find(all, hash_of(i), &everybody);
        const int after = ring_find(all, hash_of(i), &alive);

        assert_int_equal(after, ring_find(fewer, hash_of(i), &everybody));
        if (before == SERVERS - 1)
            moved++;
        else
            assert_int_equal(after, before);
    }
    assert_in_range(moved, KEYS / SERVERS / 2, KEYS / SERVERS * 2);
    ring_free(all);
    ring_free(fewer);
}

static void no_server_is_alive(void **state)
{
    const uint64_t nobody = 0, third = 4;
    struct ring *ring = memc_ring_new(names, SERVERS);

    (void)state;
    assert_int_equal(ring_find(ring, 0, &nobody), -1);
    assert_int_equal(ring_find(ring, UINT32_MAX, &third), 2);
    ring_free(ring);
}

static int read_places(const char *text)
{
    struct remote_place *places;
    char why[MEMC_WHY_MAX] = "";
    const int n = memc_places_read(text, &places, why);

    assert_true(n < 0 ? why[0] && !places : !why[0] && places);
    free(places);
    return n;
}

static void says_which_place_is_wrong(void **state)
{
    struct remote_place *places;
    char why[MEMC_WHY_MAX] = "", text[4096];

    (void)state;
    assert_int_equal(memc_places_read("cache:1 other ::1", &places, why), -1);
    assert_string_equal(why, "other: a port is a number up to 65535");
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(memc_places_read(text, &places, why), -1);
    assert_string_equal(strchr(why, ':'), ": it names no host");
}

static void reads_places(void **state)
{
    static const struct {
        const char *text;
        int n;
    } rows[] = {
        {"127.0.0.1:11211", 1},
        {" [::1]:1  10.0.0.1:65535\t", 2},
        {"cache:11211\nmemcacheds://cache memcached://other?connections=3", -1},
        {"cache:11212\nmemcacheds://cache memcached://other?connections=3", 3},
        {NULL, -1},
        {"", -1},
        {"  ", -1},
        {"cache", -1},
        {"memcache://cache", -1},
        {"[::1]:1 [0::1]:1", -1},
        {"127.0.0.1:1 127.0.0.1:1", -1},
    };
    char many[(MEMC_SERVERS_MAX + 1) * 16] = "";

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_int_equal(read_places(rows[i].text), rows[i].n);
    for (int i = 0; i <= MEMC_SERVERS_MAX; i++) {
        assert_int_equal(read_places(many), i > 0 ? i : -1);
        (void)snprintf(many + strlen(many), 16, "127.0.0.1:%d ", i + 1);
    }
    assert_int_equal(read_places(many), -1);
}

static void writes_commands(void **state)
{
    static const struct {
        struct memc_order order;
        const char *bytes; /* NULL: refused */
    } rows[] = {
        {{MEMC_VERB_GET, "key", NULL, 0, 0}, "get key\r\n"},
        {{MEMC_VERB_SET, "key", "v\r\n", 3, 0}, "set key 0 0 3\r\nv\r\n\r\n"},
        {{MEMC_VERB_ADD, "key", NULL, 0, UINT32_MAX}, "add key 0 4294967295 0\r\n\r\n"},
        {{MEMC_VERB_REPLACE, "key", "v", 1, 60}, "replace key 0 60 1\r\nv\r\n"},
        {{MEMC_VERB_DROP, "key", NULL, 0, 0}, "delete key\r\n"},
        {{MEMC_VERB_INCR, "key", NULL, 0, UINT64_MAX}, "incr key 18446744073709551615\r\n"},
        {{MEMC_VERB_DECR, "key", NULL, 0, 2}, "decr key 2\r\n"},
        {{MEMC_VERB_TOUCH, "\xc3\xa4", NULL, 0, 9}, "touch \xc3\xa4 9\r\n"},
        {{MEMC_VERB_VERSION, NULL, NULL, 0, 0}, "version\r\n"},
        {{MEMC_VERB_GET, NULL, NULL, 0, 0}, NULL},
        {{MEMC_VERB_GET, "", NULL, 0, 0}, NULL},
        {{MEMC_VERB_GET, "a b", NULL, 0, 0}, NULL},
        {{MEMC_VERB_GET, "a\r\nflush_all", NULL, 0, 0}, NULL},
        {{MEMC_VERB_GET, "a\x7f", NULL, 0, 0}, NULL},
        {{MEMC_VERB_SET, "key", NULL, 1, 0}, NULL},
        {{MEMC_VERB_SET, "key", "123456789", 9, 0}, NULL},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        bool is_refused;
        struct memc_command *c = memc_command_new(&rows[i].order, 8, &is_refused);

        assert_int_equal(is_refused, rows[i].bytes == NULL);
        if (rows[i].bytes) {
            assert_non_null(c);
            assert_int_equal(c->call.len, strlen(rows[i].bytes));
            assert_memory_equal(c->call.bytes, rows[i].bytes, c->call.len);
        }
        free(c);
    }
}

static void a_key_has_at_most_250_bytes(void **state)
{
    char key[MEMC_KEY_MAX + 2] = "";
    struct memc_order order = {.verb = MEMC_VERB_REPLACE, .key = key, .number = UINT32_MAX};
    struct memc_command *c;
    bool is_refused;

    (void)state;
    memset(key, 'k', MEMC_KEY_MAX);
    c = memc_command_new(&order, 0, &is_refused);
    assert_non_null(c);
    assert_int_equal(c->key_len, MEMC_KEY_MAX);
    assert_memory_equal(c->bytes + c->key_at, key, MEMC_KEY_MAX);
    free(c);
    key[MEMC_KEY_MAX] = 'k';
    assert_null(memc_command_new(&order, 0, &is_refused));
    assert_true(is_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_server_has_its_share),
        cmocka_unit_test(only_the_keys_of_a_server_that_goes_move),
        cmocka_unit_test(no_server_is_alive),
        cmocka_unit_test(reads_places),
        cmocka_unit_test(says_which_place_is_wrong),
        cmocka_unit_test(writes_commands),
        cmocka_unit_test(a_key_has_at_most_250_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
