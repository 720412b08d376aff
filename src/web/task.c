/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/task.h>

#include <monkey/events.h>

#include "base/heap.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/*
 * Work on the offload pool for a request. A task lives as long as the longer of its work and its request: each drops its
 * half on the worker's thread. Only the two atomics are the pool's too.
 */

struct mk_task_group {
    unsigned threads;
    unsigned most; /* tasks */
    atomic_uint tasks;
};

struct mk_task {
    struct mk_request *request;     /* NULL: it has ended */
    struct mk_offloaded *offloaded; /* while it is_running */
    struct mk_task_calls calls;
    void *arg;
    bool is_running;       /* from its start until its worker knows that work has ended */
    atomic_bool is_taken;  /* work has begun, or the request has ended before */
    atomic_bool is_wanted; /* the request has not ended */
};

static const char task_key;

/* ---- groups ---- */

static struct mk_task_limits limits_of(const struct mk_task_limits *from)
{
    struct mk_task_limits limits = {0};

    if (from)
        memcpy(&limits, from, from->size < sizeof(limits) ? from->size : sizeof(limits));
    return limits;
}

int mk_task_group_new(struct mk_task_group **group, const struct mk_task_limits *limits)
{
    const struct mk_task_limits own = limits_of(limits);

    if (!group)
        return MK_E_INVALID;
    *group = mk_heap_zalloc(1, sizeof(**group));
    if (!*group)
        return MK_E_NOMEM;
    (*group)->threads = own.threads;
    (*group)->most = own.tasks > 0 ? own.tasks : UINT_MAX;
    return 0;
}

void mk_task_group_free(struct mk_task_group *group)
{
    mk_heap_free(group);
}

static void leave(struct mk_task_group *group)
{
    if (group)
        atomic_fetch_sub(&group->tasks, 1);
}

static bool enter(struct mk_task_group *group)
{
    if (!group || atomic_fetch_add(&group->tasks, 1) < group->most)
        return true;
    leave(group);
    return false;
}

/* ---- the end ---- */

static void free_task(struct mk_task *t)
{
    if (t->calls.end)
        t->calls.end(t->arg);
    mk_heap_free(t);
}

/* A thread has come to it already and will find nothing to do. */
static void give_up(struct mk_task *t)
{
    leave(t->calls.group);
    t->calls.group = NULL;
    if (t->calls.end)
        t->calls.end(t->arg);
    t->calls.end = NULL;
}

static void on_request_end(void *arg)
{
    struct mk_task *t = arg;

    t->request = NULL;
    atomic_store(&t->is_wanted, false);
    if (t->is_running && mk_offload_drop(t->offloaded)) {
        leave(t->calls.group);
        t->is_running = false;
    }
    if (!t->is_running)
        free_task(t);
    else if (!atomic_exchange(&t->is_taken, true))
        give_up(t);
}

static void answer(struct mk_request *r, const struct mk_task *t)
{
    const enum mk_verdict verdict = t->calls.answer(r, t->arg);

    if (verdict == MK_VERDICT_LATER)
        return;
    if (verdict != MK_VERDICT_DONE) {
        mk_request_log(r, MK_LOG_ERROR, "task without an answer: verdict %d", (int)verdict);
        (void)mk_reply_error(r, 500, NULL);
    }
    mk_request_resume(r);
}

/* ---- work ---- */

static void work(void *arg)
{
    struct mk_task *t = arg;

    if (!atomic_exchange(&t->is_taken, true))
        t->calls.work(t, t->arg);
}

static void done(void *arg)
{
    struct mk_task *t = arg;

    t->is_running = false;
    leave(t->calls.group);
    if (t->request)
        answer(t->request, t);
    else
        free_task(t);
}

/* ---- the start ---- */

bool mk_task_is_wanted(const struct mk_task *t)
{
    return t && atomic_load(&t->is_wanted);
}

bool mk_task_runs(const struct mk_request *r)
{
    const struct mk_task *t = r ? mk_request_kept(r, &task_key) : NULL;

    return t && t->is_running;
}

/* @return a task that the request holds, without work; NULL without memory. */
static struct mk_task *new_task(struct mk_request *r)
{
    struct mk_task *t = mk_heap_zalloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->request = r;
    atomic_init(&t->is_taken, false);
    atomic_init(&t->is_wanted, true);
    if (mk_request_on_end(r, on_request_end, t) < 0) {
        mk_heap_free(t);
        return NULL;
    }
    return mk_request_keep(r, &task_key, t) == 0 ? t : NULL;
}

static struct mk_task_calls calls_of(const struct mk_task_calls *from)
{
    struct mk_task_calls calls = {0};

    memcpy(&calls, from, from->size < sizeof(calls) ? from->size : sizeof(calls));
    return calls;
}

/* Tasks of one group take turns with those of others, and so do those of one kind without a group. */
static const void *lane_of(const struct mk_task_calls *calls)
{
    if (calls->group)
        return calls->group;
    return calls->kind ? calls->kind : (const void *)(uintptr_t)calls->work;
}

static struct mk_work work_of(struct mk_task *t)
{
    const struct mk_task_group *group = t->calls.group;
    const struct mk_work own = {
        .size = sizeof(own),
        .kind = MK_WORK_HANDLER,
        .lane = lane_of(&t->calls),
        .most = group ? group->threads : 0,
        .work = work,
        .done = done,
        .arg = t,
    };

    return own;
}

static int run(struct mk_request *r, struct mk_task *t)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct mk_work own = work_of(t);
    int err;

    if (!enter(t->calls.group))
        return MK_E_BUSY;
    mk_request_facts(r, &facts);
    t->is_running = true;
    err = mk_offload_work(facts.worker, &own, &t->offloaded);
    if (err == 0)
        return 0;
    t->is_running = false;
    leave(t->calls.group);
    return err;
}

int mk_task_start(struct mk_request *r, const struct mk_task_calls *calls, void *arg)
{
    struct mk_task_calls own;
    struct mk_task *t;
    int err;

    if (!r || !calls)
        return MK_E_INVALID;
    own = calls_of(calls);
    if (!own.work || !own.answer)
        return MK_E_INVALID;
    if (mk_task_runs(r))
        return MK_E_EXISTS;
    t = new_task(r);
    if (!t)
        return MK_E_NOMEM;
    t->calls = own;
    t->arg = arg;
    err = run(r, t);
    if (err < 0)
        t->calls.end = NULL; /* the request frees the task, and the caller its argument */
    return err;
}
