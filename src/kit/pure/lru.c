/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/lru.h"

#include <stdlib.h>

bool lru_init(struct lru *l, size_t nbuckets)
{
    *l =
        (struct lru){.buckets = calloc(nbuckets, sizeof(struct lru_entry *)), .nbuckets = nbuckets};
    return l->buckets != NULL;
}

void lru_fini(struct lru *l)
{
    free(l->buckets);
}

static void hang_up(struct lru_entry **buckets, size_t nbuckets, struct lru_entry *entry)
{
    struct lru_entry **bucket = &buckets[entry->hash & (nbuckets - 1)];

    entry->same = *bucket;
    *bucket = entry;
}

void lru_grow(struct lru *l)
{
    const size_t n = l->nbuckets * 2;
    struct lru_entry **buckets =
        l->count >= l->nbuckets ? calloc(n, sizeof(struct lru_entry *)) : NULL;

    if (!buckets)
        return;
    for (struct lru_entry *e = l->oldest; e; e = e->newer)
        hang_up(buckets, n, e);
    free(l->buckets);
    l->buckets = buckets;
    l->nbuckets = n;
}

static void leave_order(struct lru *l, struct lru_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &l->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &l->oldest) = entry->newer;
}

static void make_newest(struct lru *l, struct lru_entry *entry)
{
    entry->newer = NULL;
    entry->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = entry;
    l->newest = entry;
}

void lru_add(struct lru *l, struct lru_entry *entry)
{
    hang_up(l->buckets, l->nbuckets, entry);
    make_newest(l, entry);
    l->count++;
}

void lru_remove(struct lru *l, struct lru_entry *entry)
{
    struct lru_entry **at = &l->buckets[entry->hash & (l->nbuckets - 1)];

    while (*at != entry)
        at = &(*at)->same;
    *at = entry->same;
    leave_order(l, entry);
    l->count--;
}

void lru_use(struct lru *l, struct lru_entry *entry)
{
    leave_order(l, entry);
    make_newest(l, entry);
}
