/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"
#include "failing_memory.h"

#include <monkey/postgresql.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What a client of PostgreSQL may be made of. None is connected. */

static const struct mk_postgresql_options usual = {
    .size = sizeof(usual), .url = "postgresql://user:secret@127.0.0.1:1/name?sslmode=disable"};

static int made(const struct mk_postgresql_options *options, const char **why)
{
    struct mk_postgresql *database = NULL;
    const int err = mk_postgresql_new(&database, options, why);

    assert_true((err == 0) == (database != NULL));
    mk_postgresql_free(database);
    return err;
}

static void options_have_bounds(void **state)
{
    static const struct {
        struct mk_postgresql_options more;
        int result;
    } rows[] = {
        {{.timeout_ms = 99}, MK_E_INVALID},
        {{.timeout_ms = 100}, 0},
        {{.timeout_ms = 3600000}, 0},
        {{.timeout_ms = 3600001}, MK_E_INVALID},
        {{.connections = 1024}, 0},
        {{.connections = 1025}, MK_E_INVALID},
        {{.connections = (unsigned)-1}, MK_E_INVALID},
        {{.queries = 1 << 20}, 0},
        {{.queries = (1 << 20) + 1}, MK_E_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct mk_postgresql_options o = rows[i].more;
        const char *why = NULL;

        o.size = usual.size;
        o.url = usual.url;
        assert_int_equal(made(&o, &why), rows[i].result);
        assert_int_equal(why != NULL, rows[i].result < 0);
    }
}

static void an_invalid_url_is_explained_without_the_password(void **state)
{
    static const char *const urls[] = {
        "", "http://a", "postgresql://user:secret@127.0.0.1/x?no=key",
        "postgresql://user:secret@[127.0.0.1/x", "postgresql://user:sec%ret@127.0.0.1/x"};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(urls); i++) {
        const struct mk_postgresql_options o = {.size = sizeof(o), .url = urls[i]};
        const char *why = NULL;

        assert_int_equal(made(&o, &why), MK_E_INVALID);
        assert_true(why && !strstr(why, "sec"));
    }
    assert_int_equal(made(&(struct mk_postgresql_options){.size = sizeof(usual)}, NULL),
                     MK_E_INVALID);
    assert_int_equal(made(NULL, NULL), MK_E_INVALID);
    assert_int_equal(mk_postgresql_new(NULL, &usual, NULL), MK_E_INVALID);
    mk_postgresql_free(NULL);
}

static void hosts_are_names_addresses_or_folders(void **state)
{
    static const struct {
        const char *url;
        int result;
    } rows[] = {
        {"postgresql://db.example/x", 0},
        {"postgresql://localhost/x", 0},
        {"postgresql:///x?host=/run/postgresql", 0},
        {"postgresql://127.0.0.1,[::1]/x", 0},
        {"postgresql://db.example,other.example/x?hostaddr=127.0.0.1,127.0.0.2", 0},
        {"postgresql://db.example,other.example/x", MK_E_INVALID},
        {"postgresql://127.0.0.1,db.example/x", MK_E_INVALID},
        {"postgresql://127.0.0/x", MK_E_INVALID},
        {"postgresql://a%20b/x", MK_E_INVALID},
        {"postgresql://unix%3A%2Frun/x", MK_E_INVALID},
    };
    char url[300];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        const struct mk_postgresql_options o = {.size = sizeof(o), .url = rows[i].url};

        assert_int_equal(made(&o, NULL), rows[i].result);
    }
    for (size_t len = 253; len <= 254; len++) { /* RFC 1035 section 2.3.4 */
        const struct mk_postgresql_options o = {.size = sizeof(o), .url = url};

        (void)snprintf(url, sizeof(url), "postgresql://%0*d", (int)len, 0);
        url[strlen(url) - 1] = 'a';
        assert_int_equal(made(&o, NULL), len == 253 ? 0 : MK_E_INVALID);
    }
}

static int make_usual(void)
{
    return made(&usual, NULL);
}

/* An invalid text would be the program's fault. */
static void missing_memory_is_no_invalid_url(void **state)
{
    (void)state;
    assert_true(allocations_of(make_usual) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_bounds),
        cmocka_unit_test(an_invalid_url_is_explained_without_the_password),
        cmocka_unit_test(hosts_are_names_addresses_or_folders),
        cmocka_unit_test(missing_memory_is_no_invalid_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
