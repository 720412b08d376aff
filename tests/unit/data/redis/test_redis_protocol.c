/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/redis/bounds.h"
#include "data/redis/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- commands ---- */

static char *format(const char *text, ...)
{
    char *bytes;
    va_list args;
    ssize_t len;

    va_start(args, text);
    len = redis_format(&bytes, text, args);
    va_end(args);
    assert_true(len == -1 ? bytes == NULL : len >= 4);
    return bytes;
}

static void is_written(char *bytes, const char *wanted)
{
    assert_non_null(bytes);
    assert_string_equal(bytes, wanted);
    redis_bytes_free(bytes);
}

static void writes_commands(void **state)
{
    static const char *const words[] = {"GET", "two words", ""};
    char *bytes;

    (void)state;
    is_written(format("GET %s", "two words"), "*2\r\n$3\r\nGET\r\n$9\r\ntwo words\r\n");
    is_written(format("SET k %b", "abc", (size_t)2), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nab\r\n");
    is_written(format("INCRBY k %d", -7), "*3\r\n$6\r\nINCRBY\r\n$1\r\nk\r\n$2\r\n-7\r\n");
    assert_true(redis_format_words(&bytes, 3, words, NULL) > 0);
    is_written(bytes, "*3\r\n$3\r\nGET\r\n$9\r\ntwo words\r\n$0\r\n\r\n");
}

static void refuses_commands_without_words(void **state)
{
    static const char *const words[] = {"GET", NULL};
    static const size_t lens[] = {3, (size_t)-1};
    char *bytes;

    (void)state;
    assert_null(format(""));
    assert_null(format("  "));
    assert_null(format(NULL));
    assert_int_equal(redis_format_words(&bytes, 0, words, NULL), -1);
    assert_int_equal(redis_format_words(&bytes, -1, words, NULL), -1);
    assert_int_equal(redis_format_words(&bytes, 2, words, NULL), -1);
    assert_int_equal(redis_format_words(&bytes, 2, words, lens), -1);
    assert_int_equal(redis_format_words(&bytes, 1, NULL, NULL), -1);
    assert_null(bytes);
}

static void walks_over_words(void **state)
{
    char *bytes = format("Get %s %b", "key", "\0\r\n", (size_t)3);
    struct redis_words words = redis_words_of(bytes);
    struct redis_word word;

    (void)state;
    assert_true(redis_words_next(&words, &word) && redis_word_is(&word, "GET"));
    assert_false(redis_word_is(&word, "GE") || redis_word_is(&word, "GETS"));
    assert_true(redis_words_next(&words, &word) && redis_word_is(&word, "KEY"));
    assert_true(redis_words_next(&words, &word) && word.len == 3);
    assert_false(redis_words_next(&words, &word));
    redis_bytes_free(bytes);
}

/* ---- answers ---- */

/* As text: s for strings, + status, - errors, : integers, _ nil. */
static void print(char *dst, size_t size, const struct mk_redis_reply *r)
{
    size_t at = strlen(dst);

    switch (r->type) {
    case MK_REDIS_ARRAY:
        (void)snprintf(dst + at, size - at, "[");
        for (size_t i = 0; i < r->elements; i++)
            print(dst, size, r->element[i]);
        at = strlen(dst);
        (void)snprintf(dst + at, size - at, "]");
        break;
    case MK_REDIS_INTEGER:
        (void)snprintf(dst + at, size - at, ":%lld ", r->integer);
        break;
    case MK_REDIS_NIL:
        (void)snprintf(dst + at, size - at, "_ ");
        break;
    default:
        assert_int_equal(strlen(r->str), r->len);
        (void)snprintf(dst + at, size - at, "%c%s ",
                       r->type == MK_REDIS_STATUS  ? '+'
                       : r->type == MK_REDIS_ERROR ? '-'
                                                   : 's',
                       r->str);
    }
}

/* The bytes lie in a block of their own, so that a sanitizer sees one that is read too far. */
static int feed(struct redis_reader *r, const char *bytes, size_t len, char *got, size_t size)
{
    char *copy = malloc(len ? len : 1);
    struct mk_redis_reply *reply = NULL;
    int result;

    assert_non_null(copy);
    memcpy(copy, bytes, len);
    result = redis_reader_feed(r, copy, len);
    free(copy);
    while (result == 0 && (result = redis_reader_next(r, &reply)) == 0 && reply) {
        print(got, size, reply);
        redis_reply_free(reply);
    }
    return result;
}

static void reads_answers_split_at_each_byte(void **state)
{
    static const char text[] =
        "+OK\r\n-ERR no\r\n:-42\r\n$-1\r\n$0\r\n\r\n$5\r\nhello\r\n*0\r\n*-1\r\n"
        "*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+b\r\n";
    static const char wanted[] = "+OK -ERR no :-42 _ s shello []_ [sa [:1 _ ]+b ]";

    (void)state;
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        struct redis_reader *r = redis_reader_new();
        char got[256] = "";

        assert_non_null(r);
        assert_int_equal(feed(r, text, cut, got, sizeof(got)), 0);
        assert_int_equal(feed(r, text + cut, sizeof(text) - 1 - cut, got, sizeof(got)), 0);
        assert_string_equal(got, wanted);
        redis_reader_free(r);
    }
}

