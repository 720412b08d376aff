/* SPDX-License-Identifier: Apache-2.0 */
#include "server/explain/stand_in.h"

#include "base/code.h"
#include "server/explain/steps.h"
#include "server/explain/tell.h"
#include "server/h1/conn.h"
#include "server/request/request_state.h"
#include "server/worker/worker.h"

#include <stdio.h>

enum { VERDICT_MAX = 128 };

struct mk_stand_in {
    struct mk_plugin plugin; /* first: what the server sees */
    const struct mk_plugin *real;
    const struct mk_loaded *loaded;
    struct mk_explain *e;
    bool waits; /* it said LATER, and has explained itself */
};

/* Whose hook a worker runs. */
static struct mk_stand_in *present(const struct mk_worker *w)
{
    const char *hook;

    return (struct mk_stand_in *)(uintptr_t)mk_worker_doing(w, &hook);
}

static bool is_pure(const struct mk_stand_in *s)
{
    return s->real->traits & MK_TRAIT_PURE;
}

/* ---- a question to a plugin ---- */

static void begin(struct mk_stand_in *s, struct mk_request *r, enum mk_explain_stage stage,
                  void *data)
{
    struct mk_explain *e = s->e;

    mk_explain_tell_place(e, r);
    e->asked = s->loaded;
    e->stage = stage;
    e->data = data;
    e->said = NULL;
}

/* What is supposed of a plugin that has no words. */
static enum mk_verdict unasked(const struct mk_explain *e)
{
    return e->stage == MK_EXPLAIN_REQUEST ? MK_VERDICT_PASS : MK_VERDICT_DONE;
}

static enum mk_verdict explain(struct mk_stand_in *s, struct mk_request *r,
                               const struct mk_context *ctx)
{
    enum mk_verdict verdict = unasked(s->e);

    if (s->real->explain && !s->waits)
        verdict = s->real->explain(r, ctx, s->e);
    s->waits = false;
    return verdict;
}

static const char *text_of_answer(const struct mk_request *r, bool is_open, char text[VERDICT_MAX])
{
    const char *verb = r->status >= 400   ? "refuses with"
                       : r->status >= 300 ? "redirects with"
                                          : "answers with";

    if (is_open)
        return "would answer";
    (void)snprintf(text, VERDICT_MAX, "%s %u", verb, (unsigned)r->status);
    return text;
}

static const char *text_of(const struct mk_stand_in *s, const struct mk_request *r,
                           enum mk_verdict verdict, char text[VERDICT_MAX])
{
    switch (verdict) {
    case MK_VERDICT_PASS:
        if (s->e->stage != MK_EXPLAIN_REQUEST)
            return "declines";
        return is_pure(s) || s->real->explain ? "passes" : "is asked";
    case MK_VERDICT_LATER:
        return "gives it another path";
    case MK_VERDICT_CLOSE:
        return "closes the connection";
    case MK_VERDICT_DONE:
        break;
    }
    return text_of_answer(r, s->e->is_open, text);
}

/* Its handler would answer with what nobody knows before. */
static void answer_for(struct mk_stand_in *s, struct mk_request *r)
{
    s->e->is_open = r->page_of == 0; /* a page has the status that it is for */
    (void)mk_reply_bytes(r, 200, NULL, MK_STR(""));
}

static enum mk_verdict end(struct mk_stand_in *s, struct mk_request *r, enum mk_verdict verdict)
{
    struct mk_explain *e = s->e;
    char text[VERDICT_MAX];

    if (verdict == MK_VERDICT_LATER && r->asking != MK_ASKING_MOVED) {
        s->waits = is_pure(s);
        if (!s->waits)
            verdict = unasked(e);
    }
    if (verdict == MK_VERDICT_DONE && r->status == 0)
        answer_for(s, r);
    if (!s->waits)
        mk_explain_verdict(e, text_of(s, r, verdict, text));
    e->is_answered = e->is_answered || verdict == MK_VERDICT_DONE;
    e->is_closed = e->is_closed || verdict == MK_VERDICT_CLOSE;
    e->asked = NULL;
    return verdict;
}

/* ---- hooks ---- */

static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_stand_in *s = present(r->worker);
    enum mk_verdict verdict;

    begin(s, r, MK_EXPLAIN_REQUEST, NULL);
    verdict = explain(s, r, ctx);
    if (is_pure(s))
        verdict = s->real->on_request(r, ctx);
    return end(s, r, verdict);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_stand_in *s = present(r->worker);
    const struct mk_route *route = &r->site->routes[r->hook];
    enum mk_verdict verdict;

    begin(s, r, MK_EXPLAIN_HANDLE, data);
    if (!s->waits)
        mk_explain_step(s->e, "handler", NULL, route->at, "%s, for %.*s", s->real->name,
                        (int)route->pattern.len, route->pattern.p);
    verdict = explain(s, r, ctx);
    if (is_pure(s))
        verdict = s->real->on_handle(r, ctx, data);
    return end(s, r, verdict);
}

static enum mk_verdict on_directory(struct mk_request *r, const struct mk_context *ctx, int fd)
{
    struct mk_stand_in *s = present(r->worker);
    enum mk_verdict verdict;

