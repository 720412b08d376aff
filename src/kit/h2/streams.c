/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* The streams of a session: found by their ids, with their states and windows. */

#define ROW(symbol, name, next, sentence) [H2_STREAM_##symbol] = {(name), (next)},
static const struct states_row rows[] = {H2_STREAM_STATES(ROW)};
#undef ROW

const struct states h2_stream_states = {"stream", sizeof(rows) / sizeof(rows[0]), rows};

static struct h2_stream **chain_of(struct h2_session *s, uint32_t id)
{
    return &s->chains[id / 2 % H2_CHAINS];
}

struct h2_stream *h2_stream_find(const struct h2_session *s, uint32_t id)
{
    struct h2_stream *st = s->chains[id / 2 % H2_CHAINS];

    while (st && st->id != id)
        st = st->chained;
    return st;
}

static void unchain(struct h2_stream *st)
{
    struct h2_stream **at = chain_of(st->session, st->id);

    while (*at != st)
        at = &(*at)->chained;
    *at = st->chained;
}

void h2_stream_open(struct h2_session *s, struct h2_stream *st, uint32_t id)
{
    struct h2_stream **chain = chain_of(s, id);
    /* a smaller one than the default holds when the peer has acknowledged it (RFC 9113 section 6.5.3) */
    int32_t window = s->is_settled || s->stream_window > H2_WINDOW ? s->stream_window : H2_WINDOW;

    st->session = s;
    st->id = st->turn.id = id;
    st->turn.priority.urgency = H2_URGENCY;
    st->window = s->peer_window;
    st->to_come = -1;
    h2_flow_init(&st->flow, s->stream_window);
    st->flow.left = window;
    h2_message_init(&st->message, s->is_client);
    st->chained = *chain;
    *chain = st;
    s->nstreams++;
}

void h2_stream_turn_to(struct h2_stream *st, enum h2_stream_state state)
{
    states_turn(&h2_stream_states, &st->state, state, st->session->log, st);
}

void h2_stream_close(struct h2_stream *st, uint32_t error, bool is_ours)
{
    struct h2_session *s = st->session;

    h2_past_add(&s->past, st->id, is_ours && !h2_stream_has_end(st));
    h2_turns_remove(&s->turns, &st->turn);
    unchain(st);
    s->nstreams--;
    h2_session_narrow(s, st->flow.window - s->stream_window);
    if (s->current == st)
        s->current = NULL;
    st->error = error;
    h2_stream_turn_to(st, H2_STREAM_CLOSED);
    st->chained = s->over;
    s->over = st;
}

void h2_stream_reset(struct h2_stream *st, enum h2_error error)
{
    if (h2_stream_is_closed(st))
        return;
    st->session->resets++;
    h2_send_number(st->session, H2_RST_STREAM, st->id, error);
    h2_stream_close(st, error, true);
}

void h2_stream_refuse(struct h2_stream *st, enum h2_error error)
{
    if (h2_stream_is_closed(st))
        return;
    h2_stream_reset(st, error);
    (void)h2_session_pay(st->session, H2_PRICE_FAULT);
}

void h2_stream_end_input(struct h2_stream *st)
{
    if (st->state == H2_STREAM_HALF_LOCAL)
        h2_stream_close(st, H2_E_NO_ERROR, false);
    else
        h2_stream_turn_to(st, H2_STREAM_HALF_REMOTE);
}

/* ---- what its peer may send ---- */

/* One upload is to fill the line, while its reader keeps up. */
static bool may_double(const struct h2_stream *st)
{
    struct h2_session *s = st->session;
    const struct h2_flow *f = &st->flow;

    if (f->window > s->window_max - s->widened || !h2_flow_is_read(f))
        return false;
    if (f->window >= H2_MEASURED)
        h2_session_measure(s);
    return f->window <= H2_FREE - s->widened || h2_session_is_short(s, f);
}

/* The streams of a connection share what they grow by, and so do connections. */
static uint32_t widen(struct h2_stream *st)
{
    struct h2_session *s = st->session;
    const int32_t by = may_double(st) ? st->flow.window : 0;

    if (by > 0 && s->growth && !s->growth->take(s->growth->owner, by))
        return h2_flow_widen(&st->flow, 0);
    s->widened += by;
    return h2_flow_widen(&st->flow, by);
}

void h2_stream_use(struct h2_stream *st, size_t len)
{
    uint32_t more;

    if (h2_stream_has_end(st))
        return;
    more = h2_flow_use(&st->flow, len, st->session->now_ms);
    if (h2_flow_is_used(&st->flow))
        more += widen(st);
    if (more > 0)
        h2_send_number(st->session, H2_WINDOW_UPDATE, st->id, more);
}

/* ---- what it sends ---- */

void h2_stream_line_up(struct h2_stream *st)
{
    if (st->sending == H2_SENDING_READY && st->window > 0)
        h2_turns_add(&st->session->turns, &st->turn);
    else
        h2_turns_remove(&st->session->turns, &st->turn);
}

void h2_stream_set_priority(struct h2_stream *st, struct h2_priority priority)
{
    h2_turns_remove(&st->session->turns, &st->turn);
    st->turn.priority = priority;
    h2_stream_line_up(st);
}

bool h2_stream_open_window(struct h2_stream *st, int64_t by)
{
    int64_t window = st->window + by;

    if (window > H2_WINDOW_MAX)
        return false;
    st->window = (int32_t)window;
    h2_stream_line_up(st);
    return true;
}

void h2_stream_resume(struct h2_stream *st)
{
    if (st->sending != H2_SENDING_STARVED || h2_stream_is_closed(st))
        return;
    st->sending = H2_SENDING_READY;
    h2_stream_line_up(st);
}
