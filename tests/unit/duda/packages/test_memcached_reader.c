/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "packages/memcached/memcached.h"
#include "packages/memcached/reader.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 100 };

static void begin(struct memc_reader *r, enum memc_kind kind, const char *key)
{
    memc_reader_begin(r, kind, key, strlen(key), VALUE_MAX);
}

/* The bytes lie in a block of their own, so that a sanitizer sees one that is read too far. */
static ssize_t feed(struct memc_reader *r, const char *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    ssize_t n;

    assert_non_null(copy);
    memcpy(copy, bytes, len);
    n = memc_reader_feed(r, copy, len);
    free(copy);
    return n;
}

/* @return bytes used in two pieces, -1: malformed */
static ssize_t feed_split(struct memc_reader *r, const char *text, size_t cut)
{
    ssize_t first = feed(r, text, cut), second;

    if (first < (ssize_t)cut)
        return first;
    second = feed(r, text + cut, strlen(text) - cut);
    return second < 0 ? -1 : first + second;
}

struct answer {
    enum memc_kind kind;
    const char *text;
    int result;
    const char *value;
    uint64_t number;
};

static void check(const struct answer *row, size_t cut)
{
    struct memc_reader r;
    char text[1024];

    (void)snprintf(text, sizeof(text), "%sSTORED\r\n", row->text); /* of the next command */
    begin(&r, row->kind, "key");
    assert_int_equal(feed_split(&r, text, cut), strlen(row->text));
    assert_int_equal(r.state, MEMC_READER_DONE);
    assert_int_equal(r.result, row->result);
    assert_true(r.number == row->number);
    if (row->value) {
        assert_int_equal(r.value_len, strlen(row->value));
        assert_string_equal(r.value, row->value);
    } else {
        assert_null(r.value);
    }
    memc_reader_fini(&r);
}

