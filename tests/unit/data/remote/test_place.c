/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/remote/place.h"

#include <stdlib.h>
#include <string.h>

static const struct remote_scheme scheme = {"memcached", 11211};

static const char *read_text(struct remote_place *p, const char *text)
{
    const size_t len = strlen(text);
    char *copy = malloc(len + 1); /* not terminated: a byte behind it is not read */
    const char *why;

    assert_non_null(copy);
    memcpy(copy, text, len);
    copy = realloc(copy, len > 0 ? len : 1);
    why = remote_place_read(p, copy, len, &scheme);
    free(copy);
    return why;
}

static void reads_places(void **state)
{
    static const struct {
        const char *in, *host, *text;
        unsigned port, connections;
        bool is_secure;
    } rows[] = {
        {"127.0.0.1:11211", "127.0.0.1", "127.0.0.1:11211", 11211, 0, false},
        {"[::1]:1", "::1", "[::1]:1", 1, 0, false},
        {"localhost:65535", "localhost", "localhost:65535", 65535, 0, false},
        {"memcached:1", "memcached", "memcached:1", 1, 0, false},
        {"memcacheds:1", "memcacheds", "memcacheds:1", 1, 0, false},
        {"memcached-2.local:1", "memcached-2.local", "memcached-2.local:1", 1, 0, false},
        {"memcached://cache", "cache", "cache:11211", 11211, 0, false},
        {"memcached://memcached", "memcached", "memcached:11211", 11211, 0, false},
        {"memcacheds://cache:4", "cache", "cache:4", 4, 0, true},
        {"memcacheds://[::1]", "::1", "[::1]:11211", 11211, 0, true},
        {"memcached://cache?connections=1024", "cache", "cache:11211", 11211, 1024, false},
        {"memcacheds://10.0.0.1:5?connections=7", "10.0.0.1", "10.0.0.1:5", 5, 7, true},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct remote_place p;

        assert_null(read_text(&p, rows[i].in));
        assert_string_equal(p.host, rows[i].host);
        assert_string_equal(p.text, rows[i].text);
        assert_int_equal(p.port, rows[i].port);
        assert_int_equal(p.connections, rows[i].connections);
        assert_int_equal(p.is_secure, rows[i].is_secure);
    }
}

static void refuses_what_is_no_place(void **state)
{
    static const char *const rows[] = {
        "",
        ":",
        ":11211",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:1x",
        "127.0.0.1:-1",
        "127.0.0.1:100000",
        "300.0.0.1:1",
        "1.2.3:1",
        "::1:11211",
        "[::1:11211",
        "[::1]11211",
        "[::1]",
        "[cache]:1",
        "[127.0.0.1]:1",
        "unix:/run/memcached:1",
        "a/b:1",
        "user@cache:1",
        "redis://cache:1",
        "memcached:/cache",
        "memcached://",
        "memcached://:1",
        "memcached://cache:",
        "memcached://cache?",
        "memcached://cache?connections=",
        "memcached://cache?connections=0",
        "memcached://cache?connections=1025",
        "memcached://cache?connections=1&connections=2",
        "memcached://cache?ca=/etc/ca.pem",
        "cache:1?connections=1",
    };
    char host[REMOTE_HOST_MAX + 3];
    struct remote_place p;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        if (!read_text(&p, rows[i]))
            fail_msg("accepted: %s", rows[i]);
    }
    memset(host, 'h', sizeof(host));
    memcpy(host + sizeof(host) - 3, ":1", 3);
    assert_null(read_text(&p, host + 1));
    assert_non_null(read_text(&p, host));
}

static void sees_that_two_texts_are_one_server(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } rows[] = {
        {"cache:1", "CACHE:1", true},
        {"cache:1", "cache:2", false},
        {"cache:11211", "memcacheds://cache", true},
        {"[::1]:1", "[0:0::1]:1", true},
        {"[::1]:1", "[::2]:1", false},
        {"127.0.0.1:1", "localhost:1", false},
        {"127.0.0.1:1", "[::127.0.0.1]:1", false},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct remote_place a, b;

        assert_null(read_text(&a, rows[i].a));
        assert_null(read_text(&b, rows[i].b));
        assert_int_equal(remote_place_is_same(&a, &b), rows[i].is_same);
        assert_int_equal(remote_place_is_same(&b, &a), rows[i].is_same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_places),
        cmocka_unit_test(refuses_what_is_no_place),
        cmocka_unit_test(sees_that_two_texts_are_one_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
