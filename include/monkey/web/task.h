/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_TASK_H
#define MONKEY_WEB_TASK_H

/*
 * Work of a request that blocks, such as a query to a database: it runs on a thread of the offload pool, and the answer is
 * given on the request's worker.
 *
 *     static void search(const struct mk_task *task, void *query);               blocks
 *     static enum mk_verdict show(struct mk_request *r, void *query);            answers
 *
 *     static enum mk_verdict items(struct mk_request *r, void *arg)
 *     {
 *         static const struct mk_task_calls calls = {
 *             .size = sizeof(calls), .work = search, .answer = show, .end = free};
 *         struct query *query;
 *         int err;
 *
 *         if (mk_task_runs(r))
 *             return MK_VERDICT_LATER;
 *         query = new_query(mk_path_value(r, MK_STR("id")));
 *         err = mk_task_start(r, &calls, query);
 *         if (err < 0)
 *             free(query);
 *         return err < 0 ? mk_reply_refusal(r, err) : MK_VERDICT_LATER;
 *     }
 *
 * A server has threads of low priority for tasks (HandlerThreads of the configuration: eight) and one queue (HandlerQueue: by
 * default it holds a task of each connection). A task waits there until a thread is free or its HandlerTimeout expires. Tasks
 * of one kind, which is their work function unless `kind` says another, keep their order; kinds take turns, and one thread
 * more than HandlerThreads serves only those that do not have all the others: a slow database delays no handler that does not
 * ask it.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_task;
struct mk_task_group;

/** What a task consists of. */
struct mk_task_calls {
    size_t size; /* sizeof(struct mk_task_calls) */
    struct mk_task_group
        *group; /* with which it takes turns and has bounds; NULL: those of its kind */
    /**
     * Does the work, on a thread of the pool; not called if the request has ended before, which frees the task's places
     * in its group and in the queue, and ends arg at once. It may block.
     *
     * The request may end at any moment, so no call that takes a request is allowed, nor texts that are borrowed from it:
     * copy what the work needs before mk_task_start. Allowed are mk_task_is_wanted, calls without a request or worker
     * (dates, tags, decoding of texts), and those whose comment says "Any thread", such as mk_worker_post and mk_server_log.
     */
    void (*work)(const struct mk_task *task, void *arg);
    /**
     * Answers, on the worker, after work; not called if the request has ended. Nothing else has run for the request since its
     * handler returned MK_VERDICT_LATER, and all calls of a handler are allowed.
     * @return MK_VERDICT_DONE: answered; MK_VERDICT_LATER: another task was started. Any other is logged and answered with 500.
     */
    enum mk_verdict (*answer)(struct mk_request *r, void *arg);
    /**
     * Ends arg: once for each task that was started, after work and after the request, so that an answer may send
     * memory of arg. On the worker; after the worker has ended, on the thread that frees the server. NULL: nothing to do.
     */
    void (*end)(void *arg);
    const void *
        kind; /* without a group: tasks of one kind take turns as one; any address, compared only; NULL: that of work */
};

/**
 * Start a task for a request that has no other, in its handler, which then returns MK_VERDICT_LATER. The time of the task
 * counts for HandlerTimeout: mk_request_timeout changes it. A client that closes its connection is noticed while the task
 * runs; one that ends only its sending half, with mk_request_ends_on_hangup. A graceful stop waits for the request,
 * and mk_server_free for work that has begun. A request that has begun keeps its handler over a reload, and so do its tasks.
 * @param calls  copied, except for the group
 * @return 0; MK_E_BUSY: the queue or the group is full (mk_reply_refusal answers with 503); MK_E_EXISTS: a task
 *         of this request has not ended; MK_E_INVALID: work or answer is NULL, or there are no calls; MK_E_NOMEM. On error none of the functions
 *         is called, and arg stays the caller's.
 */
MK_API int mk_task_start(struct mk_request *r, const struct mk_task_calls *calls,
                         void *arg) MK_MUST_USE;

/**
 * @return whether a task of this request waits or runs. The handler that started it is called again when more of an
 *         unread body arrives: it returns MK_VERDICT_LATER.
 */
MK_API bool mk_task_runs(const struct mk_request *r) MK_MUST_USE;

/** @return false: the request has ended, and nobody needs the result. For work that takes long. Any thread, inside work. */
MK_API bool mk_task_is_wanted(const struct mk_task *task) MK_MUST_USE;

/** Bounds of a group. */
struct mk_task_limits {
    size_t size; /* sizeof(struct mk_task_limits) */
    unsigned
        threads; /* tasks that run at the same time in one server, such as a database's connections; the others wait. 0: HandlerThreads */
    unsigned
        tasks; /* tasks that wait or run at the same time; more are refused with MK_E_BUSY. 0: no bound but HandlerQueue */
};

/**
 * Make a group of tasks that take turns with others as one, whatever their work functions are.
 * @param limits  copied; NULL: all of them 0
 * @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
MK_API int mk_task_group_new(struct mk_task_group **group,
                             const struct mk_task_limits *limits) MK_MUST_USE;
/** Free it after the servers whose tasks use it. NULL is allowed. */
MK_API void mk_task_group_free(struct mk_task_group *group);

#ifdef __cplusplus
}
#endif

#endif
