/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include <stdatomic.h>

/* Work with a database on a thread of the server, while the request is parked. */

struct later {
    atomic_int refs;      /* of the request and of the task */
    atomic_bool has_left; /* the request has ended */
    bool is_transaction;
    int result;
    sqlite_pool_t *pool;
    struct sqlite_work calls;
};

static void put(struct later *l)
{
    if (atomic_fetch_sub(&l->refs, 1) > 1)
        return;
    if (l->calls.release)
        l->calls.release(l->calls.arg);
    mem->free(l);
}

static bool is_wanted(void *of)
{
    struct later *l = of;

    return !atomic_load(&l->has_left);
}

static void work(void *arg)
{
    struct later *l = arg;

    l->result = l->is_transaction
                    ? sqlite_pool_transaction(l->pool, l->calls.work, l->calls.arg, is_wanted, l)
                    : l->calls.work(l->pool, l->calls.arg);
}

static void answer(duda_request_t *dr, void *arg)
{
    struct later *l = arg;

    l->calls.done(dr, l->result, l->calls.arg);
}

static void on_task_end(void *arg)
{
    put(arg);
}

static void on_request_end(void *arg)
{
    struct later *l = arg;

    atomic_store(&l->has_left, true);
    put(l);
}

static int start(duda_request_t *dr, struct later *l)
{
    if (gc->call(dr, on_request_end, l) < 0) {
        mem->free(l);
        return -1;
    }
    if (task->run(dr, work, answer, on_task_end, l) == 0)
        return 0;
    l->calls.release = NULL; /* arg stays the caller's */
    put(l);
    return -1;
}

int sqlite_later(duda_request_t *dr, sqlite_pool_t *pool, bool is_transaction,
                 const struct sqlite_work *calls)
{
    struct later *l = pool && calls->work && calls->done ? mem->alloc(sizeof(*l)) : NULL;

    if (!l)
        return -1;
    *l = (struct later){.is_transaction = is_transaction, .pool = pool, .calls = *calls};
    atomic_init(&l->refs, 2);
    atomic_init(&l->has_left, false);
    return start(dr, l);
}
