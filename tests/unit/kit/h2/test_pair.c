/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/session.h"

#include "failing.h"

#include <stdio.h>

/* A client and a server talk to each other over memory: what one says the other one hears, in pieces of any size. */

enum { CALLS = 50, STREAMS = 2 * CALLS, BODY_MAX = 300000, SEEDS = 3 };

/* What one side of a call says: a body whose bytes follow from its key, and trailers that hold its sum. */
struct message {
    uint32_t key;
    size_t len, at;
    uint32_t sum;
    bool has_trailers, has_trailer, has_ended;
};

struct call {
    struct h2_stream base;
    struct message out, in;
    bool is_open, is_over;
};

struct side {
    struct h2_session session;
    struct h2_out out;
    char bytes[2 * (H2_FRAME_HEAD + H2_FRAME_MAX) + 100], room[HPACK_FIELD_MAX];
    size_t sum;
    struct call calls[STREAMS]; /* the server's: by the numbers of their streams */
};

static struct {
    struct side client, server;
    uint32_t random;
    unsigned nover, nrefused;
} w;

static uint32_t draw(uint32_t below)
{
    w.random = w.random * 1664525 + 1013904223;
    return (w.random >> 8) % below;
}

/* ---- bodies ---- */

static uint8_t byte_at(const struct message *m, size_t at)
{
    return (uint8_t)(m->key + at * 31 + (at >> 8));
}

/* Some are empty, some small, and some larger than windows. */
static void draw_message(struct message *m)
{
    static const uint32_t most[] = {1, 100, 20000, BODY_MAX};

    *m = (struct message){.key = 1 + draw(1 << 20), .len = draw(most[draw(4)])};
    m->has_trailers = m->len > 0 && draw(2) == 0;
}

static struct call *call_of(struct h2_stream *st)
{
    return (struct call *)(void *)st;
}

static ssize_t give(struct h2_stream *st, char *dst, size_t len, enum h2_last *last)
{
    struct message *m = &call_of(st)->out;
    size_t n = m->len - m->at < len ? m->len - m->at : len;

    if (draw(8) == 0)
        return MK_E_AGAIN;
    for (size_t i = 0; i < n; i++, m->at++) {
        dst[i] = (char)byte_at(m, m->at);
        m->sum += (uint8_t)dst[i];
    }
    if (m->at == m->len)
        *last = m->has_trailers ? H2_LAST_TRAILERS : H2_LAST_END;
    return (ssize_t)n;
}

static struct mk_str number_text(char text[16], uint32_t number)
{
    return (struct mk_str){text, (size_t)snprintf(text, 16, "%u", number)};
}

static bool trailers(struct h2_stream *st)
{
    struct h2_head h;
    char text[16];

    assert_true(h2_head_begin(&h, st, 100));
    h2_head_add(&h, MK_STR("sum"), number_text(text, call_of(st)->out.sum));
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    return true;
}

static int data(struct h2_stream *st, const uint8_t *bytes, size_t len)
{
    struct message *m = &call_of(st)->in;

    for (size_t i = 0; i < len; i++, m->at++) {
        assert_int_equal(bytes[i], byte_at(m, m->at));
        m->sum += bytes[i];
    }
    h2_stream_use(st, len);
    return 0;
}

static uint32_t read_number(struct mk_str v)
{
    uint32_t number = 0;

    for (size_t i = 0; i < v.len; i++)
        number = number * 10 + (uint32_t)(v.p[i] - '0');
    return number;
}

/* `key` is in each final head. */
static int field(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f)
{
    struct message *m = &call_of(st)->in;

    if (kind != H2_FIELD_OTHER)
        return 0;
    if (st->message.is_trailer) {
        m->has_trailer = true;
        assert_int_equal(read_number(f->value), m->sum);
    } else if (f->name.len == 3 && memcmp(f->name.p, "key", 3) == 0) {
        m->key = read_number(f->value);
    }
    return 0;
}

/* ---- heads ---- */

