/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "heard.h"

#include "base/limits.h"
#include "base/str.h"
#include "server/worker/worker.h"

/* How large the head of an answer and the memory of a request may be, at the bound and one byte above, over HTTP/1 and from memory. */

#define LENGTH "Content-Length: 5\r\n\r\n"

/* ---- the head ---- */

enum { TAIL = 128 }; /* the room that is kept for the framing at a head's end */

static size_t above;        /* bytes that a head has beyond its bound */
static size_t lines_end;    /* where its lines ended, from its start */
static bool in_small_lines; /* many lines, in place of one long one */
static char letters[MK_LIMIT_ANSWER_HEAD];

/* A line of len bytes with its end. */
static void add_line(struct mk_reply *p, size_t len)
{
    mk_reply_line(p, STR("X"), (struct mk_str){letters, len - 5});
}

/* As many lines as are allowed, and so many bytes above it. */
static enum mk_verdict fill_head(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    for (int i = 0; in_small_lines && i < 100; i++)
        add_line(&p, 50);
    add_line(&p, MK_LIMIT_ANSWER_HEAD - TAIL - (size_t)(p.at - p.start) + above);
    lines_end = (size_t)(p.at - p.start);
    assert_int_equal(mk_reply_end(&p, 5), above > 0 ? MK_E_LIMIT : 0);
    assert_int_equal(mk_reply_memory(r, STR("hello")), above > 0 ? MK_E_INVALID : 0);
    return MK_VERDICT_DONE;
}

static void talk_heads(void (*talk)(void))
{
    memset(letters, 'x', sizeof(letters));
    for (int i = 0; i < 4; i++) {
        above = i & 1;
        in_small_lines = i & 2;
        talk();
    }
}

static void head_of_h1(void)
{
    static const struct answer answer = {"", fill_head, GET, "", false};
    struct loopback lb;

    answer_begin(&lb, &answer);
    loopback_talk(&lb);
    if (above > 0) {
        assert_true(loopback_begins(&lb, FAILED));
        assert_false(loopback_has(&lb, "xxx"));
    } else {
        assert_int_equal(lines_end, MK_LIMIT_ANSWER_HEAD - TAIL);
        assert_int_equal(lb.out_len,
                         strlen("HTTP/1.1 200 OK\r\n") + lines_end + strlen(LENGTH "hello"));
        assert_true(loopback_begins(&lb, OK "X: xx*") && loopback_has(&lb, "x\r\n" LENGTH "hello"));
    }
    loopback_free(&lb);
}

static void heads_over_h1_are_bounded(void **state)
{
    (void)state;
    talk_heads(head_of_h1);
}

/* As many bytes as the room at first has, or one above it. */
static enum mk_verdict fill_room(struct mk_request *r)
{
    const char *first;
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    first = p.start;
    assert_in_range(p.end - p.start, MK_LIMIT_ANSWER_ROOM / 2, MK_LIMIT_ANSWER_ROOM);
    add_line(&p, (size_t)(p.end - p.at) + above);
    assert_int_equal(p.start != first, above > 0);
    assert_int_equal(r->worker->head_room != NULL, above > 0);
    add_line(&p, 6);
    assert_int_equal(mk_reply_end(&p, 5), 0);
    assert_null(r->worker->head_room);
    assert_int_equal(mk_reply_memory(r, STR("hello")), 0);
    return MK_VERDICT_DONE;
}

static void the_room_at_first_grows(void **state)
{
    static const struct answer answer = {"", fill_room, GET GET, "", false};
    struct loopback lb;

    (void)state;
    memset(letters, 'x', sizeof(letters));
    for (above = 0; above < 2; above++) {
        answer_begin(&lb, &answer);
        lb.out_piece = 1000;
        loopback_talk(&lb);
        assert_int_equal(loopback_status(&lb, 0), 200);
        assert_int_equal(loopback_status(&lb, 1), 200);
        assert_true(loopback_has(&lb, "xx\r\nX: x\r\n" LENGTH "hello"));
        loopback_free(&lb);
    }
}

static enum mk_verdict (*handle)(struct mk_request *r);

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return handle(r);
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "answers as a test says"),
    .on_handle = on_handle,
};

static void ask_from_memory(enum mk_verdict (*fn)(struct mk_request *r), struct heard *h)
{
    struct mk_question q = heard_question("/any");

    handle = fn;
    fixture_handle(&answer_site, &probe, NULL);
    heard_talk(&answer_site, &q, h);
}

static void head_of_memory(void)
{
    struct heard h;

    ask_from_memory(fill_head, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.status, above > 0 ? 500 : 200);
    if (above > 0) {
        assert_null(strstr(h.fields, "xxx"));
    } else {
        assert_int_equal(lines_end, MK_LIMIT_ANSWER_HEAD - TAIL);
        assert_int_equal(strlen(h.fields), lines_end + strlen("Content-Length: 5\r\n"));
        assert_string_equal(h.body, "hello");
    }
    heard_free(&h);
}

static void heads_from_memory_are_bounded(void **state)
{
    (void)state;
    talk_heads(head_of_memory);
}

/* ---- large heads of several requests ---- */

static struct mk_request *other; /* waits for its answer */

static void begin_large(struct mk_reply *p, struct mk_request *r)
{
    assert_int_equal(mk_reply_begin(p, r, 200), 0);
    add_line(p, MK_LIMIT_ANSWER_ROOM);
}

static void end_large(struct mk_reply *p, struct mk_str body)
{
    add_line(p, MK_LIMIT_ANSWER_ROOM);
    assert_int_equal(mk_reply_end(p, 5), 0);
    assert_int_equal(mk_reply_memory(p->r, body), 0);
}