static void refuses_what_is_no_answer(void **state)
{
    static const char *const rows[] = {
        "HTTP/1.1 400 Bad Request\r\n",
        "\r\n",
        "\xff\r\n",
        ":x\r\n",
        ":99999999999999999999\r\n",
        "$x\r\n",
        "$-2\r\n",
        "*-2\r\n",
        "*x\r\n",
        "*99999999\r\n",
        /* an array within an array whose other part is there already */
        "*2\r\n$1\r\na\r\n*99999999\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct redis_reader *r = redis_reader_new();
        char got[64] = "";

        assert_non_null(r);
        assert_int_equal(feed(r, rows[i], strlen(rows[i]), got, sizeof(got)), -1);
        assert_true(strlen(redis_reader_why(r)) > 0);
        assert_string_equal(got, "");
        redis_reader_free(r);
    }
}

/* Each of these takes ten bytes on the wire, and much more here. */
static void bounds_the_memory_of_an_answer(void **state)
{
    static const char begin[] = "*1000\r\n", next[] = "*2000000\r\n";
    struct redis_reader *r = redis_reader_new();
    char got[8] = "";
    int result;

    (void)state;
    assert_non_null(r);
    result = feed(r, begin, strlen(begin), got, sizeof(got));
    for (int i = 0; i < 8 && result == 0; i++)
        result = feed(r, next, strlen(next), got, sizeof(got));
    assert_int_equal(result, -1);
    redis_reader_free(r);
}

/* Four bytes a level would take the stack of the process when the tree is freed. */
static void bounds_the_depth_of_an_answer(void **state)
{
    static const struct {
        unsigned depth;
        int result;
    } rows[] = {{7, 0}, {40, -1}, {10000, -1}};
    static char text[4 * 10000 + 5];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct redis_reader *r = redis_reader_new();
        char got[64] = "";
        size_t len = 4 * (size_t)rows[i].depth;

        assert_non_null(r);
        for (size_t at = 0; at < len; at += 4)
            memcpy(text + at, "*1\r\n", 4);
        memcpy(text + len, ":1\r\n", 4);
        assert_int_equal(feed(r, text, len + 4, got, sizeof(got)), rows[i].result);
        assert_int_equal(strlen(redis_reader_why(r)) > 0, rows[i].result < 0);
        redis_reader_free(r);
    }
}

static void frees_half_an_answer(void **state)
{
    static const char text[] = "*3\r\n$1\r\na\r\n*2\r\n:1\r\n";
    struct redis_reader *r = redis_reader_new();
    char got[8] = "";

    (void)state;
    assert_non_null(r);
    assert_int_equal(feed(r, text, strlen(text), got, sizeof(got)), 0);
    redis_reader_free(r);
    redis_reader_free(NULL);
    redis_reply_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_commands),
        cmocka_unit_test(refuses_commands_without_words),
        cmocka_unit_test(walks_over_words),
        cmocka_unit_test(reads_answers_split_at_each_byte),
        cmocka_unit_test(refuses_what_is_no_answer),
        cmocka_unit_test(bounds_the_memory_of_an_answer),
        cmocka_unit_test(bounds_the_depth_of_an_answer),
        cmocka_unit_test(frees_half_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
