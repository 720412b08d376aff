/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn_stage.h"

#include "server/h1/conn.h"
#include "server/worker/worker.h"

/* Stages of connections: no site is known, and the configuration is the one in force. */

static const struct mk_context *context_for(const struct mk_view *view, const struct mk_hooked *who)
{
    return mk_view_context(view, &view->snapshot->sites[0], who->index);
}

bool mk_conn_ask_accept(struct mk_conn *c)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_hooks *hooks = &view->snapshot->on_accept;

    for (size_t i = 0; i < hooks->count; i++) {
        const struct mk_hooked *who = &hooks->items[i];
        enum mk_verdict verdict;

        mk_worker_calls(c->worker, who->plugin, "on_accept");
        verdict = who->plugin->on_accept(c, context_for(view, who));
        mk_worker_left(c->worker);
        if (verdict != MK_VERDICT_PASS)
            return false;
    }
    c->admitted = true;
    return true;
}

void mk_conn_tell_close(struct mk_conn *c)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_hooks *hooks = &view->snapshot->on_close;

    for (size_t i = 0; c->admitted && i < hooks->count; i++) {
        mk_worker_calls(c->worker, hooks->items[i].plugin, "on_close");
        hooks->items[i].plugin->on_close(c, context_for(view, &hooks->items[i]));
        mk_worker_left(c->worker);
    }
}

void mk_conn_tell_event(struct mk_conn *c, unsigned events)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_hooks *hooks = &view->snapshot->on_conn_event;

    for (size_t i = 0; i < hooks->count; i++) {
        mk_worker_calls(c->worker, hooks->items[i].plugin, "on_conn_event");
        hooks->items[i].plugin->on_conn_event(c, context_for(view, &hooks->items[i]), events);
        mk_worker_left(c->worker);
    }
}
