/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include "duda_package.h"

#include <stdarg.h>

/*
 * The calls. Stores and cursors of the service are remembered, so that one that was closed, or none, is refused. One lock is
 * for all of them: calls copy bytes and return.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unqlite *stores;

/* With the lock. */
static struct unqlite **place_of(const struct unqlite *store)
{
    struct unqlite **at = &stores;

    while (*at && *at != store)
        at = &(*at)->next;
    return at;
}

/* With the lock. */
static bool is_cursor(const struct unqlite_kv_cursor *cursor)
{
    for (const struct unqlite *s = stores; s && cursor; s = s->next) {
        for (const struct unqlite_kv_cursor *c = s->cursors; c; c = c->next) {
            if (c == cursor)
                return true;
        }
    }
    return false;
}

/* @return whether it is a store; then with the lock */
static bool enter(const struct unqlite *store)
{
    (void)pthread_mutex_lock(&lock);
    if (store && *place_of(store))
        return true;
    (void)pthread_mutex_unlock(&lock);
    return false;
}

static bool enter_cursor(const struct unqlite_kv_cursor *cursor)
{
    (void)pthread_mutex_lock(&lock);
    if (is_cursor(cursor))
        return true;
    (void)pthread_mutex_unlock(&lock);
    return false;
}

static int leave(int result)
{
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/* @return the length; 0: it is no key */
static int length_of(const void *key, int key_len)
{
    size_t len = key && key_len == -1 ? strlen(key) : 0;

    if (!key || key_len < -1)
        return 0;
    return key_len >= 0 ? key_len : len < INT32_MAX ? (int)len : 0;
}

/* ---- stores ---- */

static int init_with(unqlite **store, const struct kv_options *options)
{
    struct unqlite *fresh;
    int result;

    if (!store)
        return UNQLITE_ABORT;
    *store = NULL;
    fresh = options ? kv_new(options) : NULL;
    if (!fresh)
        return options ? UNQLITE_NOMEM : UNQLITE_ABORT;
    result = fresh->path ? kv_load(fresh) : UNQLITE_OK;
    if (result != UNQLITE_OK) {
        msg->err("kv->init_with(%s): %s", fresh->path,
                 result == UNQLITE_IOERR ? "not a whole file of a store" : "larger than the store");
        kv_free(fresh);
        return result;
    }
    (void)pthread_mutex_lock(&lock);
    fresh->next = stores;
    stores = fresh;
    *store = fresh;
    return leave(UNQLITE_OK);
}

static int init(unqlite **store)
{
    const struct kv_options options = {0};

    return init_with(store, &options);
}

static int save(unqlite *store)
{
    if (!enter(store))
        return UNQLITE_ABORT;
    return leave(store->path ? kv_save(store) : UNQLITE_NOTFOUND);
}

/* A store whose file cannot be written is closed all the same. */
static int close_store(unqlite *store)
{
    int result;

    if (!enter(store))
        return UNQLITE_ABORT;
    result = store->path ? kv_save(store) : UNQLITE_OK;
    *place_of(store) = store->next;
    kv_free(store);
    return leave(result);
}

static unqlite_int64 count(unqlite *store, unqlite_int64 *bytes)
{
    unqlite_int64 n;

    if (!enter(store))
        return UNQLITE_ABORT;
    n = (unqlite_int64)store->map.count;
    if (bytes)
        *bytes = (unqlite_int64)store->bytes;
    (void)leave(0);
    return n;
}

/* ---- entries ---- */

static int put(unqlite *store, const void *key, int key_len, const void *bytes, unqlite_int64 len,
               int64_t ttl_ms, bool appends)
{
    const int key_bytes = length_of(key, key_len);

    if (key_bytes == 0 || len < 0 || (uint64_t)len > SIZE_MAX / 2 || (len > 0 && !bytes) ||
        ttl_ms < 0 || ttl_ms > INT64_MAX / 2 || !enter(store))
        return UNQLITE_ABORT;
    return leave(
        kv_put(store, key, key_bytes, bytes, (size_t)len, ttl_ms ? kv_now() + ttl_ms : 0, appends));
}

static int store_entry(unqlite *store, const void *key, int key_len, const void *bytes,
                       unqlite_int64 len)
{
    return put(store, key, key_len, bytes, len, 0, false);
}

static int store_ttl(unqlite *store, const void *key, int key_len, const void *bytes,
                     unqlite_int64 len, unqlite_int64 ttl_ms)
{
    return ttl_ms > 0 ? put(store, key, key_len, bytes, len, ttl_ms, false) : UNQLITE_ABORT;
}

static int append(unqlite *store, const void *key, int key_len, const void *bytes,
                  unqlite_int64 len)
{
    return put(store, key, key_len, bytes, len, 0, true);
}

__attribute__((format(printf, 5, 0))) static int put_format(unqlite *store, const void *key,
                                                            int key_len, bool appends,
                                                            const char *fmt, va_list args)
{
    char *text = NULL;
    int len = fmt ? vasprintf(&text, fmt, args) : -1;
    int result;

    if (len < 0)
        return fmt ? UNQLITE_NOMEM : UNQLITE_ABORT;
    result = put(store, key, key_len, text, len, 0, appends);
    free(text);
    return result;
}

__attribute__((format(printf, 4, 5))) static int store_fmt(unqlite *store, const void *key,
                                                           int key_len, const char *fmt, ...)
{
    va_list args;
    int result;

    va_start(args, fmt);
    result = put_format(store, key, key_len, false, fmt, args);
    va_end(args);
    return result;
}

__attribute__((format(printf, 4, 5))) static int append_fmt(unqlite *store, const void *key,
                                                            int key_len, const char *fmt, ...)
{
    va_list args;
    int result;

    va_start(args, fmt);
    result = put_format(store, key, key_len, true, fmt, args);
    va_end(args);
    return result;
}

/* Set *len to the bytes that are copied; without buf, to the size. */
static int give(const char *bytes, size_t size, void *buf, unqlite_int64 *len)
{
    size_t n = size;

    if (!len || (buf && *len < 0))
        return UNQLITE_ABORT;
    if (buf && (uint64_t)*len < n)
        n = (size_t)*len;
    if (buf && n > 0)
        memcpy(buf, bytes, n);
    *len = (unqlite_int64)n;
    return UNQLITE_OK;
}

static int fetch(unqlite *store, const void *key, int key_len, void *buf, unqlite_int64 *len)
{
    const int key_bytes = length_of(key, key_len);
    const struct kv_entry *e;

    if (key_bytes == 0 || !enter(store))
        return UNQLITE_ABORT;
    e = kv_find(store, key, key_bytes);
    return leave(e ? give(e->data, e->len, buf, len) : UNQLITE_NOTFOUND);
}

/* The consumer gets a copy, as it may call us. */
static int fetch_callback(unqlite *store, const void *key, int key_len,
                          int (*consumer)(const void *bytes, unsigned int len, void *user),
                          void *user)
{
    const int key_bytes = length_of(key, key_len);
    const struct kv_entry *e;
    char *copy = NULL;
    size_t len = 0;
    int result;

    if (key_bytes == 0 || !consumer || !enter(store))
        return UNQLITE_ABORT;
    e = kv_find(store, key, key_bytes);
    if (e) {
        len = e->len;
        copy = malloc(len + 1);
    }
    if (copy && len > 0)
        memcpy(copy, e->data, len);
    (void)leave(0);
    if (!copy)
        return e ? UNQLITE_NOMEM : UNQLITE_NOTFOUND;
    result = consumer(copy, (unsigned)len, user) == 0 ? UNQLITE_OK : UNQLITE_ABORT;
    free(copy);
    return result;
}

static int delete_entry(unqlite *store, const void *key, int key_len)
{
    const int key_bytes = length_of(key, key_len);
    struct kv_entry *e;

    if (key_bytes == 0 || !enter(store))
        return UNQLITE_ABORT;
    e = kv_find(store, key, key_bytes);
    if (!e)
        return leave(UNQLITE_NOTFOUND);
    kv_remove(store, e);
    return leave(UNQLITE_OK);
}

/* ---- cursors ---- */

static int cursor_init(unqlite *store, unqlite_kv_cursor **cur)
{
    struct unqlite_kv_cursor *c;

    if (!cur)
        return UNQLITE_ABORT;
    *cur = NULL;
    if (!enter(store))
        return UNQLITE_ABORT;
    c = calloc(1, sizeof(*c));
    if (!c)
        return leave(UNQLITE_NOMEM);
    *c = (struct unqlite_kv_cursor){.store = store, .next = store->cursors};
    store->cursors = *cur = c;
    return leave(UNQLITE_OK);
}

static int cursor_release(unqlite *store, unqlite_kv_cursor *cur)
{
    struct unqlite_kv_cursor **at;

    if (!enter(store))
        return UNQLITE_ABORT;
    for (at = &store->cursors; *at && *at != cur;)
        at = &(*at)->next;
    if (!cur || !*at)
        return leave(UNQLITE_ABORT);
    *at = cur->next;
    free(cur);
    return leave(UNQLITE_OK);
}

/* With the lock: go on to the next entry whose time is not over. */
static int settle(unqlite_kv_cursor *cur, struct kv_entry *e, bool is_forward)
{
    const int64_t now = kv_now();

    while (e && !kv_lives(e, now))
        e = is_forward ? e->next : e->prev;
    cur->at = e;
    cur->has_moved = false;
    return leave(e ? UNQLITE_OK : UNQLITE_NOTFOUND);
}

static int cursor_first(unqlite_kv_cursor *cur)
{
    if (!enter_cursor(cur))
        return UNQLITE_ABORT;
    return settle(cur, cur->store->first, true);
}

static int cursor_last(unqlite_kv_cursor *cur)
{
    if (!enter_cursor(cur))
        return UNQLITE_ABORT;
    return settle(cur, cur->store->last, false);
}

static int cursor_reset(unqlite_kv_cursor *cur)
{
    if (!enter_cursor(cur))
        return UNQLITE_ABORT;
    cur->at = NULL;
    cur->has_moved = false;
    return leave(UNQLITE_OK);
}

static int cursor_next(unqlite_kv_cursor *cur)
{
    if (!enter_cursor(cur))
        return UNQLITE_ABORT;
    return settle(cur, cur->has_moved || !cur->at ? cur->at : cur->at->next, true);
}

static int cursor_prev(unqlite_kv_cursor *cur)
{
    struct kv_entry *e;

    if (!enter_cursor(cur))
        return UNQLITE_ABORT;
    e = cur->at ? cur->at->prev : cur->has_moved ? cur->store->last : NULL;
    return settle(cur, e, false);
}

static int cursor_valid(unqlite_kv_cursor *cur)
{
    if (!enter_cursor(cur))
        return 0;
    return leave(cur->at != NULL);
}

/* @return its entry, with the lock; NULL: it is on none, without the lock, and *result says why */
static const struct kv_entry *entry_of(const unqlite_kv_cursor *cur, int *result)
{
    *result = UNQLITE_ABORT;
    if (!enter_cursor(cur))
        return NULL;
    if (cur->at && !cur->has_moved)
        return cur->at;
    *result = leave(UNQLITE_NOTFOUND);
    return NULL;
}

static int cursor_key(unqlite_kv_cursor *cur, void *buf, int *len)
{
    int result;
    const struct kv_entry *e = entry_of(cur, &result);
    unqlite_int64 wide = len ? *len : 0;

    if (!e)
        return result;
    result = give(e->key, (size_t)e->key_len, buf, len ? &wide : NULL);
    if (len && result == UNQLITE_OK)
        *len = (int)wide;
    return leave(result);
}

static int cursor_data(unqlite_kv_cursor *cur, void *buf, unqlite_int64 *len)
{
    int result;
    const struct kv_entry *e = entry_of(cur, &result);

    return e ? leave(give(e->data, e->len, buf, len)) : result;
}

static kv_object_t calls = {
    .init = init,
    .close = close_store,
    .store = store_entry,
    .store_fmt = store_fmt,
    .append = append,
    .append_fmt = append_fmt,
    .fetch = fetch,
    .fetch_callback = fetch_callback,
    .delete = delete_entry,
    .cursor_init = cursor_init,
    .cursor_release = cursor_release,
    .cursor_reset = cursor_reset,
    .cursor_valid = cursor_valid,
    .cursor_first = cursor_first,
    .cursor_last = cursor_last,
    .cursor_next = cursor_next,
    .cursor_prev = cursor_prev,
    .cursor_key = cursor_key,
    .cursor_data = cursor_data,
    .init_with = init_with,
    .store_ttl = store_ttl,
    .save = save,
    .count = count,
};

duda_package_t *duda_package_main()
{
    static char name[] = "kv", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
