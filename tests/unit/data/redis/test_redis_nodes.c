/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/redis/nodes.h"

#include <stdlib.h>
#include <string.h>

/* Where a cluster of Redis has a key. */

static const struct {
    const char *key;
    unsigned slot;
} keys[] = {
    {"123456789", 0x31c3}, {"foo", 12182},        {"bar", 5061}, {"", 0},
    {"{foo}.bar", 12182},  {"a{bar}{foo}", 5061},
};

static void slots_of_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(keys); i++)
        assert_int_equal(redis_slot(keys[i].key, strlen(keys[i].key)), keys[i].slot);
    assert_int_not_equal(redis_slot("{}foo", 5), redis_slot("foo", 3));
    assert_int_equal(redis_slot("x{{bar}y", 8), redis_slot("{bar", 4));
}

static unsigned slot_of(const char *const *words, int n)
{
    char *bytes;
    unsigned slot;

    assert_true(redis_format_words(&bytes, n, words, NULL) > 0);
    slot = redis_slot_of(bytes);
    redis_bytes_free(bytes);
    return slot;
}

static void slots_of_commands(void **state)
{
    static const char *const get[] = {"GET", "foo"}, *const ping[] = {"PING"};
    static const char *const script[] = {"eval", "return 1", "1", "bar", "foo"};

    (void)state;
    assert_int_equal(slot_of(get, 2), 12182);
    assert_int_equal(slot_of(ping, 1), 0);
    assert_int_equal(slot_of(script, 5), 5061);
    assert_int_equal(slot_of(script, 3), 0);
}

static const struct {
    const char *text;
    enum redis_redirect_kind kind;
    unsigned slot;
    const char *place;
} redirects[] = {
    {"MOVED 0 127.0.0.1:1", REDIS_MOVED, 0, "127.0.0.1:1"},
    {"MOVED 16383 10.0.0.1:65535", REDIS_MOVED, 16383, "10.0.0.1:65535"},
    {"ASK 12 127.0.0.1:7000", REDIS_ASK, 12, "127.0.0.1:7000"},
    {"MOVED 1 ::1:7000", REDIS_MOVED, 1, "[::1]:7000"},
    {"MOVED 1 [::1]:7000", REDIS_MOVED, 1, "[::1]:7000"},
    {"MOVED 1 :7000", REDIS_MOVED, 1, "10.1.2.3:7000"},
    {"MOVED 1 a.b:7000", REDIS_MOVED, 1, "a.b:7000"},
};

static const struct remote_place from = {.host = "10.1.2.3", .connections = 7, .is_secure = true};

static void reads_redirects(void **state)
{
    struct redis_redirect r;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(redirects); i++) {
        assert_int_equal(
            redis_redirect_read(&r, redirects[i].text, strlen(redirects[i].text), &from), 0);
        assert_int_equal(r.kind, redirects[i].kind);
        assert_int_equal(r.slot, redirects[i].slot);
        assert_string_equal(r.place.text, redirects[i].place);
        assert_true(r.place.is_secure);
        assert_int_equal(r.place.connections, 7); /* the bound is that of each server */
    }
}

static void refuses_others(void **state)
{
    static const char *const texts[] = {
        "",
        "MOVED",
        "MOVED ",
        "MOVED 1",
        "MOVED 1 ",
        "MOVED 16384 127.0.0.1:1",
        "MOVED -1 127.0.0.1:1",
        "MOVED 1 127.0.0.1",
        "MOVED 1 127.0.0.1:0",
        "MOVED 1 ?:1",
        "MOVED 1 1.2.3:1",
        "MOVED 1  127.0.0.1:1",
        "moved 1 127.0.0.1:1",
        "ERR no",
        "MOVED x 127.0.0.1:1",
        "MOVED 123456 127.0.0.1:1",
        "MOVED 1 127.0.0.1:1 ",
        "MOVED 1 ::",
        "TRYAGAIN 1 127.0.0.1:1",
        "MOVED 1 1111111111111111111111111111111111111111111111111111111111111111111111:1",
    };
    struct redis_redirect r;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++)
        assert_int_equal(redis_redirect_read(&r, texts[i], strlen(texts[i]), &from), -1);
}

/* Each part of one is none, or another server's port. */
static void reads_no_further(void **state)
{
    static const char text[] = "MOVED 1 127.0.0.1:7000";
    struct redis_redirect r;

    (void)state;
    for (size_t len = 0; len < sizeof(text) - 4; len++) {
        char *copy = malloc(len ? len : 1);

        memcpy(copy, text, len);
        if (redis_redirect_read(&r, copy, len, &from) == 0)
            assert_true(len > strlen("MOVED 1 127.0.0.1:"));
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_keys),    cmocka_unit_test(slots_of_commands),
        cmocka_unit_test(reads_redirects),  cmocka_unit_test(refuses_others),
        cmocka_unit_test(reads_no_further),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
