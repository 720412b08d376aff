/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/worker.h"

#include <monkey/events.h>

/* Calls brought to a worker from another thread. */

struct call {
    struct mk_post post;
    struct mk_worker *worker;
    void (*fn)(struct mk_worker *w, void *arg);
    void *arg;
};

static void make_call(struct mk_post *post)
{
    struct call call = *MK_CONTAINER_OF(post, struct call, post);

    mk_heap_free(MK_CONTAINER_OF(post, struct call, post));
    call.fn(call.worker, call.arg);
}

static struct call *new_call(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg),
                             void *arg)
{
    struct call *call = mk_heap_alloc(sizeof(*call));

    if (call)
        *call = (struct call){.post = {.fn = make_call}, .worker = w, .fn = fn, .arg = arg};
    return call;
}

int mk_worker_post(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg), void *arg)
{
    struct call *call = new_call(w, fn, arg);

    if (!call)
        return MK_E_NOMEM;
    mk_loop_post(&w->loop, &call->post);
    return 0;
}

int mk_server_each_worker(struct mk_server *server, void (*fn)(struct mk_worker *w, void *arg),
                          void *arg)
{
    const struct mk_shared *shared = mk_shared_of(server);
    struct mk_post *made = NULL, *next;
    unsigned count = 0;

    while (count < shared->nworkers) {
        struct call *call = new_call(shared->workers[count], fn, arg);

        if (!call)
            break;
        call->post.next = made;
        made = &call->post;
        count++;
    }
    for (; made; made = next) {
        struct call *call = MK_CONTAINER_OF(made, struct call, post);

        next = made->next;
        if (count == shared->nworkers)
            mk_loop_post(&call->worker->loop, made);
        else
            mk_heap_free(call);
    }
    return count == shared->nworkers ? 0 : MK_E_NOMEM;
}