static void reads_answers_split_at_each_byte(void **state)
{
    static const struct answer rows[] = {
        {MEMC_STORE, "STORED\r\n", MEMCACHED_OK, NULL, 0},
        {MEMC_STORE, "NOT_STORED\r\n", MEMCACHED_NOT_STORED, NULL, 0},
        {MEMC_STORE, "EXISTS\r\n", MEMCACHED_NOT_STORED, NULL, 0},
        {MEMC_STORE, "NOT_FOUND\r\n", MEMCACHED_MISS, NULL, 0},
        {MEMC_STORE, "SERVER_ERROR out of memory\r\n", MEMCACHED_REFUSED, NULL, 0},
        {MEMC_GET, "END\r\n", MEMCACHED_MISS, NULL, 0},
        {MEMC_GET, "VALUE key 0 5\r\nhello\r\nEND\r\n", MEMCACHED_OK, "hello", 0},
        {MEMC_GET, "VALUE key 4294967295 7\r\n\r\nEND\r\n\r\nEND\r\n", MEMCACHED_OK, "\r\nEND\r\n",
         0},
        {MEMC_GET, "VALUE key 1 0\r\n\r\nEND\r\n", MEMCACHED_OK, "", 0},
        {MEMC_DELETE, "DELETED\r\n", MEMCACHED_OK, NULL, 0},
        {MEMC_DELETE, "NOT_FOUND\r\n", MEMCACHED_MISS, NULL, 0},
        {MEMC_NUMBER, "18446744073709551615\r\n", MEMCACHED_OK, NULL, UINT64_MAX},
        {MEMC_NUMBER, "0\r\n", MEMCACHED_OK, NULL, 0},
        {MEMC_NUMBER, "NOT_FOUND\r\n", MEMCACHED_MISS, NULL, 0},
        {MEMC_NUMBER, "CLIENT_ERROR cannot increment\r\n", MEMCACHED_REFUSED, NULL, 0},
        {MEMC_TOUCH, "TOUCHED\r\n", MEMCACHED_OK, NULL, 0},
        {MEMC_TOUCH, "ERROR\r\n", MEMCACHED_REFUSED, NULL, 0},
        {MEMC_PROBE, "VERSION 1.6.24\r\n", MEMCACHED_OK, NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        for (size_t cut = 0; cut <= strlen(rows[i].text); cut++)
            check(&rows[i], cut);
}

static void refuses_what_is_no_answer(void **state)
{
    static const struct {
        enum memc_kind kind;
        const char *text, *why;
    } rows[] = {
        {MEMC_STORE, "HTTP/1.1 400 Bad Request\r\n", "an unexpected answer"},
        {MEMC_STORE, "END\r\n", "an unexpected answer"},
        {MEMC_STORE, "\r\n", "an unexpected answer"},
        {MEMC_STORE, "STORED\n", "a line without CR"},
        {MEMC_STORE, "\n", "a line without CR"},
        {MEMC_GET, "STORED\r\n", "an unexpected answer"},
        {MEMC_GET, "VALUE other 0 1\r\n", "the value of another key"},
        {MEMC_GET, "VALUE keys 0 1\r\n", "the value of another key"},
        {MEMC_GET, "VALUE ke 0 1\r\n", "the value of another key"},
        {MEMC_GET, "VALUE key\r\n", "the value of another key"},
        {MEMC_GET, "VALUE key 0\r\n", "a malformed line VALUE"},
        {MEMC_GET, "VALUE key 4294967296 1\r\n", "a malformed line VALUE"},
        {MEMC_GET, "VALUE key 0 -1\r\n", "a malformed line VALUE"},
        {MEMC_GET, "VALUE key 0 1 2\r\n", "a malformed line VALUE"},
        {MEMC_GET, "VALUE key 0 18446744073709551616\r\n", "a malformed line VALUE"},
        {MEMC_GET, "VALUE key 0 101\r\n", "a value longer than value_max"},
        {MEMC_GET, "VALUE key 0 18446744073709551615\r\n", "a value longer than value_max"},
        {MEMC_GET, "VALUE key 0 2\r\nabc\r\n", "a value longer than was said"},
        {MEMC_GET, "VALUE key 0 2\r\nab\r\nVALUE key 0 2\r\n", "no END"},
        {MEMC_NUMBER, "12x\r\n", "a malformed number"},
        {MEMC_NUMBER, "18446744073709551616\r\n", "a malformed number"},
        {MEMC_NUMBER, "-1\r\n", "an unexpected answer"},
        {MEMC_PROBE, "VERSION\r\n", "an unexpected answer"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        for (size_t cut = 0; cut <= strlen(rows[i].text); cut++) {
            struct memc_reader r;

            begin(&r, rows[i].kind, "key");
            assert_int_equal(feed_split(&r, rows[i].text, cut), -1);
            assert_string_equal(r.why, rows[i].why);
            memc_reader_fini(&r);
        }
    }
}

static void refuses_nul_and_long_lines(void **state)
{
    static const char nul[] = "STO\0RED\r\n";
    char text[MEMC_LINE_MAX + 1];
    struct memc_reader r;

    (void)state;
    begin(&r, MEMC_STORE, "key");
    assert_int_equal(feed(&r, nul, sizeof(nul) - 1), -1);
    memset(text, 'x', sizeof(text));
    begin(&r, MEMC_STORE, "key");
    assert_int_equal(feed(&r, text, MEMC_LINE_MAX), MEMC_LINE_MAX);
    assert_int_equal(feed(&r, text, 1), -1);
    assert_string_equal(r.why, "a line that is too long");
}

static void reads_the_longest_key_and_value(void **state)
{
    char text[1024], value[VALUE_MAX + 1], key[MEMC_KEY_MAX + 1];
    struct memc_reader r;

    (void)state;
    memset(key, 'k', MEMC_KEY_MAX);
    key[MEMC_KEY_MAX] = '\0';
    memset(value, 'v', VALUE_MAX);
    value[VALUE_MAX] = '\0';
    (void)snprintf(text, sizeof(text), "VALUE %s 0 %d\r\n%s\r\nEND\r\n", key, VALUE_MAX, value);
    begin(&r, MEMC_GET, key);
    assert_int_equal(feed(&r, text, strlen(text)), strlen(text));
    assert_string_equal(r.value, value);
    memc_reader_fini(&r);
}

static void a_length_that_is_only_announced_takes_no_memory(void **state)
{
    static const char text[] = "VALUE key 0 100000000\r\nx";
    struct memc_reader r;

    (void)state;
    memc_reader_begin(&r, MEMC_GET, "key", 3, MEMC_VALUE_MAX);
    assert_int_equal(feed(&r, text, sizeof(text) - 1), sizeof(text) - 1);
    assert_true(r.value_room <= MEMC_VALUE_STEP);
    memc_reader_fini(&r);
}

static void keeps_the_words_of_a_refusal(void **state)
{
    struct memc_reader r;

    (void)state;
    begin(&r, MEMC_STORE, "key");
    assert_int_equal(feed_split(&r, "SERVER_ERROR object too large\r\n", 3), 31);
    assert_string_equal(r.line, "SERVER_ERROR object too large");
    assert_false(r.is_unknown);
    begin(&r, MEMC_STORE, "key");
    assert_int_equal(feed_split(&r, "CLIENT_ERROR bad\r\n", 3), 18);
    assert_true(r.is_unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_answers_split_at_each_byte),
        cmocka_unit_test(refuses_what_is_no_answer),
        cmocka_unit_test(refuses_nul_and_long_lines),
        cmocka_unit_test(reads_the_longest_key_and_value),
        cmocka_unit_test(a_length_that_is_only_announced_takes_no_memory),
        cmocka_unit_test(keeps_the_words_of_a_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
