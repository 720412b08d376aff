/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/2012/mklib_int.h"

#include "compat/bytes.h"
#include "compat/reply.h"

#include <monkey/plugin.h>

#include <stdlib.h>
#include <unistd.h>

/* Callbacks of a program as hooks of a plugin. */

enum {
    HEADER_ROOM = 256,
    COPIED_MOST = 1 << 20, /* many programs use one buffer for all answers */
};

/* One configuration: its sites are the virtual hosts, in order. */
struct plan {
    struct mk_mklib *m;
    const struct mk_mklib_vhost *next;
};

/* A mklib_session. */
struct session {
    struct mk_mklib *m;
    struct mk_request *r;
    struct mk_compat_bytes body, content;
    char header[HEADER_ROOM + 1];
};

static int check(struct mk_setup *setup)
{
    struct mk_mklib *m = mk_setup_argument(setup);
    struct plan *plan = mk_setup_alloc(setup, sizeof(*plan));

    if (!plan)
        return MK_E_NOMEM;
    *plan = (struct plan){m, m->vhosts};
    mk_setup_keep(setup, plan);
    mk_setup_act(setup, m->ipcheck ? MK_ACTS_ACCEPT : 0);
    return 0;
}

static int check_site(struct mk_setup *setup)
{
    struct plan *plan = mk_setup_config(setup);
    const struct mk_mklib *m = plan->m;

    mk_setup_keep(setup, (void *)(uintptr_t)plan->next->is.name);
    plan->next = plan->next->next;
    mk_setup_act(setup,
                 (m->urlcheck || m->close ? MK_ACTS_REQUEST : 0) | (m->close ? MK_ACTS_FINISH : 0));
    return m->data ? mk_setup_route(setup, MK_STR("^/"), NULL, NULL, false) : 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct plan *plan = ctx->config;

    (void)old;
    free(plan->m->pids);
    plan->m->pids = calloc(mk_server_workers(ctx->server), sizeof(*plan->m->pids));
    return plan->m->pids ? 0 : MK_E_NOMEM;
}

static int worker_start(const struct mk_context *ctx, void **local)
{
    const struct plan *plan = ctx->config;

    (void)local;
    atomic_store(&plan->m->pids[mk_worker_index(ctx->worker)], (int)gettid());
    return 0;
}

static enum mk_verdict on_accept(struct mk_conn *c, const struct mk_context *ctx)
{
    const struct plan *plan = ctx->config;
    const struct mk_compat *before = mk_compat_enter(&plan->m->c);
    char ip[MK_PEER_TEXT];
    bool is_wanted;

    (void)mk_conn_peer(c, ip);
    is_wanted = plan->m->ipcheck(ip);
    mk_compat_leave(before);
    return is_wanted ? MK_VERDICT_PASS : MK_VERDICT_CLOSE;
}

static void end_session(void *session)
{
    struct session *s = session;

    mk_compat_bytes_free(&s->body);
    mk_compat_bytes_free(&s->content);
}

/* @return the session of a request, the same for all hooks; NULL: no memory. */
static struct session *session_of(struct mk_request *r, struct mk_mklib *m)
{
    struct session *s = mk_request_kept(r, &mk_mklib_plugin);

    if (s)
        return s;
    s = mk_request_alloc(r, sizeof(*s));
    if (!s)
        return NULL;
    memset(s, 0, sizeof(*s));
    s->m = m;
    s->r = r;
    if (mk_request_on_end(r, end_session, s) < 0 || mk_request_keep(r, &mk_mklib_plugin, s) < 0)
        return NULL;
    return s;
}

/* The path of a file that replaces the first one is not the client's. */
static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct plan *plan = ctx->config;
    const struct mk_compat *before;
    bool is_wanted;

    if (mk_request_kept(r, &mk_mklib_plugin))
        return MK_VERDICT_PASS;
    if (!session_of(r, plan->m))
        return mk_reply_error(r, 503, NULL);
    if (!plan->m->urlcheck)
        return MK_VERDICT_PASS;
    mk_request_facts(r, &facts);
    before = mk_compat_enter(&plan->m->c);
    is_wanted = plan->m->urlcheck(facts.path.p);
    mk_compat_leave(before);
    return is_wanted ? MK_VERDICT_PASS : mk_reply_error(r, 403, NULL);
}

