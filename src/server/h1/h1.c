/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/h1.h"

#include "base/limits.h"
#include "http/proxy_head.h"
#include "http/uri.h"
#include "kit/pure/zero.h"
#include "server/answer/body.h"
#include "server/h1/conn_state.h"
#include "server/h1/endpoint.h"
#include "server/h1/h1_int.h"
#include "server/h1/conn_peer.h"
#include "server/h1/h1_wire.h"
#include "server/answer/reply.h"
#include "server/route/route.h"
#include "server/h1/conn_stage.h"
#include "server/route/stage.h"
#include "server/h1/take.h"
#include "server/h1/out.h"
#include "server/request/request_state.h"
#include "server/request/ticket.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <sys/socket.h>

/* ---- input ---- */

ssize_t mk_h1_recv(struct mk_conn *c, char *dst, size_t len)
{
    ssize_t n;

    if (!c->readable)
        return c->ended ? 0 : MK_E_AGAIN;
    n = mk_link_recv(&c->link, dst, len);
    if (n <= 0 || (c->link.is_drained && !c->hung_up))
        c->readable = false; /* the next edge tells of more */
    if (n > 0) {
        c->progress = true;
        mk_count(&c->worker->counters.bytes_in, (uint64_t)n);
    } else if (n == 0) {
        c->ended = true;
    }
    return n;
}

static ssize_t fill_job(struct mk_conn *c)
{
    struct mk_job *job = mk_job_get(c);
    ssize_t room, n;

    if (!job)
        return MK_E_NOMEM;
    room = mk_job_room(c, (size_t)mk_h1_settings(c)->max_request_size + MK_INPUT_SIZE);
    if (room <= 0)
        return room < 0 ? room : MK_E_LIMIT;
    n = mk_h1_recv(c, job->in + job->in_end, (size_t)room);
    if (n > 0)
        job->in_end += (uint32_t)n;
    return n;
}

static inline ssize_t fill(struct mk_conn *c)
{
    if (!c->readable && !c->ended) /* after nearly every request */
        return MK_E_AGAIN;
    return fill_job(c);
}

ssize_t mk_h1_fill(struct mk_conn *c)
{
    return fill(c);
}

/* ---- a request's life ---- */

static void begin_request(struct mk_conn *c)
{
    struct mk_job *job = c->job;
    struct mk_request *r = &job->request;

    zero_by_call(&r->text, sizeof(*r) - offsetof(struct mk_request, text));
    r->conn = c;
    r->wire = &mk_h1_wire;
    r->worker = c->worker;
    r->id = c->id;
    r->is_secure = c->link.transport->is_secure;
    r->view = c->worker->view;
    r->view->users++;
    r->site = mk_endpoint_site(c->endpoint, r->view->snapshot, r->view->side);
    r->traced = mk_log_traces(mk_worker_log(c->worker), MK_LOG_HTTP) ? c->requests + 1 : 0;
    r->began_ms = c->worker->loop.clock.mono_ms;
    r->patience_ms = (uint32_t)r->site->set.handler_timeout_ms;
    mk_arena_init(&r->arena, job->arena_start, sizeof(job->arena_start), MK_LIMIT_REQUEST_ARENA);
    mk_job_begin_message(c->worker, job);
}

/* Did it say that it sends nothing more behind this request (RFC 9112 section 9.6)? */
static bool is_last_of_client(const struct mk_conn *c)
{
    return c->job->request.head_len > 0 && !c->job->request.head.keep_alive;
}

static void end_request(struct mk_conn *c, bool whole)
{
    struct mk_request *r = &c->job->request;
    struct mk_view *view = r->view;

    if (!whole)
        mk_answering_break(r);
    mk_asking_change(r, MK_ASKING_OVER);
    if (r->site->on_finish.count > 0 && (r->head_len > 0 || r->status != 0))
        mk_stage_finish(r);

    if (!r->keep_alive) {
        c->closing = true;
        c->must_linger = c->must_linger || !is_last_of_client(c) || !mk_receiving_is_done(r) ||
                         c->readable || mk_job_input(c->job) > 0;
    }
    mk_ticket_end(r);
    mk_arena_fini(&r->arena);
    r->view = NULL;
    mk_job_begin_message(c->worker, c->job);
    mk_view_put(view);
    mk_count(&c->worker->counters.requests, 1);
    c->timed_state = MK_H1_STATE_COUNT;
}