/* The first waits; the second begins the head of both, and ends its own first. */
static enum mk_verdict answer_both(struct mk_request *r)
{
    struct mk_reply mine, his;

    if (!other) {
        other = r;
        return MK_VERDICT_LATER;
    }
    if (other == r)
        return MK_VERDICT_DONE;
    begin_large(&his, other);
    begin_large(&mine, r);
    end_large(&mine, STR("mine."));
    assert_non_null(r->worker->head_room);
    end_large(&his, STR("other"));
    assert_null(r->worker->head_room);
    return MK_VERDICT_DONE;
}

static void requests_keep_their_large_heads(void **state)
{
    struct mk_question q = heard_question("/any");
    struct heard first, second;

    (void)state;
    memset(letters, 'x', sizeof(letters));
    handle = answer_both;
    other = NULL;
    fixture_handle(&answer_site, &probe, NULL);
    assert_int_equal(heard_ask(&answer_site, &q, &first), 0);
    mk_loop_turn(&answer_site.worker->loop, 0, NULL, NULL);
    assert_int_equal(heard_ask(&answer_site, &q, &second), 0);
    heard_turns(&answer_site, &second);
    heard_turns(&answer_site, &first);
    assert_string_equal(second.body, "mine.");
    assert_string_equal(first.body, "other");
    heard_free(&first);
    heard_free(&second);
}

static enum mk_verdict answer_large(struct mk_request *r)
{
    struct mk_reply p;

    begin_large(&p, r);
    assert_non_null(r->worker->head_room);
    assert_int_equal(mk_reply_end(&p, 5), MK_E_BAD);
    assert_null(r->worker->head_room);
    return MK_VERDICT_DONE;
}

static int fail_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    (void)r, (void)ctx, (void)head;
    return MK_E_BAD;
}

static void a_head_that_a_filter_breaks_leaves_no_room(void **state)
{
    static const struct mk_plugin breaks = {MK_PLUGIN("breaks", "fails"), .on_head = fail_head};
    static struct mk_hooked hooked = {.plugin = &breaks};
    struct mk_hooks *hooks = &answer_site.plan.snapshot.sites[0].on_head, before = *hooks;
    struct heard h;

    (void)state;
    *hooks = (struct mk_hooks){&hooked, 1};
    ask_from_memory(answer_large, &h);
    *hooks = before;
    assert_int_equal(h.error, MK_E_BAD);
    heard_free(&h);
}

/* An interim head that nobody ends is not an answer; its room goes with its request. */
static enum mk_verdict leave_interim(struct mk_request *r)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 103), 0);
    add_line(&p, MK_LIMIT_ANSWER_ROOM);
    assert_non_null(r->worker->head_room);
    return MK_VERDICT_PASS;
}

static void a_head_without_an_end_leaves_no_room(void **state)
{
    struct heard h;

    (void)state;
    ask_from_memory(leave_interim, &h);
    assert_null(answer_site.worker->head_room);
    heard_free(&h);
}

/* ---- the memory of a request ---- */

static size_t left; /* of its memory, when it answers */

/* Take all memory but left bytes, in pieces of different sizes; then answer. */
static enum mk_verdict take_memory(struct mk_request *r)
{
    size_t all = MK_LIMIT_REQUEST_ARENA - r->arena.used - left;

    assert_int_equal(r->arena.max, MK_LIMIT_REQUEST_ARENA);
    for (size_t len = 16; all > 0; len = len < 20000 ? len * 2 : 16) {
        size_t take = len < all ? len : all;
        char *at = mk_request_alloc(r, take);

        assert_non_null(at);
        memset(at, 'm', take);
        all -= take;
    }
    assert_null(mk_request_alloc(r, left + 1));
    (void)answer_head(r, 200, 5);
    assert_int_equal(mk_reply_memory(r, STR("hello")),
                     left < sizeof(struct mk_source) ? MK_E_NOMEM : 0);
    return MK_VERDICT_DONE;
}

enum { PIECE = (sizeof(struct mk_source) + 15) / 16 * 16 }; /* what an arena gives for one */

static const struct {
    size_t left;
    bool answers;
} rows[] = {{PIECE, true}, {PIECE - 16, false}, {0, false}};

static void memory_of_a_request_over_h1_is_bounded(void **state)
{
    static const struct answer answer = {"", take_memory, GET GET, "", false};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback lb;

        left = rows[i].left;
        answer_begin(&lb, &answer);
        loopback_open(&lb);
        loopback_run(&lb);
        /* The next request of the connection has all memory again; an answer that broke is its last. */
        assert_int_equal(loopback_status(&lb, 1), rows[i].answers ? 200 : 0);
        assert_int_equal(loopback_is_closed(&lb), !rows[i].answers);
        assert_int_equal(loopback_has(&lb, "hello"), rows[i].answers);
        loopback_close(&lb);
        loopback_free(&lb);
    }
}

static void memory_of_a_request_from_memory_is_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct heard h;

        left = rows[i].left;
        ask_from_memory(take_memory, &h);
        assert_int_equal(h.error, rows[i].answers ? 0 : MK_E_BAD);
        assert_string_equal(h.body, rows[i].answers ? "hello" : "");
        heard_free(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_over_h1_are_bounded),
        cmocka_unit_test(the_room_at_first_grows),
        cmocka_unit_test(heads_from_memory_are_bounded),
        cmocka_unit_test(requests_keep_their_large_heads),
        cmocka_unit_test(a_head_that_a_filter_breaks_leaves_no_room),
        cmocka_unit_test(a_head_without_an_end_leaves_no_room),
        cmocka_unit_test(memory_of_a_request_over_h1_is_bounded),
        cmocka_unit_test(memory_of_a_request_from_memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
