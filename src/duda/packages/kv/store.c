/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <sys/random.h>

static const size_t bytes_by_default = (size_t)256 << 20;

int64_t kv_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool kv_lives(const struct kv_entry *entry, int64_t now_ms)
{
    return entry->expires_ms == 0 || now_ms < entry->expires_ms;
}

struct unqlite *kv_new(const struct kv_options *options)
{
    struct unqlite *store = calloc(1, sizeof(*store));

    if (!store)
        return NULL;
    store->options = *options;
    if (store->options.max_bytes == 0)
        store->options.max_bytes = bytes_by_default;
    store->path = options->path ? strdup(options->path) : NULL;
    if (!lru_init(&store->map, 64) || (options->path && !store->path) ||
        getrandom(store->seed, sizeof(store->seed), 0) != (ssize_t)sizeof(store->seed)) {
        kv_free(store);
        return NULL;
    }
    return store;
}

/* ---- keys ---- */

/* Clients choose keys: without the seed they cannot choose many of one slot. */
static uint64_t hash_of(const struct unqlite *store, const unsigned char *key, int len)
{
    uint64_t h = store->seed[0];

    for (int i = 0; i < len; i++) {
        h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29 ^ store->seed[1];
    }
    return h ^ h >> 32;
}

static struct kv_entry *of_use(struct lru_entry *use)
{
    return (struct kv_entry *)use;
}

/* @return it; NULL: there is none */
static struct kv_entry *entry_of(const struct unqlite *store, uint64_t hash, const void *key,
                                 int key_len)
{
    struct lru_entry *use = lru_first(&store->map, hash);

    while (use && (use->hash != hash || of_use(use)->key_len != key_len ||
                   memcmp(of_use(use)->key, key, (size_t)key_len) != 0))
        use = use->same;
    return of_use(use);
}

/* ---- order ---- */

static void link_order(struct unqlite *store, struct kv_entry *e)
{
    e->prev = store->last;
    if (e->prev)
        e->prev->next = e;
    else
        store->first = e;
    store->last = e;
}

static void unlink_order(struct unqlite *store, struct kv_entry *e)
{
    *(e->prev ? &e->prev->next : &store->first) = e->next;
    *(e->next ? &e->next->prev : &store->last) = e->prev;
}

static size_t size_of(int key_len, size_t len)
{
    return sizeof(struct kv_entry) + (size_t)key_len + len;
}

void kv_remove(struct unqlite *store, struct kv_entry *entry)
{
    for (struct unqlite_kv_cursor *c = store->cursors; c; c = c->next) {
        if (c->at != entry)
            continue;
        c->at = entry->next;
        c->has_moved = true;
    }
    lru_remove(&store->map, &entry->use);
    unlink_order(store, entry);
    store->bytes -= size_of(entry->key_len, entry->len);
    free(entry->data);
    free(entry);
}

void kv_free(struct unqlite *store)
{
    struct unqlite_kv_cursor *c;

    if (!store)
        return;
    while ((c = store->cursors)) {
        store->cursors = c->next;
        free(c);
    }
    while (store->first)
        kv_remove(store, store->first);
    lru_fini(&store->map);
    free(store->path);
    free(store);
}

struct kv_entry *kv_find(struct unqlite *store, const void *key, int key_len)
{
    struct kv_entry *e = entry_of(store, hash_of(store, key, key_len), key, key_len);

    if (e && !kv_lives(e, kv_now())) {
        kv_remove(store, e);
        return NULL;
    }
    if (e)
        lru_use(&store->map, &e->use);
    return e;
}

/* ---- bounds ---- */

static bool fits(const struct unqlite *store, size_t more, size_t entries)
{
    const struct kv_options *o = &store->options;

    return more <= o->max_bytes && store->bytes <= o->max_bytes - more &&
           (o->max_entries == 0 || store->map.count + entries <= o->max_entries);
}

/* Remove all whose time is over, but not for each call of a full store. */
static void sweep(struct unqlite *store, const struct kv_entry *spared)
{
    const int64_t now = kv_now();

    if (store->swept_ms && now < store->swept_ms + 1000)
        return;
    store->swept_ms = now;
    for (struct kv_entry *e = store->first, *next; e; e = next) {
        next = e->next;
        if (e != spared && !kv_lives(e, now))
            kv_remove(store, e);
    }
}

/* @return whether there is room. @param spared  an entry that must stay; NULL: none */
static bool make_room(struct unqlite *store, size_t more, size_t entries,
                      const struct kv_entry *spared)
{
    if (fits(store, more, entries))
        return true;
    sweep(store, spared);
    if (!store->options.evicts || more > store->options.max_bytes)
        return fits(store, more, entries);
    while (!fits(store, more, entries)) {
        struct kv_entry *e = of_use(store->map.oldest);

        if (!e || e == spared)
            return false;
        kv_remove(store, e);
    }
    return true;
}

/* ---- entries ---- */

static struct kv_entry *new_entry(struct unqlite *store, const void *key, int key_len)
{
    struct kv_entry *e = calloc(1, sizeof(*e) + (size_t)key_len);

    if (!e)
        return NULL;
    e->key_len = key_len;
    memcpy(e->key, key, (size_t)key_len);
    e->use.hash = hash_of(store, key, key_len);
    lru_grow(&store->map);
    lru_add(&store->map, &e->use);
    link_order(store, e);
    store->bytes += size_of(key_len, 0);
    return e;
}

static int append(struct unqlite *store, struct kv_entry *e, const void *bytes, size_t len)
{
    char *grown;

    if (len == 0)
        return UNQLITE_OK;
    if (!make_room(store, len, 0, e))
        return UNQLITE_NOMEM;
    grown = realloc(e->data, e->len + len);
    if (!grown)
        return UNQLITE_NOMEM;
    memcpy(grown + e->len, bytes, len);
    e->data = grown;
    e->len += len;
    store->bytes += len;
    return UNQLITE_OK;
}

/* The old value stays if there is no room for the new one. */
static int replace(struct unqlite *store, struct kv_entry *e, const void *bytes, size_t len)
{
    const size_t more = len > e->len ? len - e->len : 0;
    char *copy = len > 0 ? malloc(len) : NULL;

    if ((len > 0 && !copy) || !make_room(store, more, 0, e)) {
        free(copy);
        return UNQLITE_NOMEM;
    }
    if (len > 0)
        memcpy(copy, bytes, len);
    store->bytes = store->bytes - e->len + len;
    free(e->data);
    e->data = copy;
    e->len = len;
    return UNQLITE_OK;
}

int kv_put(struct unqlite *store, const void *key, int key_len, const void *bytes, size_t len,
           int64_t expires_ms, bool appends)
{
    struct kv_entry *e = kv_find(store, key, key_len);
    const bool is_new = !e;
    int result;

    if (len > store->options.max_bytes)
        return UNQLITE_NOMEM;
    if (is_new)
        e = make_room(store, size_of(key_len, len), 1, NULL) ? new_entry(store, key, key_len)
                                                             : NULL;
    if (!e)
        return UNQLITE_NOMEM;
    result = appends ? append(store, e, bytes, len) : replace(store, e, bytes, len);
    if (is_new && result != UNQLITE_OK)
        kv_remove(store, e);
    else if (result == UNQLITE_OK && (is_new || !appends))
        e->expires_ms = expires_ms;
    return result;
}
