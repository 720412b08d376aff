/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/extension.h"
#include "server/worker/shared.h"

#include <monkey/events.h>

/* What stays of a server for those who may come late. Under its lock the server ends, and calls are posted to it. */

struct mk_server_handle {
    _Atomic unsigned refs;
    pthread_mutex_t lock;
    struct mk_server *server; /* NULL: it has ended */
};

/* The server's own reference. */
struct own {
    struct mk_extension extension;
    struct mk_server_handle *_Atomic handle; /* NULL: nobody has asked for one */
};

static struct own *own_of(struct mk_extension *e)
{
    return MK_CONTAINER_OF(e, struct own, extension);
}

MK_AT_START static void init_own(struct mk_extension *e)
{
    atomic_init(&own_of(e)->handle, NULL);
}

MK_AT_START static void end_own(struct mk_extension *e)
{
    struct mk_server_handle *h = atomic_load(&own_of(e)->handle);

    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->server = NULL;
    pthread_mutex_unlock(&h->lock);
}

MK_AT_START static void fini_own(struct mk_extension *e)
{
    mk_server_handle_put(atomic_load(&own_of(e)->handle));
}

static const struct mk_extension_kind kind = {
    .size = sizeof(struct own), .init = init_own, .end = end_own, .fini = fini_own};

MK_AT_START static struct mk_server_handle *new_handle(struct mk_server *server)
{
    struct mk_server_handle *h = mk_heap_zalloc(1, sizeof(*h));

    if (!h)
        return NULL;
    atomic_init(&h->refs, 1);
    pthread_mutex_init(&h->lock, NULL);
    h->server = server;
    return h;
}

/* Two threads may make one at the same time: the first keeps it. */
MK_AT_START static struct mk_server_handle *make_handle(struct own *own, struct mk_server *server)
{
    struct mk_server_handle *h = new_handle(server), *other = NULL;

    if (!h || atomic_compare_exchange_strong(&own->handle, &other, h))
        return h;
    mk_server_handle_put(h);
    return other;
}

MK_AT_START struct mk_server_handle *mk_server_handle(struct mk_server *server)
{
    struct mk_extension *e = mk_shared_extension(mk_shared_of(server), &kind);
    struct mk_server_handle *h = e ? atomic_load(&own_of(e)->handle) : NULL;

    if (e && !h)
        h = make_handle(own_of(e), server);
    if (h)
        atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
    return h;
}

/* A handle with references has an address of its own, which a server may share with an earlier one. */
bool mk_server_handle_is_of(const struct mk_server_handle *h, struct mk_server *server)
{
    struct mk_extension *e = h ? mk_shared_extension(mk_shared_of(server), &kind) : NULL;

    return e && atomic_load_explicit(&own_of(e)->handle, memory_order_relaxed) == h;
}

void mk_server_handle_put(struct mk_server_handle *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&h->lock);
    mk_heap_free(h);
}

int mk_server_handle_each_worker(struct mk_server_handle *h,
                                 void (*fn)(struct mk_worker *w, void *arg), void *arg)
{
    int err = MK_E_PEER;

    pthread_mutex_lock(&h->lock);
    if (h->server)
        err = mk_server_each_worker(h->server, fn, arg);
    pthread_mutex_unlock(&h->lock);
    return err;
}