void mk_h1_abandon(struct mk_conn *c, bool has_left)
{
    if (!mk_h1_has_request(c))
        return;
    if (has_left && c->job->request.head_len > 0 && c->job->request.status == 0)
        c->job->request.status = MK_STATUS_CLIENT_LEFT;
    end_request(c, false);
}

void mk_h1_end_drain(struct mk_conn *c)
{
    c->job->request.keep_alive = false;
    end_request(c, true);
    mk_conn_go(c, MK_H1_FLUSH);
}

/* ---- steps ---- */

/* Nothing may be gathered when the turn goes to another connection. @return NEXT when all is out. */
static enum mk_step flush_before_wait(struct mk_conn *c)
{
    enum mk_pump flushed;

    if (!mk_out_is_pending(c))
        return MK_STEP_NEXT;
    flushed = mk_out_flush(c, false);
    if (flushed == MK_PUMP_DONE)
        return MK_STEP_NEXT;
    if (flushed != MK_PUMP_READER)
        return mk_h1_close_for(c, flushed == MK_PUMP_NO_MEMORY ? MK_CLOSE_NO_MEMORY
                                                               : MK_CLOSE_PEER_CUT);
    mk_conn_go(c, MK_H1_FLUSH);
    return MK_STEP_WAIT;
}

/* Does a transport of its own begin behind the PROXY header? */
static bool is_carried_later(const struct mk_conn *c)
{
    return c->endpoint->via[c->worker->view->side].transport != &mk_transport_liana;
}

_Static_assert((int)MK_INPUT_SHARED >= (int)MK_LIMIT_PROXY_HEAD, "a header can be seen whole");

/* What is behind the header is then for that transport: it stays in the socket. @return as mk_h1_fill. */
static ssize_t peek(struct mk_conn *c)
{
    struct mk_job *job = mk_job_get(c);
    size_t seen;
    ssize_t n;

    if (!job)
        return MK_E_NOMEM;
    seen = mk_job_input(job);
    n = recv(c->link.fd, job->in + job->in_body, job->in_cap - job->in_body, MSG_PEEK);
    if (n < 0 && errno != EAGAIN)
        return MK_E_PEER;
    if (n < 0 || (n > 0 && (size_t)n == seen && !c->hung_up)) {
        c->readable = false;
        return MK_E_AGAIN;
    }
    if ((size_t)n == seen) /* all that will ever come */
        return 0;
    job->in_end = job->in_body + (uint32_t)n;
    return n;
}

/* The header was looked at; take it out of the socket and let the transport begin. */
static bool carry(struct mk_conn *c, size_t header_len)
{
    struct mk_job *job = c->job;
    ssize_t n = recv(c->link.fd, job->in + job->in_body, header_len, 0);

    job->in_end = job->in_body;
    return n == (ssize_t)header_len && mk_conn_open_link(c);
}

static enum mk_step step_proxy(struct mk_conn *c, struct mk_turn *turn)
{
    struct mk_proxy_head head;
    bool carried_later = is_carried_later(c);
    ssize_t n, used;

    if (!mk_conn_may_name_peer(c)) /* nothing counts its connections, so it may hold none */
        return mk_h1_close_for(c, MK_CLOSE_PROXY);
    n = carried_later ? peek(c) : fill(c);
    if (n == MK_E_AGAIN) {
        if (mk_job_input(c->job) == 0)
            mk_job_put(c);
        return MK_STEP_WAIT;
    }
    if (n <= 0)
        return mk_h1_close_for(c, MK_CLOSE_PROXY);
    used = mk_proxy_head_parse(&head, c->job->in + c->job->in_body, mk_job_input(c->job));
    if (used == MK_E_AGAIN)
        return MK_STEP_NEXT;
    if (used < 0)
        return mk_h1_close_for(c, MK_CLOSE_PROXY);
    if (!carried_later)
        c->job->in_body += (uint32_t)used;
    c->job->in_at = c->job->in_body;
    if (head.has_source && !mk_conn_set_peer(c, head.source_ip, head.source_port))
        return mk_h1_close_for(c, MK_CLOSE_CROWDED);
    if (!mk_conn_ask_accept(c))
        return mk_h1_close_for(c, MK_CLOSE_DENIED);
    if (carried_later && !carry(c, (size_t)used))
        return mk_h1_close_for(c, MK_CLOSE_TRANSPORT);
    return mk_h1_go(c, turn, mk_h1_first_state(c));
}