    begin(s, r, MK_EXPLAIN_DIRECTORY, NULL);
    if (!s->waits)
        mk_explain_step(s->e, "folder", NULL, NULL, "without an index file: %.*s", (int)r->path.len,
                        r->path.p);
    verdict = explain(s, r, ctx);
    if (is_pure(s))
        verdict = s->real->on_directory(r, ctx, fd);
    return end(s, r, verdict);
}

/* Within a question to a handler, whose words go on behind it. */
static int on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    const struct mk_stand_in *s = present(r->worker);
    struct mk_explain *e = s->e;
    const struct mk_loaded *asked = e->asked;
    struct mk_explain_step *said = e->said;
    int err = 0;

    e->asked = s->loaded;
    if (is_pure(s))
        err = s->real->on_head(r, ctx, head);
    else
        mk_explain_say(e, NULL, "may change fields and body of the answer");
    e->asked = asked;
    e->said = said;
    return err;
}

static enum mk_verdict on_accept(struct mk_conn *c, const struct mk_context *ctx)
{
    struct mk_stand_in *s = present(c->worker);
    struct mk_explain *e = s->e;
    enum mk_verdict verdict = MK_VERDICT_PASS;

    if (!is_pure(s))
        return verdict;
    e->asked = s->loaded;
    e->said = NULL;
    verdict = s->real->on_accept(c, ctx);
    mk_explain_verdict(e, verdict == MK_VERDICT_PASS ? "accepts the address"
                                                     : "closes the connection");
    e->asked = NULL;
    return verdict;
}

/* ---- in the place of plugins ---- */

#define IN_PLACE_OF(hook) ((real->hook) ? (hook) : NULL)

static void make(struct mk_stand_in *s, struct mk_loaded *loaded, struct mk_explain *e)
{
    const struct mk_plugin *real = loaded->plugin;

    *s = (struct mk_stand_in){.plugin = *real, .real = real, .loaded = loaded, .e = e};
    s->plugin.on_accept = IN_PLACE_OF(on_accept);
    s->plugin.on_request = IN_PLACE_OF(on_request);
    s->plugin.on_handle = IN_PLACE_OF(on_handle);
    s->plugin.on_directory = IN_PLACE_OF(on_directory);
    s->plugin.on_head = IN_PLACE_OF(on_head);
    if (!is_pure(s)) {
        s->plugin.start = NULL;
        s->plugin.stop = NULL;
        s->plugin.worker_start = NULL;
        s->plugin.worker_stop = NULL;
    }
    loaded->plugin = &s->plugin;
}

static int replace_hooks(struct mk_hooks *hooks, struct mk_explain *e)
{
    struct mk_hooked *items;

    if (hooks->count == 0)
        return 0;
    items = mk_arena_alloc(&e->arena, hooks->count * sizeof(*items));
    if (!items)
        return MK_E_NOMEM;
    for (size_t i = 0; i < hooks->count; i++) {
        items[i] = hooks->items[i];
        items[i].plugin = e->snapshot->plugins[items[i].index].plugin;
    }
    hooks->items = items;
    return 0;
}

static int replace_routes(struct mk_site *site, struct mk_explain *e)
{
    struct mk_route *routes;

    if (site->nroutes == 0)
        return 0;
    routes = mk_arena_alloc(&e->arena, site->nroutes * sizeof(*routes));
    if (!routes)
        return MK_E_NOMEM;
    for (size_t i = 0; i < site->nroutes; i++) {
        routes[i] = site->routes[i];
        routes[i].who.plugin = e->snapshot->plugins[routes[i].who.index].plugin;
    }
    if (site->named)
        site->named = routes + (site->named - site->routes);
    site->routes = routes;
    return 0;
}

static int replace_in(struct mk_site *site, struct mk_explain *e)
{
    int err = replace_routes(site, e);

    site->on_finish.count = 0; /* what is asked only here is in no log and in no account */
    if (err == 0)
        err = replace_hooks(&site->on_request, e);
    if (err == 0)
        err = replace_hooks(&site->on_directory, e);
    return err < 0 ? err : replace_hooks(&site->on_head, e);
}

MK_AT_START int mk_stand_ins_put(struct mk_explain *e)
{
    struct mk_snapshot *s = e->snapshot;
    const size_t size = mk_snapshot_places(s) * sizeof(*s->sites);
    struct mk_site *sites = mk_arena_alloc(&e->arena, size);
    int err;

    e->stand_ins = mk_arena_alloc(&e->arena, s->nplugins * sizeof(*e->stand_ins));
    if (!sites || !e->stand_ins)
        return MK_E_NOMEM;
    memcpy(sites, s->sites, size);
    e->sites = sites;
    e->on_accept = s->on_accept;
    for (size_t i = 0; i < s->nplugins; i++)
        make(&e->stand_ins[i], &s->plugins[i], e);
    err = replace_hooks(&s->on_accept, e);
    for (size_t i = 0; err == 0 && i < mk_snapshot_places(s); i++)
        err = replace_in(&s->sites[i], e);
    return err;
}

MK_AT_START void mk_stand_ins_take(struct mk_explain *e)
{
    struct mk_snapshot *s = e->snapshot;

    if (!e->sites)
        return;
    memcpy(s->sites, e->sites, mk_snapshot_places(s) * sizeof(*s->sites));
    s->on_accept = e->on_accept;
    for (size_t i = 0; i < s->nplugins; i++)
        s->plugins[i].plugin = e->stand_ins[i].real;
    e->sites = NULL;
}
