/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/worker.h"

#include "objects/events/dthread.h"
#include "objects/events/global.h"
#include "service/request.h"

#include <signal.h>

struct task {
    struct task *next;
    void *(*func)(void *);
    void (*hook)(void *); /* of pre_loop, in place of func */
    void *arg;
};

/* What duda_main() asked for. */
struct tasks {
    struct task *threads, **last_thread;
    struct task *hooks, **last_hook;
};

static struct tasks *tasks_of(const struct mk_duda_service *s)
{
    return mk_duda_state(s, MK_DUDA_PART_WORKER);
}

/* ---- threads ---- */

struct beginning {
    struct mk_duda_service *service;
    void *(*func)(void *);
    void *arg;
};

static void *run(void *arg)
{
    struct beginning b = *(struct beginning *)arg;

    free(arg);
    (void)mk_duda_enter(b.service, NULL);
    mk_duda_global_begin(b.service);
    (void)b.func(b.arg);
    if (mk_duda_try_get(b.service)) {
        mk_duda_log(b.service, MK_LOG_WARN, "a thread of worker->spawn() has ended");
        mk_duda_put(b.service);
    }
    return NULL;
}

static int start_detached(struct beginning *b, pthread_t *thread)
{
    pthread_attr_t attr;
    sigset_t all, before;
    int err;

    if (pthread_attr_init(&attr) != 0)
        return -1;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all); /* signals are for the server's own thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(thread, &attr, run, b);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return err == 0 ? 0 : -1;
}

int mk_duda_thread_start(void *(*func)(void *), void *arg, pthread_t *thread)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct beginning *b = s && func ? malloc(sizeof(*b)) : NULL;

    if (!b)
        return -1;
    *b = (struct beginning){s, func, arg};
    s->is_outlived = true;
    if (start_detached(b, thread) == 0)
        return 0;
    free(b);
    return -1;
}

/* ---- the object ---- */

static struct task *add_task(struct mk_duda_service *s, struct task ***last)
{
    struct task *task = mk_duda_alloc(s, sizeof(*task));

    if (!task)
        return NULL;
    **last = task;
    *last = &task->next;
    return task;
}

static int spawn_later(void *(*func)(void *), void *arg, struct mk_list *list)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct task *task;

    (void)list;
    if (!s || !func || !mk_duda_is_set_up(s, "worker->spawn"))
        return -1;
    task = add_task(s, &tasks_of(s)->last_thread);
    if (!task)
        return -1;
    task->func = func;
    task->arg = arg;
    return 0;
}

static void pre_loop(void (*func)(void *), void *arg)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct task *task;

    if (!s || !func || !mk_duda_is_set_up(s, "worker->pre_loop"))
        return;
    task = add_task(s, &tasks_of(s)->last_hook);
    if (task) {
        task->hook = func;
        task->arg = arg;
    }
}

const struct duda_api_worker mk_duda_worker = {
    ._spawn = spawn_later,
    .pre_loop = pre_loop,
};

/* ---- life ---- */

static int load(struct mk_duda_service *s)
{
    struct tasks *tasks = tasks_of(s);

    tasks->last_thread = &tasks->threads;
    tasks->last_hook = &tasks->hooks;
    return 0;
}

static int ready(struct mk_duda_service *s)
{
    pthread_t thread;

    for (const struct task *t = tasks_of(s)->threads; t; t = t->next)
        if (mk_duda_thread_start(t->func, t->arg, &thread) < 0)
            return mk_duda_refuse(s, "worker->spawn(): no thread can be started");
    return 0;
}

static int worker_start(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    (void)w;
    for (const struct task *t = tasks_of(s)->hooks; t; t = t->next)
        t->hook(t->arg);
    return 0;
}

static void worker_stop(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    (void)s;
    if (!w->listeners) /* no service is left on this thread */
        mk_duda_dthread_forget();
}

const struct mk_duda_part mk_duda_worker_part = {
    .service_size = sizeof(struct tasks),
    .load = load,
    .ready = ready,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
};
