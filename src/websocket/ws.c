/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include "websocket/handshake.h"

#include <stdlib.h>

/* A connection's life, from the handshake to the one event of its end. */

enum {
    READ_SIZE = 16384,
    READS_A_TURN = 16,         /* a fast peer delays others no longer... */
    UNPACKED_A_TURN = 1 << 20, /* ...nor does one whose bytes become many */
};

/* ---- states ---- */

#define WS_TO(name) (1U << WS_##name)
static const struct states_row rows[] = {
#define WS_STATE_ROW(name, text, follow, sentence) {text, follow},
    WS_STATES(WS_STATE_ROW)
#undef WS_STATE_ROW
};
#undef WS_TO

static const struct states states = {"websocket", sizeof(rows) / sizeof(rows[0]), rows};

void ws_go(struct mk_ws *ws, enum ws_state to)
{
    uint8_t state = ws->state;

    states_turn(&states, &state, to, NULL, ws);
    ws->state = state & 7;
}

void ws_break(struct mk_ws *ws, unsigned code)
{
    if (ws->state == WS_OVER)
        return;
    if (ws->code == 0)
        ws->code = (uint16_t)code;
    ws_go(ws, WS_OVER);
    mk_stream_run_soon(ws->stream);
}

/* ---- the end ---- */

/* In an event of the stream alone, so that no caller holds what is freed. */
static void end(struct mk_ws *ws)
{
    struct mk_str reason = {"", 0};

    if (ws->state != WS_OVER)
        ws_go(ws, WS_OVER);
    if (ws->gathered && ws->has_closed && ws->gathered->ncontrol > 2)
        reason = (struct mk_str){ws->gathered->control + 2, ws->gathered->ncontrol - 2U};
    if (ws->spec->on_close)
        ws->spec->on_close(ws, ws->code ? ws->code : MK_WS_ABNORMAL, reason);
    ws_handle_end(ws); /* after the application's last chance to ask for one */
    ws_groups_end(ws);
    mk_stream_close(ws->stream);
    ws_gathered_free(ws);
    ws_queue_free(ws);
    ws_pack_free(ws->pack);
    free(ws);
}

/* ---- time ---- */

static void set_ping_timer(struct mk_ws *ws, unsigned ms)
{
    if (ws->spec->ping_ms != MK_WS_NEVER)
        mk_stream_timeout(ws->stream, ms);
}

/* One timer, set anew when it expires and not by each message. */
static void on_time(struct mk_ws *ws)
{
    const unsigned ping_ms = ws_max(ws->spec->ping_ms, MK_WS_DEFAULT_PING_MS);
    const uint32_t silent = (uint32_t)mk_worker_now_ms(ws->worker) - ws->heard_ms;

    if (ws->state != WS_OPEN || ws->is_pinged) {
        ws_break(ws, MK_WS_ABNORMAL);
    } else if (silent < ping_ms) {
        set_ping_timer(ws, ping_ms - silent);
    } else {
        ws->is_pinged = true;
        (void)ws_queue_control(ws, WS_PING, MK_STR(""));
        set_ping_timer(ws, ws_max(ws->spec->pong_ms, MK_WS_DEFAULT_PONG_MS));
    }
}

static void hear(struct mk_ws *ws)
{
    ws->heard_ms = (uint32_t)mk_worker_now_ms(ws->worker);
    if (!ws->is_pinged)
        return;
    ws->is_pinged = false;
    if (ws->state == WS_OPEN)
        set_ping_timer(ws, ws_max(ws->spec->ping_ms, MK_WS_DEFAULT_PING_MS));
}

/* ---- memory ---- */

void ws_book(struct mk_ws *ws)
{
    const size_t held = ws_queue_own(ws) + (ws->gathered ? ws->gathered->room : 0);

    if (held == ws->held)
        return;
    ws->held = (uint32_t)held;
    mk_stream_hold(ws->stream, held);
}

/* ---- events ---- */

