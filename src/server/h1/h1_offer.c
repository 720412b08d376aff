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
    const struct mk_via *via = via_of(MK_CONTAINER_OF((struct mk_link *)(uintptr_t)l, struct mk_conn, link));

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

enum mk_choice mk_h1_judge_offer(const struct mk_conn *c)
{
    const struct mk_via *via = via_of(c);
    struct mk_str input = {c->job->in + c->job->in_body, mk_job_input(c->job)};
    size_t len;

    if (!via->protocol) /* since a reload */
        return MK_CHOICE_HTTP;
    if (c->link.transport->is_secure && has_agreed(c, via->protocol))
        return MK_CHOICE_PROTOCOL;
    len = input.len < via->protocol->preface.len ? input.len : via->protocol->preface.len;
    if (!via->is_spoken_at_once || memcmp(input.p, via->protocol->preface.p, len) != 0)
        return via->has_no_http ? MK_CHOICE_NONE : MK_CHOICE_HTTP;
    return len < via->protocol->preface.len ? MK_CHOICE_MORE : MK_CHOICE_PROTOCOL;
}

static void on_untold(struct mk_stream *s, unsigned events, void *arg)
{
    (void)s, (void)events, (void)arg;
}

bool mk_h1_begin_protocol(struct mk_conn *c)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_via *via = via_of(c);
    struct mk_stream *stream;

    if (mk_take_conn(c, &stream, on_untold, NULL) < 0)
        return false;
    if (via->protocol->begin(mk_view_context(view, &view->snapshot->sites[0], via->protocol_plugin), c,
                             stream) == 0)
        return true;
    mk_stream_close(stream);
    return false;
}
