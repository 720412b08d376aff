/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_KV_H
#define DUDA_PACKAGE_KV_H
#include "webservice.h"
/* Services name these types. */
typedef struct unqlite unqlite;
typedef struct unqlite_kv_cursor unqlite_kv_cursor;
typedef int64_t unqlite_int64;
#define UNQLITE_OK 0
#define UNQLITE_NOMEM -1
#define UNQLITE_IOERR -2
#define UNQLITE_NOTFOUND -6
#define UNQLITE_ABORT -10
#define UNQLITE_BUSY -14
#define DUDA_KV_OK UNQLITE_OK
#define DUDA_KV_BUSY UNQLITE_BUSY
#define DUDA_KV_NOTFOUND UNQLITE_NOTFOUND
#define DUDA_KV_IOERR UNQLITE_IOERR
#define DUDA_KV_NOMEM UNQLITE_NOMEM
typedef unqlite kv_conn_t;
typedef unqlite_kv_cursor kv_cursor_t;
typedef unqlite_int64 kv_int_t;
#if DUDA_API_LEVEL >= 3
struct kv_options {
    size_t max_bytes;   /* of keys, values and what manages them; 0: 256 MB */
    size_t max_entries; /* 0: as many as max_bytes allows */
    int evicts; /* when full: 1 removes the entry that was unused longest, 0 refuses with UNQLITE_NOMEM */
    const char
        *path; /* a file that is read by init_with, and written by save and close; NULL: none */
};
#endif
/* kv: Entries of a key and a value in memory, for all threads of the service. key_len -1: the key is a text. All
   return UNQLITE_OK or one of the codes above. */
struct duda_api_kv {
    /* [M] A store of at most 256 MB. */
    int (*init)(unqlite **store);
    /* [M] Free it; its file, if it has one, is written before. */
    int (*close)(unqlite *store);
    /* Insert or replace an entry. */
    int (*store)(unqlite *store, const void *key, int key_len, const void *data, unqlite_int64 len);
    /* Likewise, with a value as printf() makes it. */
    DUDA_PRINTF(4, 5)
    int (*store_fmt)(unqlite *store, const void *key, int key_len, const char *fmt, ...);
    /* Put bytes at the end of a value; the entry is made if it is missing. */
    int (*append)(unqlite *store, const void *key, int key_len, const void *data,
                  unqlite_int64 len);
    /* Likewise, with text as printf() makes it. */
    DUDA_PRINTF(4, 5)
    int (*append_fmt)(unqlite *store, const void *key, int key_len, const char *fmt, ...);
    /* Copy a value. *len: in, the room of buf; out, the bytes that were copied, or with buf NULL the bytes of the
       value. */
    int (*fetch)(unqlite *store, const void *key, int key_len, void *buf, unqlite_int64 *len);
    /* Give a value to a function instead. */
    int (*fetch_callback)(unqlite *store, const void *key, int key_len,
                          int (*consumer)(const void *data, unsigned int len, void *user),
                          void *user);
    /* Remove an entry. */
    int (*delete)(unqlite *store, const void *key, int key_len);
    /* A cursor over all entries, in no order; cursor_release() frees it. */
    int (*cursor_init)(unqlite *store, unqlite_kv_cursor **cur);
    int (*cursor_release)(unqlite *store, unqlite_kv_cursor *cur);
    /* Back to the first entry. */
    int (*cursor_reset)(unqlite_kv_cursor *cur);
    /* 1: it is at an entry; 0. */
    int (*cursor_valid)(unqlite_kv_cursor *cur);
    int (*cursor_first)(unqlite_kv_cursor *cur);
    int (*cursor_last)(unqlite_kv_cursor *cur);
    int (*cursor_next)(unqlite_kv_cursor *cur);
    int (*cursor_prev)(unqlite_kv_cursor *cur);
    /* Copy the key of the entry, as fetch() does. */
    int (*cursor_key)(unqlite_kv_cursor *cur, void *buf, int *len);
    /* Copy its value, as fetch() does. */
    int (*cursor_data)(unqlite_kv_cursor *cur, void *buf, unqlite_int64 *len);
#if DUDA_API_LEVEL >= 3
    /* init of a store of other bounds, or with a file. [M] UNQLITE_IOERR: the file cannot be read, or is no store of ours. */
    int (*init_with)(unqlite **store, const struct kv_options *options);
    /* store of an entry that is gone after ttl_ms, at least 1. store replaces it by one that stays, append leaves the time. */
    int (*store_ttl)(unqlite *store, const void *key, int key_len, const void *data,
                     unqlite_int64 len, unqlite_int64 ttl_ms);
    /* Write the file now: a new one beside it, flushed to the disk, then renamed, so that a failure leaves the old one.
       UNQLITE_NOTFOUND: the store has no file; UNQLITE_IOERR. What came after the last save is lost in a crash. */
    int (*save)(unqlite *store);
    /* Entries, also those whose time is over and that nobody has asked for since; bytes (may be NULL): as max_bytes. */
    unqlite_int64 (*count)(unqlite *store, unqlite_int64 *bytes);
#endif
};
typedef struct duda_api_kv kv_object_t;
DUDA_OBJ kv_object_t *kv;
#define KV_CURSOR_FOREACH(c)                                                                       \
    for (kv->cursor_first(c); (c) && kv->cursor_valid(c); kv->cursor_next(c))
#endif