/* @return true: all that has come was read, and more may come. */
static bool read_input(struct mk_ws *ws)
{
    char bytes[READ_SIZE];
    size_t unpacked = 0;

    for (unsigned i = 0; ws->state != WS_OVER; i++) {
        ssize_t n;

        if (i == READS_A_TURN || unpacked >= UNPACKED_A_TURN) {
            mk_stream_run_soon(ws->stream);
            return false;
        }
        n = mk_stream_read(ws->stream, bytes, sizeof(bytes));
        if (n == MK_E_AGAIN)
            return true;
        if (n <= 0) {
            ws_break(ws, MK_WS_ABNORMAL);
            return false;
        }
        hear(ws);
        ws_take_input(ws, bytes, (size_t)n);
        unpacked += ws->pack ? ws_pack_spent(ws->pack) : 0;
    }
    return false;
}

/* A hangup of the peer ends the input; without that end it is the server that stops, whatever else is due. */
static void read_and_notice_stop(struct mk_ws *ws)
{
    if (read_input(ws) && ws->is_hung_up)
        mk_ws_close(ws, MK_WS_GOING_AWAY, (struct mk_str){"", 0});
}

static void open_now(struct mk_ws *ws)
{
    if (ws->state != WS_OPENING)
        return;
    ws_go(ws, WS_OPEN);
    ws->heard_ms = (uint32_t)mk_worker_now_ms(ws->worker);
    set_ping_timer(ws, ws_max(ws->spec->ping_ms, MK_WS_DEFAULT_PING_MS));
    if (ws->spec->on_open)
        ws->spec->on_open(ws);
}

static void drain(struct mk_ws *ws)
{
    ws_queue_flush(ws);
    if (ws->is_drained && ws->state == WS_OPEN) {
        ws->is_drained = false;
        if (ws->spec->on_drain)
            ws->spec->on_drain(ws);
    }
}

static void on_stream(struct mk_stream *s, unsigned events, void *arg)
{
    struct mk_ws *ws = arg;

    (void)s;
    if (events & MK_IO_ERROR) {
        end(ws);
        return;
    }
    if (events & (MK_IO_READ | MK_IO_WRITE))
        open_now(ws);
    if (events & MK_IO_WRITE)
        drain(ws);
    if (events & MK_IO_HANGUP)
        ws->is_hung_up = true;
    if (events & (MK_IO_READ | MK_IO_HANGUP))
        read_and_notice_stop(ws);
    if ((events & MK_IO_TIMEOUT) && ws->state != WS_OVER)
        on_time(ws);
    if (ws->state == WS_LEAVING)
        ws_leave(ws);
    if (ws->state == WS_OVER)
        end(ws);
    else
        ws_book(ws);
}

/* ---- the handshake ---- */

static struct ws_deflate_rules deflate_rules(const struct mk_ws_spec *spec)
{
    const bool may_keep = spec->deflate == MK_WS_DEFLATE_KEEP;

    return (struct ws_deflate_rules){
        .is_allowed = spec->deflate != MK_WS_PLAIN && ws_pack_is_possible(),
        .may_keep_sent = may_keep && spec->policy != MK_WS_DROP_OLD,
        .may_keep_received = may_keep,
    };
}

static unsigned judge(struct mk_request *r, const struct mk_ws_spec *spec, struct ws_opening *o,
                      const char **why)
{
    const struct ws_rules rules = {spec->protocols, spec->origins, deflate_rules(spec)};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_str name, value;
    struct ws_asked asked;
    uint32_t at = 0;

    mk_request_facts(r, &facts);
    asked = (struct ws_asked){
        .method = facts.method,
        .host = facts.host,
        .scheme = mk_str_from(facts.scheme),
        .minor = facts.minor,
        .has_body = facts.content_length != 0,
    };
    while (mk_request_next_header(r, &at, &name, &value))
        ws_opening_field(o, &rules, name, value);
    return ws_opening_judge(o, &rules, &asked, why);
}