static enum mk_step step_offer(struct mk_conn *c, struct mk_turn *turn)
{
    return mk_h1_step_offer(c, turn);
}

static enum mk_step step_idle(struct mk_conn *c, struct mk_turn *turn)
{
    enum mk_step flushed;
    ssize_t n;

    if (c->job && mk_job_input(c->job) > 0) {
        if (turn->requests == 0) {
            flushed = flush_before_wait(c);
            return flushed == MK_STEP_NEXT ? MK_STEP_SOON : flushed;
        }
        begin_request(c);
        return mk_h1_go(c, turn, MK_H1_HEAD);
    }
    flushed = flush_before_wait(c);
    if (flushed != MK_STEP_NEXT)
        return flushed;
    if (c->worker->stopping && c->requests > 0) {
        mk_h1_end(c, MK_CLOSE_STOPPING);
        return MK_STEP_NEXT;
    }
    n = fill(c);
    if (n > 0)
        return MK_STEP_NEXT;
    if (n == MK_E_AGAIN) {
        mk_job_put(c);
        return MK_STEP_WAIT;
    }
    return mk_h1_close_for(c, n == MK_E_NOMEM ? MK_CLOSE_NO_MEMORY : MK_CLOSE_PEER_LEFT);
}

/* Which byte it is says more than that there is one: quotes and fragments are links written by hand. */
static const char *sentence_of_target(struct mk_request *r, const char *head, size_t len)
{
    static const char fault[] = "bad request target";
    int byte = mk_h1_head_bad_byte(&r->head, head, len);
    const char *what = byte == '"'                  ? "a quote"
                       : byte == '#'                ? "a fragment"
                       : byte == '<' || byte == '>' ? "a bracket"
                                                    : NULL;
    const char *text = fault;

    if (what)
        text = mk_arena_printf(&r->arena, "%s: %s (%%%02X)", fault, what, (unsigned)byte);
    else if (byte >= 0)
        text = mk_arena_printf(&r->arena, "%s: byte %%%02X", fault, (unsigned)byte);
    return text ? text : fault;
}

/* The answer to a head that is none: the rest of the input cannot be understood any more. */
static enum mk_step refuse_head(struct mk_conn *c, const struct mk_turn *turn)
{
    struct mk_request *r = &c->job->request;
    enum mk_h1_fault fault = r->head.fault;

    r->reason = fault == MK_H1_FAULT_TARGET ? sentence_of_target(r, c->job->in + c->job->in_at,
                                                                 c->job->in_end - c->job->in_at)
                                            : mk_h1_fault_text(fault);
    mk_log_peer(mk_worker_log(c->worker), MK_LOG_DEBUG, MK_LOG_HTTP,
                "refused conn=%llu status=%u why=\"%s\"", (unsigned long long)c->id,
                mk_fault_status(fault), r->reason);
    c->requests++;
    mk_count(&c->worker->counters.reasons[mk_reason_of_fault(fault)], 1);
    mk_reply_page(r, mk_fault_status(fault), true);
    return mk_h1_go(c, turn, MK_H1_REPLY);
}

static enum mk_step step_head(struct mk_conn *c, struct mk_turn *turn)
{
    const struct mk_server_settings *set = mk_h1_settings(c);
    const struct mk_h1_limits limits = {
        .head = (uint32_t)set->max_request_size,
        .target = MK_LIMIT_TARGET,
        .fields = (uint32_t)set->max_headers,
    };
    struct mk_job *job = c->job;
    ssize_t n = mk_h1_head_parse(&job->request.head, job->in + job->in_at, job->in_end - job->in_at,
                                 &limits);
    enum mk_step flushed;