/* A final head, which names the length of some bodies. */
static void put_head(struct h2_head *h, const struct message *m)
{
    char text[16];

    h2_head_add(h, MK_STR("key"), number_text(text, m->key));
    if (m->key % 2 == 0)
        h2_head_add(h, MK_STR("content-length"), number_text(text, (uint32_t)m->len));
    h2_head_end(h, m->len > 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
}

static void ask(struct call *c)
{
    struct h2_head h;

    draw_message(&c->out);
    assert_true(h2_head_begin(&h, &c->base, 300));
    h2_head_add(&h, MK_STR(":method"), MK_STR("POST"));
    h2_head_add(&h, MK_STR(":scheme"), MK_STR("http"));
    h2_head_add(&h, MK_STR(":authority"), MK_STR("a"));
    h2_head_add(&h, MK_STR(":path"), MK_STR("/call"));
    put_head(&h, &c->out);
}

static void answer(struct call *c)
{
    struct h2_head h;

    draw_message(&c->out);
    for (uint32_t n = draw(3); n > 0; n--) {
        assert_true(h2_head_begin(&h, &c->base, 100));
        h2_head_status(&h, 103);
        h2_head_end(&h, H2_FOLLOWS_HEAD);
    }
    assert_true(h2_head_begin(&h, &c->base, 300));
    h2_head_status(&h, 200);
    put_head(&h, &c->out);
}

/* ---- the server ---- */

static struct h2_stream *begin(struct h2_session *s, uint32_t id)
{
    (void)s;
    assert_int_equal(id % 2, 1);
    assert_in_range(id / 2, 0, STREAMS - 1);
    return &w.server.calls[id / 2].base;
}

/* Some are answered at once, and the others when they are whole. */
static int head_of_request(struct h2_stream *st)
{
    call_of(st)->in.has_ended = h2_stream_has_end(st);
    if (h2_stream_has_end(st) || draw(2) == 0)
        answer(call_of(st));
    return 0;
}

static void end_of_request(struct h2_stream *st)
{
    call_of(st)->in.has_ended = true;
    if (call_of(st)->out.key == 0)
        answer(call_of(st));
}

static void answered(struct h2_stream *st)
{
    assert_int_equal(st->state, H2_STREAM_HALF_LOCAL);
}

static void over_at_server(struct h2_stream *st)
{
    call_of(st)->is_over = true;
    assert_int_equal(st->error, H2_E_NO_ERROR);
}

static const struct h2_events of_server = {.begin = begin,
                                           .field = field,
                                           .head = head_of_request,
                                           .data = data,
                                           .end = end_of_request,
                                           .give = give,
                                           .trailers = trailers,
                                           .answered = answered,
                                           .over = over_at_server};

/* ---- the client ---- */

static int head_of_response(struct h2_stream *st)
{
    struct call *c = call_of(st);

    assert_true(st->status == 103 || st->status == 200);
    c->in.has_ended = h2_stream_has_end(st);
    return 0;
}

static void end_of_response(struct h2_stream *st)
{
    call_of(st)->in.has_ended = true;
}

static void over_at_client(struct h2_stream *st)
{
    if (st->error ==
        H2_E_REFUSED_STREAM) { /* it was begun before the server's bound was known, and is begun again */
        memset(call_of(st), 0, sizeof(struct call));
        w.nrefused++;
        return;
    }
    over_at_server(st);
    w.nover++;
}

static const struct h2_events of_client = {.field = field,
                                           .head = head_of_response,
                                           .data = data,
                                           .end = end_of_response,
                                           .give = give,
                                           .trailers = trailers,
                                           .answered = answered,
                                           .over = over_at_client};

/* ---- the talk ---- */

static void open_side(struct side *side, const struct h2_events *events, bool is_client)
{
    const struct h2_limits limits = {.is_client = is_client,
                                     .max_streams = is_client ? 20 : 7,
                                     .max_head = 1000,
                                     .stream_window = is_client ? 20000 : 100000,
                                     .window_max = 1 << 18};

    side->out = (struct h2_out){.p = side->bytes, .cap = sizeof(side->bytes)};
    h2_session_init(&side->session, events, &limits, &side->out, &side->sum, 0);
    side->session.room = side->room;
}

static void resume(struct side *side)
{
    for (size_t i = 0; i < STREAMS; i++) {
        if (side->calls[i].base.session)
            h2_stream_resume(&side->calls[i].base);
    }
}

/* What one side has to say is heard, in pieces; each byte is at a place of its own. */
static void talk(struct side *from, struct side *to, size_t piece)
{
    resume(from);
    (void)h2_session_write(&from->session);
    for (size_t at = 0, n; at < from->out.used; at += n) {
        n = piece < from->out.used - at ? piece : from->out.used - at;
        h2_session_receive(&to->session, (const uint8_t *)from->out.p + at, n);
    }
    from->out.used = 0;
    h2_session_sweep(&from->session);
    h2_session_sweep(&to->session);
    assert_false(to->session.is_over);
    assert_false(to->session.is_lost);
}

/* Calls begin as there is room, now and then. */
static void begin_calls(void)
{
    for (size_t i = 0; i < CALLS && h2_session_room(&w.client.session) > 0; i++) {
        struct call *c = &w.client.calls[i];

        if (c->is_open || draw(4) == 0)
            continue;
        assert_true(h2_session_open(&w.client.session, &c->base));
        c->is_open = true;
        ask(c);
    }
}

static struct call *at_server(const struct call *c)
{
    return &w.server.calls[c->base.id / 2];
}

static void compare(const struct message *said, const struct message *heard)
{
    assert_true(heard->has_ended);
    assert_int_equal(said->key, heard->key);
    assert_int_equal(said->len, heard->at);
    assert_int_equal(said->has_trailers, heard->has_trailer);
    assert_int_equal(said->sum, heard->sum);
}

static void run(uint32_t seed, size_t piece)
{
    memset(&w, 0, sizeof(w));
    w.random = seed;
    open_side(&w.client, &of_client, true);
    open_side(&w.server, &of_server, false);
    for (int i = 0; i < 100000 && w.nover < CALLS; i++) {
        begin_calls();
        talk(&w.client, &w.server, piece);
        talk(&w.server, &w.client, piece);
    }
    for (size_t i = 0; i < CALLS; i++) {
        const struct call *c = &w.client.calls[i];

        assert_true(c->is_over && at_server(c)->is_over);
        compare(&c->out, &at_server(c)->in);
        compare(&at_server(c)->out, &c->in);
    }
    assert_in_range(w.nrefused, 1, 20);
    assert_int_equal(w.client.session.nstreams + w.server.session.nstreams, 0);
    h2_session_fini(&w.client.session);
    h2_session_fini(&w.server.session);
    assert_int_equal(w.client.sum + w.server.sum, 0);
}

static void test_calls_reach_their_end(void **state)
{
    static const size_t pieces[] = {1, 7, SIZE_MAX};

    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
            run(seed, pieces[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_reach_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