struct answer {
    unsigned status;
    const char *content;
    unsigned long len;
};

/* @return whether the program answers. */
static bool ask(struct session *s, const char *vhost, const struct mk_request_facts *facts,
                const char *query, struct answer *answer)
{
    const struct mk_compat *before = mk_compat_enter(&s->m->c);
    const struct mk_compat_bytes *body = &s->body;
    const bool has_body = facts->content_length != 0;
    int done;

    *answer = (struct answer){.status = 200, .content = ""};
    done = s->m->data(s, vhost, facts->path.p, query, query ? facts->query.len : 0,
                      has_body ? body->p : NULL, body->len, &answer->status, &answer->content,
                      &answer->len, s->header);
    mk_compat_leave(before);
    return done != MKLIB_FALSE;
}

static enum mk_verdict reply(struct session *s, const struct answer *answer)
{
    const struct mk_str lines = {s->header, strnlen(s->header, HEADER_ROOM)};
    const char *content = answer->content;
    int err;

    if (!content && answer->len > 0) {
        mk_request_log(s->r, MK_LOG_ERROR, "cb_data gave a length without content");
        return mk_reply_error(s->r, 500, NULL);
    }
    if (answer->len > 0 && answer->len <= COPIED_MOST) {
        if (!mk_compat_bytes_add(&s->content, content, answer->len))
            return mk_reply_error(s->r, 503, NULL);
        content = s->content.p;
        mk_request_hold(s->r, s->content.room);
    }
    err = mk_compat_reply(s->r, answer->status, lines, (int64_t)answer->len);
    if (err == MK_E_INVALID && answer->status - 200 >= 400) {
        mk_request_log(s->r, MK_LOG_ERROR, "cb_data gave the status %u", answer->status);
        return mk_reply_error(s->r, 500, NULL);
    }
    if (err == 0 && answer->len > 0)
        (void)!mk_reply_memory(s->r, (struct mk_str){content, answer->len});
    return MK_VERDICT_DONE;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct plan *plan = ctx->config;
    struct session *s = session_of(r, plan->m);
    const char *query = NULL;
    struct answer answer;
    enum mk_verdict verdict;

    (void)data;
    if (!s)
        return mk_reply_error(r, 503, NULL);
    mk_request_facts(r, &facts);
    if (facts.content_length != 0) {
        verdict = mk_compat_body(&s->body, r);
        if (verdict != MK_VERDICT_PASS)
            return verdict;
        mk_request_facts(r, &facts);
    }
    if (facts.query.p) {
        query = mk_request_printf(r, "%.*s", (int)facts.query.len, facts.query.p);
        if (!query)
            return mk_reply_error(r, 503, NULL);
    }
    return ask(s, ctx->site, &facts, query, &answer) ? reply(s, &answer) : MK_VERDICT_PASS;
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    const struct plan *plan = ctx->config;
    struct session *s = mk_request_kept(r, &mk_mklib_plugin);
    const struct mk_compat *before;

    if (!s)
        return;
    before = mk_compat_enter(&plan->m->c);
    plan->m->close(s);
    mk_compat_leave(before);
}

const struct mk_plugin mk_mklib_plugin = {
    MK_PLUGIN("mklib", "callbacks of a program for libmonkey.h"),
    .check = check,
    .check_site = check_site,
    .start = start,
    .worker_start = worker_start,
    .on_accept = on_accept,
    .on_request = on_request,
    .on_handle = on_handle,
    .on_finish = on_finish,
};

int mklib_get_request_header(const mklib_session *session, const char *key, char **value)
{
    const struct session *s = session;
    struct mk_str field;

    if (!s || !key || !value) {
        mk_compat_warn(__func__, "an argument is NULL");
        return -1;
    }
    *value = NULL;
    field = mk_request_header(s->r, mk_str_from(key));
    if (field.len > 0)
        *value = strndup(field.p, field.len);
    return field.len == 0 || *value ? 0 : -1;
}
