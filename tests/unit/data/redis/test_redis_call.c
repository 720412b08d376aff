/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/redis/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Commands of a client, and how their answers are read. */

static const char ping[] = "*1\r\n$4\r\nPING\r\n";

static struct redis_call *new_call(unsigned nanswers)
{
    struct redis_call *c =
        redis_call_new(sizeof(struct redis_call), ping, sizeof(ping) - 1, nanswers);

    assert_non_null(c);
    return c;
}

static bool sends(const struct redis_call *c, const char *text)
{
    return c->call.len == strlen(text) && memcmp(c->call.bytes, text, c->call.len) == 0;
}

static void a_redirect_changes_what_is_sent(void **state)
{
    struct redis_call *c = new_call(1);

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(sends(c, ping));
        assert_int_equal(c->nanswers, 1);
        redis_call_ask(c, true);
        redis_call_ask(c, true);
        assert_true(sends(c, "*1\r\n$6\r\nASKING\r\n*1\r\n$4\r\nPING\r\n"));
        assert_int_equal(c->nanswers, 2);
        assert_memory_equal(redis_call_command(c), ping, sizeof(ping) - 1);
        redis_call_ask(c, false);
    }
    free(c);
}

struct got {
    unsigned n;
    int types[8];
    char last[REDIS_WHY_MAX]; /* text of the last answer, or why there is none */
    enum remote_progress progress;
    bool is_kept; /* the connection has had answers before */
};

static void take(struct got *got, struct redis_intake *in)
{
    const char *text = in->reply->str ? in->reply->str : "";

    assert_true(got->n < NUMBER_OF(got->types));
    got->types[got->n++] = in->reply->type;
    (void)snprintf(got->last, sizeof(got->last), "%s", text);
    redis_intake_reset(in);
    assert_null(in->reply);
}

/* As the client does: what is left of a piece comes again alone, with the next call. */
static bool read_piece(struct got *got, struct redis_intake *in, const struct redis_call *c,
                       const char *bytes, size_t len)
{
    while (len > 0) {
        size_t used = 0;

        if (got->progress == REMOTE_DONE)
            redis_intake_begin(in, c, got->n == 0 && !got->is_kept);
        got->progress = redis_intake_read(in, bytes, len, &used);
        if (got->progress == REMOTE_BAD || got->progress == REMOTE_FULL) {
            (void)snprintf(got->last, sizeof(got->last), "%s", in->why);
            return false;
        }
        assert_true(used > 0 && used <= len);
        if (got->progress == REMOTE_DONE)
            take(got, in);
        else
            assert_int_equal(used, len);
        bytes += used;
        len -= used;
    }
    return true;
}

static struct got read_all(const struct redis_call *c, const char *bytes, size_t piece,
                           bool is_kept)
{
    const size_t len = strlen(bytes);
    struct redis_intake in = {.reader = NULL};
    struct got got = {.progress = REMOTE_DONE, .is_kept = is_kept};

    for (size_t at = 0; at < len; at += piece) {
        if (!read_piece(&got, &in, c, bytes + at, len - at < piece ? len - at : piece))
            break;
    }
    redis_intake_reset(&in);
    redis_intake_fini(&in);
    return got;
}

static void answers_that_come_together(void **state)
{
    static const char bytes[] = "+OK\r\n:12\r\n$3\r\nabc\r\n*2\r\n:1\r\n$-1\r\n-ERR no\r\n+end\r\n";
    static const int types[] = {MK_REDIS_STATUS, MK_REDIS_INTEGER, MK_REDIS_STRING,
                                MK_REDIS_ARRAY,  MK_REDIS_ERROR,   MK_REDIS_STATUS};
    struct redis_call *c = new_call(1);

    (void)state;
    for (size_t piece = 1; piece < sizeof(bytes); piece++) {
        const struct got got = read_all(c, bytes, piece, false);

        assert_int_equal(got.progress, REMOTE_DONE);
        assert_int_equal(got.n, NUMBER_OF(types));
        assert_memory_equal(got.types, types, sizeof(types));
        assert_string_equal(got.last, "end");
    }
    free(c);
}

static const struct {
    const char *bytes;
    unsigned nanswers;
    bool is_greeting;
    enum remote_progress progress;
    const char *last; /* text of the answer, or why */
} rows[] = {
    {"+OK\r\n+PONG\r\n", 2, false, REMOTE_DONE, "PONG"},
    {"-ERR unknown\r\n+PONG\r\n", 2, false, REMOTE_DONE, "PONG"},
    {"+OK\r\n", 2, false, REMOTE_MORE, NULL},
    {"+OK\r\n+OK\r\n", 2, true, REMOTE_DONE, "OK"},
    {"-WRONGPASS no\r\n+OK\r\n", 2, true, REMOTE_BAD, "WRONGPASS no"},
    {"+OK\r\n-ERR DB index\r\n", 2, true, REMOTE_BAD, "ERR DB index"},
    {"-ERR max number of clients reached\r\n", 1, false, REMOTE_FULL,
     "ERR max number of clients reached"},
    {"-ERR max number of clients reached\r\n", 2, true, REMOTE_FULL,
     "ERR max number of clients reached"},
    {"-ERR max number of clients of this shop\r\n", 1, false, REMOTE_DONE,
     "ERR max number of clients of this shop"},
    {"+OK\r\n-ERR max number of clients reached\r\n", 2, false, REMOTE_DONE,
     "ERR max number of clients reached"},
    {"garbage\r\n", 1, false, REMOTE_BAD, NULL},
};

static void answers_of_several_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct redis_call *c = new_call(rows[i].nanswers);

        c->is_greeting = rows[i].is_greeting;
        for (size_t piece = 1; piece <= strlen(rows[i].bytes); piece++) {
            const struct got got = read_all(c, rows[i].bytes, piece, false);

            assert_int_equal(got.progress, rows[i].progress);
            assert_int_equal(got.n, rows[i].progress == REMOTE_DONE);
            if (rows[i].last)
                assert_string_equal(got.last, rows[i].last);
        }
        free(c);
    }
}

static void only_the_first_answer_of_a_connection_refuses_it(void **state)
{
    struct redis_call *c = new_call(1);
    struct got got;

    (void)state;
    got = read_all(c, "-ERR max number of clients reached\r\n", 1, true);
    assert_int_equal(got.progress, REMOTE_DONE);
    assert_int_equal(got.types[0], MK_REDIS_ERROR);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redirect_changes_what_is_sent),
        cmocka_unit_test(answers_that_come_together),
        cmocka_unit_test(answers_of_several_commands),
        cmocka_unit_test(only_the_first_answer_of_a_connection_refuses_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