    if (n > 0) {
        job->request.head_len = (uint32_t)n;
        job->in_body = job->in_at + (uint32_t)n;
        turn->requests--;
        return mk_h1_go(c, turn, MK_H1_ROUTE);
    }
    if (n == MK_E_BAD)
        return refuse_head(c, turn);
    flushed = flush_before_wait(c);
    if (flushed != MK_STEP_NEXT)
        return flushed;
    n = fill(c);
    if (n > 0)
        return MK_STEP_NEXT;
    if (n == MK_E_AGAIN)
        return MK_STEP_WAIT;
    return mk_h1_close_for(c, n == MK_E_NOMEM ? MK_CLOSE_NO_MEMORY : MK_CLOSE_PEER_CUT);
}

static int frame_body(struct mk_request *r, const struct mk_server_settings *set)
{
    uint64_t max;

    if (!r->head.chunked && r->head.content_length == 0)
        return 0;
    max = (uint64_t)r->site->set.max_body_size;
    mk_receiving_go(r, MK_RECEIVING_UNREAD);
    if (r->head.chunked) {
        uint32_t left = (uint32_t)set->max_request_size - r->head_len;

        /* Trailers count with the head, but for the empty line that ends them. */
        mk_h1_body_init_chunked(&r->body, max);
        if (left + 2 < r->body.max_trailers)
            r->body.max_trailers = left + 2;
        return 0;
    }
    return mk_h1_body_init_length(&r->body, r->head.content_length, max);
}

static enum mk_step step_route(struct mk_conn *c, struct mk_turn *turn)
{
    const struct mk_server_settings *set = mk_h1_settings(c);
    struct mk_request *r = &c->job->request;

    c->requests++;
    mk_asking_change(r, MK_ASKING_ASKED);
    r->keep_alive = r->head.keep_alive && set->keepalive &&
                    c->requests < set->max_keepalive_requests && !c->worker->stopping;
    if (r->view->snapshot->is_divided)
        mk_route_choose_site(r);
    if (frame_body(r, set) < 0)
        mk_reply_refuse(r, MK_REFUSAL_BODY_LARGE);
    else
        mk_route(r);
    return mk_h1_go(c, turn, MK_H1_REPLY);
}

/* Only the rest of a file is left: the connection keeps that much and lends its job to others. */
static void keep_only_tail(struct mk_conn *c)
{
    struct mk_request *r = &c->job->request;
    struct mk_source *s = r->first;

    if (!mk_body_is_tail(r) || !mk_receiving_is_done(r) || mk_job_input(c->job) > 0 ||
        r->site->on_finish.count > 0)
        return;
    c->tail = s->file;
    c->tail_at = s->at;
    c->tail_end = s->end;
    r->first = r->last = NULL;
    mk_answering_go(r, MK_ANSWERING_ENDED);
    end_request(c, true);
    mk_job_put(c);
    mk_conn_go(c, MK_H1_FLUSH);
}

/* The answer is not out, or not yet. */
static enum mk_step after_pump(struct mk_conn *c, enum mk_pump verdict)
{
    switch (verdict) {
    case MK_PUMP_READER:
    case MK_PUMP_SOURCE:
        return MK_STEP_WAIT;
    case MK_PUMP_TURN:
        return MK_STEP_SOON;
    case MK_PUMP_TRUNCATED:
        return mk_h1_close_for(c, MK_CLOSE_TRUNCATED);
    case MK_PUMP_CUT:
        return mk_h1_close_for(c, MK_CLOSE_PEER_CUT);
    case MK_PUMP_NO_MEMORY:
        return mk_h1_close_for(c, MK_CLOSE_NO_MEMORY);
    case MK_PUMP_DONE: /* these two never get here */
    case MK_PUMP_COPY:
    case MK_PUMP_BROKEN:
        break;
    }
    return mk_h1_close_for(c, MK_CLOSE_SOURCE);
}

