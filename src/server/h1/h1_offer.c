/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "server/backend/stream.h"
#include "server/h1/conn_state.h"
#include "server/h1/endpoint.h"
#include "server/h1/h1_int.h"
#include "server/h1/take.h"

#include <monkey/plugin.h>
#include <monkey/protocol.h>

/* Which protocol does a client choose: by ALPN, or by its first bytes? */

static const struct mk_via *via_of(const struct mk_conn *c)
{
    return &c->endpoint->via[c->worker->view->side];
}

struct mk_str mk_link_offer(const struct mk_link *l)
{
    struct mk_link *link = (struct mk_link *)(uintptr_t)l;
    const struct mk_via *via;

    if (l->is_client)
        return mk_str_from(MK_CONTAINER_OF(link, struct mk_stream, own)->protocol);
    via = via_of(MK_CONTAINER_OF(link, struct mk_conn, link));
    return via->protocol ? via->protocol->name : (struct mk_str){NULL, 0};
}

enum mk_h1_state mk_h1_first_state(const struct mk_conn *c)
{
    return via_of(c)->protocol ? MK_H1_OFFER : MK_H1_IDLE;
}

static bool has_agreed(const struct mk_conn *c, const struct mk_protocol *protocol)
{
    struct mk_link_facts facts = {.size = sizeof(facts)};

    if (c->link.transport->facts)
        c->link.transport->facts(&c->link, &facts);
    return facts.protocol.p && mk_str_eq(facts.protocol, protocol->name);
}

enum choice {
    CHOICE_MORE, /* the bytes so far may become either */
    CHOICE_HTTP,
    CHOICE_PROTOCOL,
    CHOICE_NONE, /* neither that nor HTTP is spoken here */
};

/* What the bytes in its job tell, or its transport. */
static enum choice judge(const struct mk_conn *c)
{
    const struct mk_via *via = via_of(c);
    struct mk_str input = {c->job->in + c->job->in_body, mk_job_input(c->job)};
    size_t len;

    if (!via->protocol) /* since a reload */
        return CHOICE_HTTP;
    if (c->link.transport->is_secure && has_agreed(c, via->protocol))
        return CHOICE_PROTOCOL;
    len = input.len < via->protocol->preface.len ? input.len : via->protocol->preface.len;
    if (!via->is_spoken_at_once || memcmp(input.p, via->protocol->preface.p, len) != 0)
        return via->has_no_http ? CHOICE_NONE : CHOICE_HTTP;
    return len < via->protocol->preface.len ? CHOICE_MORE : CHOICE_PROTOCOL;
}

static void on_untold(struct mk_stream *s, unsigned events, void *arg)
{
    (void)s, (void)events, (void)arg;
}

/* @return false: no memory, or its plugin cannot. */
static bool begin_protocol(struct mk_conn *c)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_via *via = via_of(c);
    struct mk_stream *stream;

    if (mk_take_conn(c, &stream, on_untold, NULL) < 0)
        return false;
    if (via->protocol->begin(mk_view_context(view, &view->snapshot->sites[0], via->protocol_plugin),
                             c, stream) == 0)
        return true;
    mk_stream_close(stream);
    return false;
}

/* @return NEXT: there is input to judge. */
static enum mk_step fill_offer(struct mk_conn *c)
{
    ssize_t n = mk_h1_fill(c);

    if (n > 0)
        return MK_STEP_NEXT;
    if (n != MK_E_AGAIN)
        return mk_h1_close_for(c, n == MK_E_NOMEM ? MK_CLOSE_NO_MEMORY : MK_CLOSE_PEER_LEFT);
    if (c->job && mk_job_input(c->job) == 0)
        mk_job_put(c);
    return MK_STEP_WAIT;
}

enum mk_step mk_h1_step_offer(struct mk_conn *c, const struct mk_turn *turn)
{
    enum choice choice = c->job && mk_job_input(c->job) > 0 ? judge(c) : CHOICE_MORE;

    switch (choice) {
    case CHOICE_MORE:
        break;
    case CHOICE_HTTP:
        return mk_h1_go(c, turn, MK_H1_IDLE);
    case CHOICE_PROTOCOL:
        return begin_protocol(c) ? mk_h1_go(c, turn, MK_H1_TAKEN)
                                 : mk_h1_close_for(c, MK_CLOSE_NO_MEMORY);
    case CHOICE_NONE:
        return mk_h1_close_for(c, MK_CLOSE_DENIED);
    }
    return fill_offer(c);
}
