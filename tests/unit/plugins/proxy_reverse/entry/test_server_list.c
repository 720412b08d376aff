/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "entry/server_list.h"
#include "fake_setup.h"

struct list {
    struct mk_setup setup;
    struct proxy_settings set;
    int err;
};

static struct list *read_list(const char *text, const char *transport)
{
    struct list *l = calloc(1, sizeof(*l));
    struct mk_setting s = {.value = mk_str_from(text)};

    assert_non_null(l);
    l->setup.settings = &l->set;
    l->set.transport = transport;
    l->err = proxy_parse_server_list(&l->setup, &s);
    if (l->err == 0)
        l->err = proxy_complete_servers(&l->setup, &l->set);
    return l;
}

static void free_list(struct list *l)
{
    fake_setup_end(&l->setup);
    free(l);
}

static void test_words(void **state)
{
    static const struct {
        const char *word, *transport, *host;
        unsigned port;
        const char *authority;
    } rows[] = {
        {"a.example", NULL, "a.example", 80, "a.example"},
        {"a.example:80", NULL, "a.example", 80, "a.example"},
        {"a.example:8080", NULL, "a.example", 8080, "a.example:8080"},
        {"a.example", "tls", "a.example", 443, "a.example"},
        {"a.example:80", "tls", "a.example", 80, "a.example:80"},
        {"a.example", "liana", "a.example", 80, "a.example"},
        {"10.0.0.1:65535", NULL, "10.0.0.1", 65535, "10.0.0.1:65535"},
        {"[::1]", NULL, "::1", 80, "[::1]"},
        {"[fe80::1%eth0]:81", NULL, "fe80::1%eth0", 81, "[fe80::1%eth0]:81"},
        {"unix:/run/app.sock", NULL, "unix:/run/app.sock", 0, "localhost"},
        {"under_score", NULL, "under_score", 80, "under_score"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list *l = read_list(rows[i].word, rows[i].transport);

        assert_int_equal(l->err, 0);
        assert_int_equal(l->set.nservers, 1);
        assert_string_equal(l->set.servers[0].name, rows[i].word);
        assert_string_equal(l->set.servers[0].host, rows[i].host);
        assert_int_equal(l->set.servers[0].port, rows[i].port);
        assert_string_equal(l->set.servers[0].authority.p, rows[i].authority);
        free_list(l);
    }
}

static void test_what_is_no_server(void **state)
{
    static const char *const words[] = {
        "",      ":80",        "a:",   "a:0",      "a:65536", "a:080000", "a:8x",
        "a:-1",  "::1",        "[::1", "[::1]x",   "[::1]:",  "[]:80",    "a/b",
        "unix:", "unix:run/x", "a@b",  "http://a", "a b:",    "a:+1",     "a%b",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct list *l = read_list(words[i], NULL);

        if (l->err != MK_E_INVALID || l->setup.nrefused != 1)
            fail_msg("%s: taken", words[i]);
        free_list(l);
    }
}

static void test_lengths_have_bounds(void **state)
{
    char word[512];

    (void)state;
    for (size_t len = 253; len <= 254; len++) {
        struct list *l;

        memset(word, 'a', len);
        word[len] = '\0';
        l = read_list(word, NULL);
        assert_int_equal(l->err, len == 253 ? 0 : MK_E_INVALID);
        free_list(l);
    }
    for (size_t len = 107; len <= 108; len++) { /* of the path of a unix socket */
        struct list *l;

        (void)snprintf(word, sizeof(word), "unix:/%0*d", (int)len - 1, 0);
        l = read_list(word, NULL);
        assert_int_equal(l->err, len == 107 ? 0 : MK_E_INVALID);
        free_list(l);
    }
}

/* A word that stands twice counts twice, whether the usual port was written or not and in whichever case. */
static void test_the_same_server_twice(void **state)
{
    struct list *l = read_list(" a.example \t b A.example:80 unix:/x unix:/X b:81", NULL);

    (void)state;
    assert_int_equal(l->err, 0);
    assert_int_equal(l->set.weights, 6);
    assert_int_equal(l->set.nservers, 5);
    assert_string_equal(l->set.servers[0].name, "a.example");
    assert_int_equal(l->set.servers[0].weight, 2);
    for (size_t i = 1; i < l->set.nservers; i++)
        assert_int_equal(l->set.servers[i].weight, 1);
    free_list(l);
}

/* They stand behind the others, each kind in its order; one that is listed twice is one where either word says so. */
static void test_backups(void **state)
{
    static const struct {
        const char *text, *names[5];
        unsigned nmain;
    } rows[] = {
        {"a b", {"a", "b"}, 2},
        {"a b backup", {"a", "b"}, 1},
        {"a backup b", {"b", "a"}, 1},
        {"a BACKUP b c backup h2 d", {"b", "d", "a", "c"}, 2},
        {"a backup b:80 backup", {"a", "b:80"}, 0},
        {"a b a:80 backup", {"b", "a"}, 1},
        {"a h2 backup b", {"b", "a"}, 1},
        {"backup:80 a", {"backup:80", "a"}, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list *l = read_list(rows[i].text, NULL);

        assert_int_equal(l->err, 0);
        assert_int_equal(l->set.nmain, rows[i].nmain);
        for (size_t j = 0; j < l->set.nservers; j++) {
            assert_string_equal(l->set.servers[j].name, rows[i].names[j]);
            assert_int_equal(l->set.servers[j].is_backup, j >= rows[i].nmain);
        }
        assert_null(rows[i].names[l->set.nservers]);
        free_list(l);
    }
}

static void test_a_backup_of_nothing(void **state)
{
    static const char *const texts[] = {"backup", "backup a", "h2 backup a"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct list *l = read_list(texts[i], NULL);

        assert_int_equal(l->err, MK_E_INVALID);
        free_list(l);
    }
}

static void test_how_many_there_may_be(void **state)
{
    char text[256 * 8 + 8] = "";
    struct list *l;

    (void)state;
    for (unsigned i = 0; i < PROXY_SERVERS_MAX; i++)
        (void)snprintf(text + strlen(text), 8, "s%u ", i);
    l = read_list(text, NULL);
    assert_int_equal(l->err, 0);
    assert_int_equal(l->set.nservers, PROXY_SERVERS_MAX);
    free_list(l);
    strcat(text, "more");
    l = read_list(text, NULL);
    assert_int_equal(l->err, MK_E_INVALID);
    free_list(l);
}

static void test_without_memory(void **state)
{
    struct list l = {.setup = {.no_memory = true}};
    struct mk_setting s = {.value = MK_STR("a")};

    (void)state;
    l.setup.settings = &l.set;
    assert_int_equal(proxy_parse_server_list(&l.setup, &s), MK_E_NOMEM);
    assert_int_equal(l.set.nservers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_what_is_no_server),
        cmocka_unit_test(test_lengths_have_bounds),
        cmocka_unit_test(test_the_same_server_twice),
        cmocka_unit_test(test_backups),
        cmocka_unit_test(test_a_backup_of_nothing),
        cmocka_unit_test(test_how_many_there_may_be),
        cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
