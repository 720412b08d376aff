/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "base/limits.h"
#include "base/str.h"

/* Lines of a head and behind a body that handlers give, and heads of two answers at once. */

/* ---- lines ---- */

static struct mk_str line_name, line_value;

static enum mk_verdict one_line(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, line_name, line_value);
    mk_reply_line(&p, STR("X-More"), STR("1"));
    if (mk_reply_end(&p, 0) < 0)
        assert_int_equal(mk_reply_memory(r, STR("a")), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static enum mk_verdict one_trailer(struct mk_request *r)
{
    (void)answer_head(r, 200, -1);
    (void)!mk_reply_trailer(r, line_name, line_value);
    return MK_VERDICT_DONE;
}

static char long_value[MK_LIMIT_ANSWER_HEAD];

static const struct line {
    struct mk_str name, value;
    bool in_head, in_trailer;
} lines[] = {
    {MK_STR_INIT("X-A"), MK_STR_INIT("b"), true, true},
    {MK_STR_INIT("X-A"), MK_STR_INIT(""), true, true},
    {MK_STR_INIT("X-A"), {NULL, 0}, true, true},
    {MK_STR_INIT("X-A"), MK_STR_INIT("\xff\t \x80"), true, true},
    {MK_STR_INIT(""), MK_STR_INIT("b"), false, false},
    {{NULL, 0}, MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X A"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X-A:"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X\r\nA"), MK_STR_INIT("b"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\r\nX: c"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\n"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("b\r"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("a\0b"), false, false},
    {MK_STR_INIT("X-A"), MK_STR_INIT("\x7f"), false, false},
    {MK_STR_INIT("content-length"), MK_STR_INIT("0"), false, false},
    {MK_STR_INIT("Transfer-Encoding"), MK_STR_INIT("chunked"), false, false},
    {MK_STR_INIT("Connection"), MK_STR_INIT("close"), false, false},
    {MK_STR_INIT("Keep-Alive"), MK_STR_INIT("timeout=1"), false, false},
    {MK_STR_INIT("Upgrade"), MK_STR_INIT("h2c"), false, false},
    {MK_STR_INIT("Content-Type"), MK_STR_INIT("a/b"), true, false},
    {MK_STR_INIT("Set-Cookie"), MK_STR_INIT("a=b"), true, false},
    {MK_STR_INIT("X-Long"), {long_value, sizeof(long_value)}, false, false},
};

static unsigned status_of_line(const struct line *line,
                               enum mk_verdict (*handle)(struct mk_request *r), bool *whole)
{
    const struct answer answer = {"", handle, GET, "", false};
    struct loopback lb;
    unsigned status;

    line_name = line->name;
    line_value = line->value;
    answer_begin(&lb, &answer);
    loopback_talk(&lb);
    status = loopback_status(&lb, 0);
    *whole = loopback_has(&lb, "\r\n0\r\n") && loopback_has(&lb, "\r\n\r\n");
    assert_int_equal(loopback_status(&lb, 1), 0);
    loopback_free(&lb);
    return status;
}

static void lines_that_would_change_how_a_message_is_read_are_refused(void **state)
{
    (void)state;
    memset(long_value, 'x', sizeof(long_value));
    for (size_t i = 0; i < MK_ARRAY_LEN(lines); i++) {
        bool whole;
        unsigned status = status_of_line(&lines[i], one_line, &whole);

        if (status != (lines[i].in_head ? 200 : 500))
            fail_msg("line %zu: %u", i, status);
        status = status_of_line(&lines[i], one_trailer, &whole);
        if (status != 200 || whole != lines[i].in_trailer)
            fail_msg("trailer %zu: %u, whole %d", i, status, whole);
    }
}

static enum mk_verdict many_trailers(struct mk_request *r)
{
    int err = 0, count = 0;

    (void)answer_head(r, 200, -1);
    while (err == 0 && count++ < 10000)
        err = mk_reply_trailer(r, STR("X-Trailer"), STR("0123456789"));
    assert_int_equal(err, MK_E_LIMIT);
    assert_in_range(count, 300, 400);
    return MK_VERDICT_DONE;
}

static void trailers_are_bounded(void **state)
{
    static const struct answer answer = {"", many_trailers, GET, "", false};
    struct loopback lb;

    (void)state;
    answer_begin(&lb, &answer);
    loopback_talk(&lb);
    assert_false(loopback_has(&lb, "X-Trailer"));
    loopback_free(&lb);
}

/* ---- one request answered while another is ---- */

static struct mk_request *other_request;

static enum mk_verdict wait_for_the_other(struct mk_request *r)
{
    other_request = r;
    return MK_VERDICT_LATER;
}

static ssize_t answer_the_other(struct mk_request *r, void *arg, char *dst, size_t len)
{
    bool *answered = arg;

    (void)r;
    if (*answered)
        return 0;
    memset(dst, 'm', len);
    (void)mk_reply_bytes(other_request, 200, NULL, STR("yours"));
    *answered = true;
    return 4;
}

static enum mk_verdict answer_both(struct mk_request *r)
{
    static bool answered;
    struct mk_reply p;

    answered = false;
    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    mk_reply_line(&p, STR("X-A"), STR("b"));
    assert_int_equal(mk_reply_end(&p, -1), 0);
    assert_int_equal(mk_reply_producer(r, answer_the_other, &answered), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict answer_inside_a_head(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    (void)mk_reply_bytes(other_request, 200, NULL, STR("yours"));
    mk_reply_line(&p, STR("X-Mine"),
                  STR("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    assert_int_equal(mk_reply_end(&p, 0), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

static void answers_to_two_connections_do_not_mix(void **state)
{
    static const struct answer waiting = {"", wait_for_the_other, GET, "", false};
    static const struct {
        struct answer answer;
        const char *mine;
    } rows[] = {
        {{"", answer_both, GET, "", false}, OK "X-A: b\r\n" CHUNKED "\r\n4\r\nmmmm\r\n0\r\n\r\n"},
        {{"", answer_inside_a_head, GET, "", false}, FAILED},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback other, lb;

        answer_begin(&other, &waiting);
        loopback_open(&other);
        loopback_run(&other);
        assert_int_equal(other.out_len, 0);
        answer_begin(&lb, &rows[i].answer);
        loopback_open(&lb);
        loopback_run(&lb);
        loopback_run(&other);
        if (!loopback_matches(&lb, rows[i].mine))
            fail_msg("mine: %.*s", (int)lb.out_len, lb.out);
        if (!loopback_matches(&other, OK "Content-Length: 5\r\n\r\nyours"))
            fail_msg("the other's: %.*s", (int)other.out_len, other.out);
        loopback_close(&lb);
        loopback_close(&other);
        loopback_free(&lb);
        loopback_free(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_would_change_how_a_message_is_read_are_refused),
        cmocka_unit_test(trailers_are_bounded),
        cmocka_unit_test(answers_to_two_connections_do_not_mix),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