/* The budget ran out with bytes still gathered: they leave before the others' turn. */
static enum mk_pump flush_gathered(struct mk_conn *c)
{
    enum mk_pump verdict = mk_out_flush(c, true);

    return verdict == MK_PUMP_DONE ? MK_PUMP_TURN : verdict;
}

/* The answer breaks off here; what was gathered before may still be of use to the peer. */
static void send_what_was_true(struct mk_conn *c)
{
    if (mk_out_flush(c, false) != MK_PUMP_DONE)
        mk_out_drop(c);
}

static enum mk_pump pump(struct mk_conn *c, struct mk_turn *turn)
{
    enum mk_pump verdict = mk_out_pump(c, &turn->bytes);

    if (verdict == MK_PUMP_TURN)
        return flush_gathered(c);
    if (mk_pump_has_failed(verdict))
        send_what_was_true(c);
    return verdict;
}

/* All of it, with nothing left in the gather buffer. */
static enum mk_pump pump_out(struct mk_conn *c, struct mk_turn *turn)
{
    enum mk_pump verdict = pump(c, turn);

    return verdict == MK_PUMP_DONE ? mk_out_flush(c, false) : verdict;
}

/* Has something come that its hook waits for? */
static bool may_ask_again(const struct mk_conn *c)
{
    const struct mk_request *r = &c->job->request;

    return mk_asking_is_woken(r) || (c->readable && !mk_receiving_is_done(r));
}

/* A hook said LATER, perhaps once more. What it sent before it answers (1xx) leaves at once. @return as mk_out_pump. */
static enum mk_pump wait_for_hook(struct mk_conn *c, struct mk_turn *turn)
{
    struct mk_request *r = &c->job->request;
    enum mk_pump verdict = mk_out_flush(c, false);

    if (verdict != MK_PUMP_DONE)
        return verdict;
    if (!may_ask_again(c))
        return MK_PUMP_SOURCE;
    mk_route_resume(r);
    mk_reply_note(r);
    if (!mk_asking_is_parked(r))
        return pump(c, turn);
    verdict = mk_out_flush(c, false);
    return verdict == MK_PUMP_DONE ? MK_PUMP_SOURCE : verdict;
}

static enum mk_step break_off(struct mk_conn *c)
{
    bool dropped = c->job->request.asking == MK_ASKING_DROPPED;

    send_what_was_true(c);
    return mk_h1_close_for(c, dropped ? MK_CLOSE_DENIED : MK_CLOSE_SOURCE);
}

/* A plugin took the connection: it has it when the head has left. */
static enum mk_step hand_over(struct mk_conn *c, const struct mk_turn *turn)
{
    end_request(c, true);
    c->closing = c->must_linger = false;
    return mk_h1_go(c, turn, MK_H1_FLUSH);
}

static enum mk_step step_reply(struct mk_conn *c, struct mk_turn *turn)
{
    struct mk_request *r = &c->job->request;
    enum mk_pump verdict;

    mk_reply_note(r);
    verdict = pump(c, turn);
    if (verdict == MK_PUMP_DONE && mk_asking_is_parked(r))
        verdict = wait_for_hook(c, turn);
    if (verdict == MK_PUMP_SOURCE && r->ends_on_hangup && c->hung_up && mk_receiving_is_done(r))
        return mk_h1_close_for(c, MK_CLOSE_PEER_CUT);
    if (verdict == MK_PUMP_READER || verdict == MK_PUMP_TURN)
        keep_only_tail(c);
    if (verdict == MK_PUMP_SOURCE && mk_receiving_is_done(r))
        mk_job_seal(c);
    if (verdict != MK_PUMP_DONE)
        return after_pump(c, verdict);
    if (mk_answering_is_broken(r))
        return break_off(c);
    if (c->stream)
        return hand_over(c, turn);
    if (!mk_receiving_is_done(r) && r->keep_alive)
        return mk_h1_go(c, turn, MK_H1_DRAIN);
    end_request(c, true);
    return mk_h1_go(c, turn, c->closing ? MK_H1_FLUSH : MK_H1_IDLE);
}

