/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_CACHE_STORE_H
#define MK_DUDA_CACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values by key in bounded memory; the one that was not used for the longest time makes room. One thread at a time. */

enum { MK_DUDA_CACHE_MIN = 4096 }; /* bytes of the smallest store */

struct mk_duda_cache_store;

/**
 * @param max  bytes of keys, values and what they need; at least MK_DUDA_CACHE_MIN
 * @return NULL without memory.
 */
struct mk_duda_cache_store *mk_duda_cache_new(size_t max);
/** NULL is allowed. */
void mk_duda_cache_free(struct mk_duda_cache_store *store);

/** Keep a copy of a value. @param ends_ms  when it is forgotten, by a clock that never goes back; 0: never. @return false: more than a quarter of max, or no memory. */
bool mk_duda_cache_set(struct mk_duda_cache_store *store, const char *key, const void *value,
                       size_t len, uint64_t ends_ms);
/** @return the value, borrowed until the next call that changes the store; NULL: none. */
const void *mk_duda_cache_get(struct mk_duda_cache_store *store, const char *key, size_t *len,
                              uint64_t now_ms);
/** @return false: there was none. */
bool mk_duda_cache_drop(struct mk_duda_cache_store *store, const char *key);

#endif
