/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/lru.h"

#include <stdlib.h>

bool lru_init(struct lru *map, size_t nbuckets)
{
    *map = (struct lru){.buckets = calloc(nbuckets, sizeof(map->buckets[0])), .nbuckets = nbuckets};
    return map->buckets != NULL;
}

void lru_fini(struct lru *map)
{
    free(map->buckets);
}

static void hang_up(struct lru_entry **buckets, size_t nbuckets, struct lru_entry *entry)
{
    struct lru_entry **bucket = &buckets[entry->hash & (nbuckets - 1)];

    entry->same = *bucket;
    *bucket = entry;
}

void lru_grow(struct lru *map)
{
    const size_t n = map->nbuckets * 2;
    struct lru_entry **buckets = map->count >= map->nbuckets ? calloc(n, sizeof(*buckets)) : NULL;

    if (!buckets)
        return;
    for (struct lru_entry *e = map->oldest; e; e = e->newer)
        hang_up(buckets, n, e);
    free(map->buckets);
    map->buckets = buckets;
    map->nbuckets = n;
}

static void leave_order(struct lru *map, struct lru_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &map->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &map->oldest) = entry->newer;
}

static void make_newest(struct lru *map, struct lru_entry *entry)
{
    entry->newer = NULL;
    entry->older = map->newest;
    *(map->newest ? &map->newest->newer : &map->oldest) = entry;
    map->newest = entry;
}

void lru_add(struct lru *map, struct lru_entry *entry)
{
    hang_up(map->buckets, map->nbuckets, entry);
    make_newest(map, entry);
    map->count++;
}

void lru_remove(struct lru *map, struct lru_entry *entry)
{
    struct lru_entry **at = &map->buckets[entry->hash & (map->nbuckets - 1)];

    while (*at != entry)
        at = &(*at)->same;
    *at = entry->same;
    leave_order(map, entry);
    map->count--;
}

void lru_use(struct lru *map, struct lru_entry *entry)
{
    leave_order(map, entry);
    make_newest(map, entry);
}
