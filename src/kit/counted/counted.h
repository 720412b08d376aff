/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_COUNTED_H
#define KIT_COUNTED_H

#include <monkey/types.h>

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * An object that outlives the configuration that made it: a reload hands it on to the next one, and workers, offloaded
 * jobs and requests hold it too. The object has a count as a member, and two functions of its own around it:
 *
 *     struct thing *thing_get(struct thing *t)      void thing_put(struct thing *t)
 *     {                                             {
 *         counted_get(&t->refs);                       if (t && counted_put(&t->refs))
 *         return t;                                         free_thing(t);
 *     }                                             }
 *
 * What runs at the end runs in the thread that gave back the last reference, and sees all that other threads wrote to the
 * object before they gave back theirs. Builds with assertions stop at a count that was given back too often.
 */
struct counted {
    atomic_uint refs;
};

/** @param refs  references that the maker hands out, > 0; mostly 1, its own */
static inline void counted_init(struct counted *c, unsigned refs)
{
    assert(refs > 0);
    atomic_init(&c->refs, refs);
}

/** One reference more, by a thread that has one or that keeps others from giving back the last. Any thread. */
static inline void counted_get(struct counted *c)
{
    unsigned before = atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);

    assert(before > 0 && before < UINT_MAX);
    (void)before;
}

/** Give back a reference. @return true: it was the last, and the caller ends the object now. Any thread. */
MK_MUST_USE static inline bool counted_put(struct counted *c)
{
    unsigned before = atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel);

    assert(before > 0);
    return before == 1;
}

#endif
