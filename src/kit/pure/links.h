/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_LINKS_H
#define KIT_PURE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

/* A ring of entries of the caller's, in the order in which they were added. Each has a struct links as a member, and so has the ring. */

struct links {
    struct links *next, *prev;
};

/** A ring without entries, or an entry in no ring. */
static inline void links_init(struct links *l)
{
    l->next = l->prev = l;
}

static inline bool links_is_alone(const struct links *l)
{
    return l->next == l;
}

/** Add an entry that is in no ring as the last one. */
static inline void links_add(struct links *ring, struct links *entry)
{
    entry->prev = ring->prev;
    entry->next = ring;
    ring->prev->next = entry;
    ring->prev = entry;
}

/** Take an entry out of its ring, if it is in one. */
static inline void links_remove(struct links *entry)
{
    entry->prev->next = entry->next;
    entry->next->prev = entry->prev;
    links_init(entry);
}

/** The object whose member a pointer to struct links is. */
#define LINKS_OBJECT(links, type, member) ((type *)(void *)((char *)(links)-offsetof(type, member)))

#endif