/* RFC 9110 section 15.5.22 and RFC 6455 section 4.4: what the client should ask for instead. */
static enum mk_verdict ask_for_upgrade(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 426) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Upgrade"), MK_STR("websocket"));
    mk_reply_line(&p, MK_STR("Sec-WebSocket-Version"), MK_STR("13"));
    return mk_reply_end(&p, 0) < 0 ? MK_VERDICT_CLOSE : MK_VERDICT_DONE;
}

static enum mk_verdict refuse(struct mk_request *r, unsigned status, const char *why)
{
    mk_request_reason(r, why);
    if (status == 426)
        return ask_for_upgrade(r);
    return mk_reply_error(r, status, status == 405 ? "Allow: GET\r\n" : NULL);
}

static int answer(struct mk_request *r, const struct ws_opening *o)
{
    char accept[WS_ACCEPT_LEN], extension[WS_EXTENSION_ROOM];
    struct mk_reply p;
    int err = mk_reply_begin(&p, r, 101);

    if (err < 0)
        return err;
    ws_accept_key(accept, o->key);
    mk_reply_line(&p, MK_STR("Connection"), MK_STR("Upgrade"));
    mk_reply_line(&p, MK_STR("Upgrade"), MK_STR("websocket"));
    mk_reply_line(&p, MK_STR("Sec-WebSocket-Accept"), (struct mk_str){accept, sizeof(accept)});
    if (o->rank > 0)
        mk_reply_line(&p, MK_STR("Sec-WebSocket-Protocol"), o->protocol);
    if (o->deflate.is_agreed)
        mk_reply_line(&p, MK_STR("Sec-WebSocket-Extensions"),
                      (struct mk_str){extension, ws_deflate_answer(extension, &o->deflate)});
    return mk_reply_end(&p, 0);
}

/* Without memory for it nothing is agreed on. */
static struct mk_ws *new_ws(struct mk_request *r, const struct mk_ws_spec *spec, void *data,
                            struct ws_opening *o)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_ws *ws = calloc(1, sizeof(*ws));

    if (!ws)
        return NULL;
    mk_request_facts(r, &facts);
    ws->spec = spec;
    ws->data = data;
    ws->worker = facts.worker;
    ws->frames.max = ws_max(spec->max_frame, MK_WS_DEFAULT_MAX);
    ws->protocol = (uint8_t)o->rank;
    ws->pack = o->deflate.is_agreed ? ws_pack_new(&o->deflate) : NULL;
    ws->frames.may_pack = o->deflate.is_agreed = ws->pack != NULL;
    return ws;
}

enum mk_verdict mk_ws_accept(struct mk_request *r, const struct mk_ws_spec *spec, void *data,
                             struct mk_ws **out)
{
    struct ws_opening o = {.rank = 0};
    const char *why = NULL;
    unsigned status;
    struct mk_ws *ws;

    if (out)
        *out = NULL;
    if (!r)
        return MK_VERDICT_DONE;
    if (!spec)
        return mk_reply_error(r, 500, NULL);
    status = judge(r, spec, &o, &why);
    if (status != 101)
        return refuse(r, status, why);
    ws = new_ws(r, spec, data, &o);
    if (!ws)
        return mk_reply_error(r, 503, NULL);
    if (answer(r, &o) < 0 || mk_request_take(r, &ws->stream, on_stream, ws) < 0) {
        ws_pack_free(ws->pack);
        free(ws);
        return MK_VERDICT_CLOSE;
    }
    if (out)
        *out = ws;
    return MK_VERDICT_DONE;
}

int mk_ws_ping(struct mk_ws *ws, struct mk_str payload)
{
    if (!ws)
        return MK_E_INVALID;
    if (payload.len > WS_CONTROL_MAX)
        return MK_E_LIMIT;
    return ws->state == WS_OPEN ? ws_queue_control(ws, WS_PING, payload) : MK_E_PEER;
}

void *mk_ws_data(const struct mk_ws *ws)
{
    return ws ? ws->data : NULL;
}

struct mk_worker *mk_ws_worker(const struct mk_ws *ws)
{
    return ws ? ws->worker : NULL;
}

unsigned mk_ws_protocol(const struct mk_ws *ws)
{
    return ws ? ws->protocol : 0;
}