static enum mk_step step_taken(struct mk_conn *c, struct mk_turn *turn)
{
    (void)turn;
    mk_take_begin(c);
    return MK_STEP_WAIT;
}

static enum mk_step step_drain(struct mk_conn *c, struct mk_turn *turn)
{
    struct mk_request *r = &c->job->request;
    char skipped[1024];
    enum mk_pump verdict = pump_out(c, turn);
    ssize_t n;

    if (verdict != MK_PUMP_DONE)
        return after_pump(c, verdict);
    do {
        n = mk_request_read(r, skipped, sizeof(skipped));
    } while (n > 0 && r->body.total <= MK_LIMIT_BODY_SKIP);
    if (n == MK_E_AGAIN)
        return MK_STEP_WAIT;
    if (n != 0)
        r->keep_alive = false; /* too long or malformed: it is not worth reading on */
    end_request(c, true);
    return mk_h1_go(c, turn, c->closing ? MK_H1_FLUSH : MK_H1_IDLE);
}

void mk_h1_end(struct mk_conn *c, enum mk_close reason)
{
    c->close_reason = (uint8_t)reason;
    c->closing = c->must_linger = true;
    mk_conn_go(c, MK_H1_FLUSH);
}

/* A server that stops does not wait for peers who have everything. */
static bool may_close_at_once(const struct mk_conn *c)
{
    return !c->must_linger || c->ended ||
           (c->worker->stopping && !c->readable && mk_h1_is_delivered(c));
}

/* Input that nobody wants any more: a close with it unread, or input after it, would reset the connection, and the peer
 * might lose our answers (RFC 9112 section 9.6). */
static enum mk_step discard(struct mk_conn *c)
{
    char *scratch = mk_out_reserve(c, MK_LIMIT_GATHER_BYTES);
    ssize_t n;

    if (!c->readable)
        return MK_STEP_WAIT;
    n = mk_link_recv(&c->link, scratch, MK_LIMIT_GATHER_BYTES);
    if (n <= 0)
        c->readable = false;
    if (n == MK_E_AGAIN)
        return MK_STEP_WAIT;
    if (n < 0)
        return c->state == MK_H1_LINGER ? MK_STEP_CLOSE : mk_h1_close_for(c, MK_CLOSE_PEER_CUT);
    if (n == 0) {
        c->ended = true;
        return MK_STEP_NEXT;
    }
    c->progress = true;
    if (c->lingered <
        UINT32_MAX - MK_LIMIT_GATHER_BYTES) /* enough for all the time that there is */
        c->lingered += (uint32_t)n;
    return MK_STEP_SOON;
}

static enum mk_step step_flush(struct mk_conn *c, struct mk_turn *turn)
{
    enum mk_pump verdict = pump_out(c, turn);

    if (verdict == MK_PUMP_READER && c->closing && c->must_linger && c->readable)
        return discard(c); /* it may send all before it reads */
    if (verdict != MK_PUMP_DONE)
        return after_pump(c, verdict);
    if (c->stream)
        return mk_h1_go(c, turn, MK_H1_TAKEN);
    if (!c->closing)
        return mk_h1_go(c, turn, mk_h1_has_request(c) ? MK_H1_HEAD : MK_H1_IDLE);
    if (may_close_at_once(c))
        return MK_STEP_CLOSE;
    mk_link_shutdown(&c->link);
    mk_job_put(c);
    return mk_h1_go(c, turn, MK_H1_LINGER);
}

static enum mk_step step_linger(struct mk_conn *c, struct mk_turn *turn)
{
    (void)turn;
    return c->ended ? MK_STEP_CLOSE : discard(c);
}

enum mk_step mk_h1_step(struct mk_conn *c, struct mk_turn *turn)
{
    switch ((enum mk_h1_state)c->state) {
#define STEP(name, text_name, follow, sentence, step)                                              \
    case MK_H1_##name:                                                                             \
        return step_##step(c, turn);
        MK_H1_STATES(STEP) /* NOLINT(bugprone-branch-clone): answering is one step */
#undef STEP
    case MK_H1_STATE_COUNT:
        break;
    }
    return mk_h1_close_for(c, MK_CLOSE_SOURCE);
}
