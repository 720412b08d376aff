/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/extension.h"

#include "base/heap.h"
#include "server/worker/shared.h"

static struct mk_extension *find(struct mk_extension *list, const struct mk_extension_kind *kind)
{
    while (list && list->kind != kind)
        list = list->next;
    return list;
}

static void free_one(struct mk_extension *e)
{
    e->kind->fini(e);
    mk_heap_free(e);
}

/* Two threads may make one at the same time: the first keeps it. */
static struct mk_extension *add(struct mk_shared *shared, struct mk_extension *e)
{
    struct mk_extension *list = atomic_load_explicit(&shared->extensions, memory_order_acquire);

    do {
        struct mk_extension *other = find(list, e->kind);

        if (other) {
            free_one(e);
            return other;
        }
        e->next = list;
    } while (!atomic_compare_exchange_weak_explicit(&shared->extensions, &list, e,
                                                    memory_order_acq_rel, memory_order_acquire));
    return e;
}

struct mk_extension *mk_shared_extension(struct mk_shared *shared,
                                         const struct mk_extension_kind *kind)
{
    struct mk_extension *e =
        find(atomic_load_explicit(&shared->extensions, memory_order_acquire), kind);

    if (e)
        return e;
    e = mk_heap_zalloc(1, kind->size);
    if (!e)
        return NULL;
    e->kind = kind;
    kind->init(e);
    return add(shared, e);
}

MK_AT_START void mk_extensions_end(struct mk_shared *shared)
{
    for (struct mk_extension *e = atomic_load(&shared->extensions); e; e = e->next) {
        if (e->kind->end)
            e->kind->end(e);
    }
}

MK_AT_START void mk_extensions_free(struct mk_shared *shared)
{
    struct mk_extension *e = atomic_load(&shared->extensions);

    while (e) {
        struct mk_extension *next = e->next;

        free_one(e);
        e = next;
    }
}
