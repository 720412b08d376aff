/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_CACHE_H
#define MONKEY_WEB_CACHE_H

/*
 * Values by key in the memory of a program, for all its workers and threads: what took long to compute or to ask for, and may be
 * forgotten. Bounded by bytes, entries and time; the value that was not used for the longest time makes room.
 *
 *     struct mk_str page;
 *
 *     if (mk_cache_find(pages, r, key, &page) == 0)
 *         return mk_reply_bytes(r, 200, "text/html", page);
 *     ...
 *     (void)!mk_cache_set(pages, key, made, 5000);
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_cache;

enum { MK_CACHE_MIN = 4096 }; /* bytes of the smallest cache */

/** What a cache is made of. 0 are the defaults. */
struct mk_cache_options {
    size_t size; /* sizeof(struct mk_cache_options) */
    size_t
        bytes; /* of keys, values and some 64 bytes for each, at least MK_CACHE_MIN; 0: 1 MB. The buckets of the table are beside them */
    size_t entries;    /* 0: as many as the bytes hold */
    unsigned lasts_ms; /* of a value that says nothing else, in milliseconds; 0: for ever */
};

/**
 * Make a cache.
 * @param options  copied; NULL: all of them 0
 * @return 0, MK_E_INVALID or MK_E_NOMEM. Any thread.
 */
MK_API int mk_cache_new(struct mk_cache **cache,
                        const struct mk_cache_options *options) MK_MUST_USE;
/** Free it with its values. NULL is allowed. */
MK_API void mk_cache_free(struct mk_cache *cache);

/**
 * Keep a copy of a value. The key's old value goes, also if there is an error.
 * @param key       any bytes, copied
 * @param value     any bytes, perhaps none
 * @param lasts_ms  milliseconds after which it is forgotten, give or take 10; 0: as the options have it
 * @return 0; MK_E_LIMIT: key and value are more than a quarter of the cache's bytes; MK_E_INVALID; MK_E_NOMEM. Any thread.
 */
MK_API int mk_cache_set(struct mk_cache *cache, struct mk_str key, struct mk_str value,
                        unsigned lasts_ms) MK_MUST_USE;

/**
 * Copy a value out.
 * @param dst  out: the value, not terminated, only if it has room; NULL with size 0: the length alone is wanted
 * @return bytes of the value: more than size, and nothing was copied; MK_E_NOENT: there is none; MK_E_INVALID. Any thread.
 */
MK_API ssize_t mk_cache_get(struct mk_cache *cache, struct mk_str key, char *dst,
                            size_t size) MK_MUST_USE;

/**
 * Copy a value into the memory of a request.
 * @param value  out: terminated, which its length does not count; lives as long as the request
 * @return 0; MK_E_NOENT: there is none; MK_E_INVALID; MK_E_NOMEM. On the request's worker.
 */
MK_API int mk_cache_find(struct mk_cache *cache, struct mk_request *r, struct mk_str key,
                         struct mk_str *value) MK_MUST_USE;

/** Forget a value. @return false: there was none. Any thread. */
MK_API bool mk_cache_drop(struct mk_cache *cache, struct mk_str key);
/** Forget all. Any thread. */
MK_API void mk_cache_clear(struct mk_cache *cache);

/** Of a cache, since it was made. */
struct mk_cache_facts {
    size_t size; /* sizeof(struct mk_cache_facts), set by the caller */
    size_t entries,
        bytes; /* now, with those whose time is over and that nobody has asked for since */
    uint64_t hits, misses; /* of mk_cache_get and mk_cache_find */
    uint64_t displaced;    /* values that made room for others */
};
/** Any thread. */
MK_API void mk_cache_facts(struct mk_cache *cache, struct mk_cache_facts *facts);

#ifdef __cplusplus
}
#endif

#endif
