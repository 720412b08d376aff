/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/1.8/mk_lib_int.h"

#include <monkey/events.h>

#include <stdlib.h>

/* Callbacks of workers, and messages to them. */

int mk_worker_callback(mk_ctx_t *ctx, void (*cb_func)(void *data), void *data)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_lib_worker_callback *callback = NULL, **at;

    if (!c)
        return -1;
    if (cb_func)
        callback = calloc(1, sizeof(*callback));
    if (callback) {
        *callback = (struct mk_lib_worker_callback){.cb = cb_func, .data = data};
        for (at = &mk_lib_of(c)->callbacks; *at; at = &(*at)->next)
            ;
        *at = callback;
    } else {
        mk_compat_warn(__func__, cb_func ? "out of memory" : "the function is NULL");
    }
    mk_compat_put(c);
    return callback ? 0 : -1;
}

void mk_lib_free_queues(struct mk_lib *lib)
{
    while (lib->queues) {
        struct mk_fifo_queue *q = lib->queues;

        lib->queues = q->next;
        free(q->name);
        free(q);
    }
}

/* @return NULL after a warning. */
static struct mk_fifo_queue *make_queue(const struct mk_lib *lib, const char *name,
                                        const char *call)
{
    struct mk_fifo_queue *q = NULL;

    for (q = lib->queues; q; q = q->next) {
        if (strcmp(q->name, name) == 0) {
            mk_compat_warn(call, "there is a queue \"%s\" already", name);
            return NULL;
        }
    }
    q = calloc(1, sizeof(*q));
    if (q)
        q->name = strdup(name);
    if (q && q->name)
        return q;
    mk_compat_warn(call, "out of memory");
    free(q);
    return NULL;
}

int mk_mq_create(mk_ctx_t *ctx, const char *name,
                 void (*cb)(mk_mq_t *queue, void *message, size_t size, void *data), void *data)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    struct mk_fifo_queue *q = NULL, **at;
    int qid = 0;

    if (!c)
        return -1;
    if (name && cb)
        q = make_queue(mk_lib_of(c), name, __func__);
    else
        mk_compat_warn(__func__, "an argument is NULL");
    if (q) {
        q->cb = cb;
        q->data = data;
        q->lib = mk_lib_of(c);
        for (at = &mk_lib_of(c)->queues; *at; at = &(*at)->next)
            qid++;
        *at = q;
    }
    mk_compat_put(c);
    return q ? qid : -1;
}

/* Behind it a copy for each worker: a callback may write to its own. */
struct message {
    struct mk_fifo_queue *queue;
    atomic_uint workers; /* that have not got it */
    size_t size;
    max_align_t bytes[];
};

static size_t room_of(size_t size)
{
    return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
}

static void deliver(struct mk_worker *w, void *arg)
{
    struct message *m = arg;

    if (mk_lib_is_on(w)) {
        const struct mk_compat *before = mk_compat_enter(&m->queue->lib->c);

        m->queue->cb(m->queue, m->bytes + mk_worker_index(w) * room_of(m->size), m->size,
                     m->queue->data);
        mk_compat_leave(before);
    }
    if (atomic_fetch_sub(&m->workers, 1) == 1)
        free(m);
}

static int send_to_all(struct mk_server *server, struct mk_fifo_queue *queue, const void *bytes,
                       size_t size)
{
    const unsigned workers = mk_server_workers(server);
    const size_t room = room_of(size);
    struct message *m;

    if (room > SIZE_MAX / 2 / sizeof(max_align_t) / workers)
        return MK_E_NOMEM;
    m = malloc(sizeof(*m) + workers * room * sizeof(max_align_t));
    if (!m)
        return MK_E_NOMEM;
    m->queue = queue;
    m->size = size;
    atomic_init(&m->workers, workers);
    for (unsigned i = 0; i < workers && size > 0; i++)
        memcpy(m->bytes + i * room, bytes, size);
    if (mk_server_each_worker(server, deliver, m) == 0)
        return 0;
    free(m);
    return MK_E_NOMEM;
}

int mk_mq_send(mk_ctx_t *ctx, int qid, const void *message, size_t size)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    struct mk_fifo_queue *q;
    int err = MK_E_INVALID;

    if (!c)
        return -1;
    q = qid < 0 ? NULL : mk_lib_of(c)->queues;
    for (int i = 0; q && i < qid; i++)
        q = q->next;
    if (!q)
        mk_compat_warn(__func__, "there is no queue %d", qid);
    else if (!message && size > 0)
        mk_compat_warn(__func__, "the message is NULL");
    else if (c->state != MK_COMPAT_RUNNING)
        mk_compat_warn(__func__, "the server does not run");
    else
        err = send_to_all(c->server, q, message, size);
    if (err == MK_E_NOMEM)
        mk_compat_warn(__func__, "out of memory");
    mk_compat_put(c);
    return err < 0 ? -1 : 0;
}
