/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_KV_STORE_H
#define MK_DUDA_KV_STORE_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "webservice.h"

#include "packages/kv/kv.h"

#include "kit/pure/lru.h"

#include <stdbool.h>

/*
 * Entries by key, bounded, for all threads of a service. Entries are in the order of their first store. All calls are under
 * the caller's lock; keys have at least one byte, and lengths are checked.
 */

struct kv_entry {
    struct lru_entry use;         /* first */
    struct kv_entry *next, *prev; /* in order */
    int64_t expires_ms;           /* of CLOCK_MONOTONIC; 0: never */
    char *data;
    size_t len;
    int key_len;
    char key[];
};

struct unqlite_kv_cursor {
    struct unqlite_kv_cursor *next;
    struct unqlite *store;
    struct kv_entry *at;
    bool has_moved; /* its entry was removed: it is before at */
};

struct unqlite {
    struct unqlite *next; /* of the package */
    struct kv_options options;
    char *path;
    struct lru map;
    size_t bytes;
    uint64_t seed[2];
    struct kv_entry *first, *last;
    struct unqlite_kv_cursor *cursors;
    int64_t swept_ms;
};

/** @return milliseconds of CLOCK_MONOTONIC. */
int64_t kv_now(void);

/** @return a store without entries; NULL: no memory. The file is not read. */
struct unqlite *kv_new(const struct kv_options *options);
void kv_free(struct unqlite *store);

/** @return the entry, used now; NULL: there is none, or its time is over. */
struct kv_entry *kv_find(struct unqlite *store, const void *key, int key_len);
/**
 * Insert or replace, or append to what is there.
 * @param expires_ms  0: never; not for append of an entry that is there
 * @return UNQLITE_OK; UNQLITE_NOMEM: no memory, or full.
 */
int kv_put(struct unqlite *store, const void *key, int key_len, const void *bytes, size_t len,
           int64_t expires_ms, bool appends);
void kv_remove(struct unqlite *store, struct kv_entry *entry);

/** Is its time not over? */
bool kv_lives(const struct kv_entry *entry, int64_t now_ms);

/** Read or write the file of options.path. @return UNQLITE_OK; UNQLITE_IOERR; UNQLITE_NOMEM */
int kv_load(struct unqlite *store);
int kv_save(const struct unqlite *store);

#endif
