/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "password.h"
#include "users.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SHA "{SHA1}qUqP5cyxm6YcTAhz05Hph5gvu9M=" /* "test" */
#define SHA512                                                                                     \
    "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/"                                           \
    "O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"

static void test_files(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        unsigned line;   /* of the fault */
        const char *why; /* NULL: good */
    } rows[] = {
        {"", 0, 0, NULL},
        {"alice:" SHA, 1, 0, NULL},
        {"# comment\n\nalice:" SHA "\r\nbob:" SHA " \t\n", 2, 0, NULL},
        {"a lice:" SHA "\n", 1, 0, NULL},
        {"alice\n", 0, 1, "expected user:hash"},
        {"alice:" SHA "\n:" SHA "\n", 0, 2, "a user name has 1 to 255 bytes"},
        {"alice:secret\n", 0, 1, "not a hash that this system can check"},
        {"alice:{SHA1}tooshort=\n", 0, 1, "not a hash that this system can check"},
        {"alice:\n", 0, 1, "not a hash that this system can check"},
        {"b:" SHA "\nalice:" SHA "\nb:" SHA "\n", 0, 0, "a user appears twice"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct users_fault fault;
        struct users *u = auth_users_parse(mk_str_from(rows[i].text), &fault);

        if ((u == NULL) != (rows[i].why != NULL))
            fail_msg("row %zu: %s", i, fault.why ? fault.why : "good");
        if (u)
            assert_int_equal(u->count, rows[i].count);
        else
            assert_string_equal(fault.why, rows[i].why);
        if (!u)
            assert_int_equal(fault.line, rows[i].line);
        auth_users_put(u);
    }
}

/* As `openssl passwd -apr1` writes them. */
static void test_hashes_of_apache(void **state)
{
    static const struct {
        const char *hash, *password;
    } rows[] = {
        {"$apr1$Xyz12345$BrcraRUmVmB8m5YiSkRLN/", "secret"},
        {"$apr1$a$lsAcX0kKaMIVmrCtUuk5b0", ""},
        {"$apr1$saltsalt$6m2DgIfL1lh48Tk5c1bnm/", "a long password of more than sixteen bytes"},
    };
    static const char *const bad[] = {
        "$apr1$$BrcraRUmVmB8m5YiSkRLN/",          /* no salt */
        "$apr1$Xyz123456$BrcraRUmVmB8m5YiSkRLN/", /* too much of it */
        "$apr1$Xyz12345$BrcraRUmVmB8m5YiSkRLN",   /* a hash too short */
        "$apr1$Xyz12345$BrcraRUmVmB8m5YiSkRL!/",  "$apr1$Xyz12345",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(auth_password_is_hash(rows[i].hash) && auth_password_is_slow(rows[i].hash));
        assert_true(auth_password_matches(rows[i].hash, rows[i].password));
        assert_false(auth_password_matches(rows[i].hash, "Secret"));
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(auth_password_is_hash(bad[i]));
}

static void test_nul_is_refused(void **state)
{
    static const char text[] = "alice:" SHA "\0\nbob:" SHA;
    struct users_fault fault;

    (void)state;
    assert_null(auth_users_parse((struct mk_str){text, sizeof(text) - 1}, &fault));
}

static void test_finding(void **state)
{
    struct users_fault fault;
    struct users *u =
        auth_users_parse(MK_STR("zoe:" SHA "\nal:" SHA512 "\nalice:" SHA "\n"), &fault);

    (void)state;
    assert_non_null(u);
    assert_string_equal(auth_users_find(u, MK_STR("al")), SHA512);
    assert_string_equal(auth_users_find(u, MK_STR("zoe")), SHA);
    assert_null(auth_users_find(u, MK_STR("ali")));
    assert_null(auth_users_find(u, MK_STR("")));
    assert_null(auth_users_find(u, MK_STR("Alice")));
    auth_users_put(u);
}

static void test_unknown_users_cost_what_most_cost(void **state)
{
    static const struct {
        struct mk_str text;
        const char *usual;
    } rows[] = {
        {MK_STR_INIT(""), NULL},
        {MK_STR_INIT("a:" SHA "\n"), SHA},
        {MK_STR_INIT("a:" SHA "\nb:" SHA "\nc:" SHA512 "\n"), SHA512},
        {MK_STR_INIT("a:$6$salt$x1234567\nb:$y$j9T$s1$abc\nc:$y$j9T$s2$def\n"), "$y$j9T$s1$abc"},
        {MK_STR_INIT("a:$y$j9T$s1$abc\nb:$y$jCT$s2$def\nc:$y$jCT$s3$ghi\n"), "$y$jCT$s2$def"},
        {MK_STR_INIT("a:$6$rounds=9$s$abc\nb:$6$s2$defghij\nc:$6$s3$defghij\n"), "$6$s2$defghij"},
        {MK_STR_INIT("a:$2b$05$abcdef\nb:$2b$12$abcdef\nc:$2b$12$bcdefg\n"), "$2b$12$abcdef"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct users_fault fault;
        struct users *u = auth_users_parse(rows[i].text, &fault);

        assert_non_null(u);
        if (rows[i].usual)
            assert_string_equal(auth_users_usual_hash(u), rows[i].usual);
        else
            assert_null(auth_users_usual_hash(u));
        auth_users_put(u);
    }
}

static void test_passwords(void **state)
{
    (void)state;
    assert_true(auth_password_matches(SHA, "test"));
    assert_true(auth_password_matches("{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=", "test"));
    assert_false(auth_password_matches(SHA, "tesT"));
    assert_false(auth_password_matches(SHA, ""));
    assert_false(auth_password_is_slow(SHA));
    assert_true(auth_password_matches(SHA512, "Hello world!"));
    assert_false(auth_password_matches(SHA512, "Hello world"));
    assert_false(auth_password_matches("$6$unfinished", "x"));
    assert_false(auth_password_matches("$unknown$salt$hash", "x"));
    assert_true(auth_password_is_slow(SHA512));
    assert_false(auth_password_is_hash("test"));
    assert_false(auth_password_is_hash("rqXexS6ZhobKA")); /* DES */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes_of_apache),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_nul_is_refused),
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_unknown_users_cost_what_most_cost),
        cmocka_unit_test(test_passwords),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
