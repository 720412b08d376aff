/* SPDX-License-Identifier: Apache-2.0 */
#include "server/route/stage.h"

#include "core/fd.h"
#include "server/answer/reply.h"
#include "server/request/request_state.h"
#include "server/route/route.h"
#include "server/worker/worker.h"

static const char *const stage_names[] = {
    [MK_STAGE_REQUEST] = "on_request",
    [MK_STAGE_HANDLE] = "on_handle",
    [MK_STAGE_DIRECTORY] = "on_directory",
};

static void complain(const struct mk_request *r, const struct mk_hooked *who, enum mk_stage stage,
                     const char *what)
{
    mk_log_peer(mk_worker_log(r->worker), MK_LOG_ERROR, MK_LOG_PLUGIN,
                "plugin misbehaved plugin=%s hook=%s conn=%llu what=\"%s\"", who->plugin->name,
                stage_names[stage], (unsigned long long)r->id, what);
}

/* Nothing of an answer may have left that can be taken back; what was begun is forgotten. */
static void answer_instead(struct mk_request *r)
{
    mk_reply_forget(r);
    mk_reply_refuse(r, MK_REFUSAL_HANDLER);
}

/* @return whether the verdict settles the matter: nobody else is to be asked. */
static bool settle(struct mk_request *r, const struct mk_hooked *who, enum mk_stage stage,
                   size_t hook, enum mk_verdict verdict)
{
    if (mk_answering_is_broken(r))
        return true;
    r->asked = who->plugin;
    switch (verdict) {
    case MK_VERDICT_PASS:
        if (r->status == 0)
            return false;
        complain(r, who, stage, "returned PASS for a request that it had answered");
        if (r->answering < MK_ANSWERING_BODY)
            answer_instead(r);
        return true;
    case MK_VERDICT_DONE:
        if (r->answering >= MK_ANSWERING_BODY)
            return true;
        complain(r, who, stage, "returned DONE without an answer");
        answer_instead(r);
        return true;
    case MK_VERDICT_LATER:
        mk_asking_park(r, stage);
        r->hook = (uint16_t)hook;
        return true;
    case MK_VERDICT_CLOSE:
        mk_answering_break(r);
        mk_asking_go(r, MK_ASKING_DROPPED);
        return true;
    }
    complain(r, who, stage, "returned an unknown verdict");
    answer_instead(r);
    return true;
}

static const struct mk_context *context_of(const struct mk_request *r, const struct mk_hooked *who)
{
    return mk_view_context(r->view, r->site, who->index);
}

static bool acts_on(const struct mk_request *r, const struct mk_hooked *who, struct mk_str path)
{
    return !who->is_limited || mk_site_is_within(r->site, who, path);
}

/* What was asked for, before an index or fallback file took its place. */
static struct mk_str asked_path(const struct mk_request *r)
{
    return r->request_path.p ? r->request_path : r->path;
}

/* A rule's place is its place however an application behind the site reads the path. Without memory for that it holds. */
static bool rules_on(struct mk_request *r, const struct mk_hooked *who)
{
    struct mk_str path;
    int more;

    if (!who->is_limited)
        return true;
    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        if (mk_site_is_within(r->site, who, path))
            return true;
    }
    return more < 0;
}

bool mk_stage_request(struct mk_request *r, size_t from)
{
    const struct mk_hooks *hooks = &r->site->on_request;

    for (size_t i = from; i < hooks->count; i++) {
        const struct mk_hooked *who = &hooks->items[i];

        enum mk_verdict verdict;

        if (!rules_on(r, who))
            continue;
        mk_worker_calls(r->worker, who->plugin, stage_names[MK_STAGE_REQUEST]);
        verdict = who->plugin->on_request(r, context_of(r, who));
        mk_worker_left(r->worker);
        if (settle(r, who, MK_STAGE_REQUEST, i, verdict))
            return true;
    }
    return false;
}

bool mk_stage_handle(struct mk_request *r, size_t i)
{
    const struct mk_route *route = &r->site->routes[i];
    const struct mk_hooked *who = &route->who;

    enum mk_verdict verdict;

    r->hook = (uint16_t)i; /* whose pattern it may ask for: mk_request_matches */
    mk_worker_calls(r->worker, who->plugin, stage_names[MK_STAGE_HANDLE]);
    verdict = who->plugin->on_handle(r, context_of(r, who), route->data);
    mk_worker_left(r->worker);
    return settle(r, who, MK_STAGE_HANDLE, i, verdict);
}

bool mk_stage_directory(struct mk_request *r, int (*open)(void *arg), void *arg)
{
    const struct mk_hooks *hooks = &r->site->on_directory;
    bool settled = false;
    int fd;

    if (hooks->count == 0)
        return false;
    fd = open(arg);
    if (fd < 0)
        return false;
    for (size_t i = r->directory_from; !settled && i < hooks->count; i++) {
        const struct mk_hooked *who = &hooks->items[i];

        enum mk_verdict verdict;

        if (!acts_on(r, who, r->path))
            continue;
        mk_worker_calls(r->worker, who->plugin, stage_names[MK_STAGE_DIRECTORY]);
        verdict = who->plugin->on_directory(r, context_of(r, who), fd);
        mk_worker_left(r->worker);
        settled = settle(r, who, MK_STAGE_DIRECTORY, i, verdict);
    }
    mk_fd_close(&fd);
    return settled;
}

void mk_stage_finish(struct mk_request *r)
{
    const struct mk_hooks *hooks = &r->site->on_finish;

    for (size_t i = 0; i < hooks->count; i++) {
        const struct mk_hooked *who = &hooks->items[i];

        if (!acts_on(r, who, asked_path(r)))
            continue;
        mk_worker_calls(r->worker, who->plugin, "on_finish");
        who->plugin->on_finish(r, context_of(r, who));
        mk_worker_left(r->worker);
    }
}
