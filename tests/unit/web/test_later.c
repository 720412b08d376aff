/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include <monkey/events.h>

/* Requests that wait for answers of others: src/web/later.c. Alarms of the worker are the others. */

struct other {
    struct mk_later later;
    struct mk_alarm *alarm;
    const char
        *text; /* of the answer; NULL: its callback leaves it to others. "": it gives no answer */
};

static int ncalled, nleft;

static enum mk_verdict show(struct mk_request *r, void *arg)
{
    const struct other *o = arg;

    ncalled++;
    if (!o->text)
        return MK_VERDICT_LATER;
    return o->text[0] ? mk_reply_bytes(r, 200, "text/plain", mk_str_from(o->text))
                      : MK_VERDICT_PASS;
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct other *o = arg;

    if (!mk_later_answer(&o->later, show, o))
        nleft++;
    mk_alarm_free(alarm);
    free(o);
}

/* @return 0 or an error. */
static int ask(struct mk_request *r, const char *text)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct other *o = calloc(1, sizeof(*o));
    const int err = mk_later_begin(&o->later, r);

    if (err < 0) {
        free(o);
        return err;
    }
    mk_request_facts(r, &facts);
    o->text = text;
    o->alarm = mk_alarm_new(facts.worker, on_alarm, o);
    assert_non_null(o->alarm);
    mk_alarm_soon(o->alarm);
    return 0;
}

static enum mk_verdict once(struct mk_request *r, void *text)
{
    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    assert_int_equal(ask(r, text), 0);
    assert_true(mk_later_waits(r));
    return MK_VERDICT_LATER;
}

static enum mk_verdict twice(struct mk_request *r, void *text)
{
    assert_int_equal(ask(r, text), 0);
    assert_int_equal(ask(r, "second"), 0);
    return MK_VERDICT_LATER;
}

/* It answers although another would. */
static enum mk_verdict at_once(struct mk_request *r, void *text)
{
    assert_int_equal(ask(r, "too late"), 0);
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

static enum mk_verdict dropped(struct mk_request *r, void *text)
{
    struct mk_later later;

    assert_int_equal(mk_later_begin(&later, r), 0);
    mk_later_drop(&later);
    assert_false(mk_later_waits(r));
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

/* What was used is not used again, by itself or by a copy. */
static enum mk_verdict used_twice(struct mk_request *r, void *text)
{
    struct mk_later one, other, copy;

    assert_int_equal(mk_later_begin(&one, r), 0);
    assert_int_equal(mk_later_begin(&other, r), 0);
    assert_false(mk_later_answer(&one, NULL, NULL));
    mk_later_drop(&one);
    mk_later_drop(&one);
    assert_false(mk_later_answer(&one, show, NULL));
    assert_true(mk_later_waits(r));
    copy = other;
    mk_later_drop(&other);
    assert_false(mk_later_waits(r));
    mk_later_drop(&copy);
    assert_false(mk_later_waits(r));
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

/* Without a callback the wait goes on. */
static enum mk_verdict without_callback(struct mk_request *r, void *text)
{
    struct mk_later later;

    assert_int_equal(mk_later_begin(&later, r), 0);
    assert_false(mk_later_answer(&later, NULL, NULL));
    assert_true(mk_later_waits(r));
    mk_later_drop(&later);
    assert_false(mk_later_waits(r));
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

static enum mk_verdict failed(struct mk_request *r, void *error)
{
    return mk_reply_failure(r, *(const int *)error);
}

static void expect(mk_handle_fn fn, const char *text, unsigned status, const char *body, int called,
                   int left)
{
    struct mk_server *server = web_serve_one("GET", "/", fn, (void *)(uintptr_t)text);

    ncalled = nleft = 0;
    web_expect(server, "/", status, body);
    mk_server_free(server); /* alarms of its last turn have run */
    assert_int_equal(ncalled, called);
    assert_in_range(nleft, 0, left);
}

static void an_answer_comes_later(void **state)
{
    (void)state;
    expect(once, "later", 200, "later", 1, 0);
}

static void a_callback_without_an_answer_is_an_error(void **state)
{
    (void)state;
    expect(once, "", 500, NULL, 1, 0);
}

static void the_first_of_two_answers(void **state)
{
    (void)state;
    expect(twice, "first", 200, "first", 1, 1);
    expect(twice, NULL, 200, "second", 2, 0);
}

static void a_handler_may_answer_all_the_same(void **state)
{
    (void)state;
    expect(at_once, "now", 200, "now", 0, 1);
    expect(dropped, "none", 200, "none", 0, 0);
}

static void a_wait_ends_once(void **state)
{
    (void)state;
    expect(used_twice, "once", 200, "once", 0, 0);
    expect(without_callback, "none", 200, "none", 0, 0);
}

static void errors_have_their_status(void **state)
{
    static const struct {
        int error;
        unsigned status;
    } rows[] = {{MK_E_BUSY, 503}, {MK_E_PEER, 503}, {MK_E_TIMEOUT, 504},
                {MK_E_BAD, 502},  {MK_E_EOF, 502},  {MK_E_INVALID, 500}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_server *server =
            web_serve_one("GET", "/", failed, (void *)(uintptr_t)&rows[i].error);
        struct mk_answer *answer = web_ask(server, "GET", "/", NULL, NULL);

        assert_int_equal(web_has_line(answer, "Retry-After: 1"), rows[i].status == 503);
        web_is(answer, rows[i].status, NULL);
        mk_server_free(server);
    }
}

static void nothing_does_no_harm(void **state)
{
    struct mk_later later = {0};

    (void)state;
    assert_int_equal(mk_later_begin(&later, NULL), MK_E_INVALID);
    assert_int_equal(mk_later_begin(NULL, NULL), MK_E_INVALID);
    assert_false(mk_later_answer(NULL, show, NULL));
    assert_false(mk_later_answer(&later, show, NULL));
    mk_later_drop(NULL);
    mk_later_drop(&later);
    assert_false(mk_later_waits(NULL));
    assert_int_equal(mk_reply_failure(NULL, MK_E_BUSY), MK_VERDICT_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_later),
        cmocka_unit_test(a_callback_without_an_answer_is_an_error),
        cmocka_unit_test(the_first_of_two_answers),
        cmocka_unit_test(a_handler_may_answer_all_the_same),
        cmocka_unit_test(a_wait_ends_once),
        cmocka_unit_test(errors_have_their_status),
        cmocka_unit_test(nothing_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
