/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_KV_H
#define DUDA_PACKAGE_KV_H
#include "webservice.h"
typedef struct unqlite unqlite; /* the store's original type names leak into services */
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
struct duda_api_kv {              /* key_len -1 = strlen(key) */
    int (*init)(unqlite **store); /* [M] */
    int (*close)(unqlite *store);
    int (*store)(unqlite *store, const void *key, int key_len, const void *data,
                 unqlite_int64 len); /* insert or replace */
    int (*store_fmt)(unqlite *store, const void *key, int key_len, const char *fmt, ...);
    int (*append)(unqlite *store, const void *key, int key_len, const void *data,
                  unqlite_int64 len); /* creates if absent */
    int (*append_fmt)(unqlite *store, const void *key, int key_len, const char *fmt, ...);
    int (*fetch)(unqlite *store, const void *key, int key_len, void *buf,
                 unqlite_int64 *len); /* in: capacity, out: size; buf NULL: size only */
    int (*fetch_callback)(unqlite *store, const void *key, int key_len,
                          int (*consumer)(const void *data, unsigned int len, void *user),
                          void *user);
    int (*delete)(unqlite *store, const void *key, int key_len);
    int (*cursor_init)(unqlite *store, unqlite_kv_cursor **cur);
    int (*cursor_release)(unqlite *store, unqlite_kv_cursor *cur);
    int (*cursor_reset)(unqlite_kv_cursor *cur);
    int (*cursor_valid)(unqlite_kv_cursor *cur); /* 1 while on an entry */
    int (*cursor_first)(unqlite_kv_cursor *cur);
    int (*cursor_last)(unqlite_kv_cursor *cur);
    int (*cursor_next)(unqlite_kv_cursor *cur);
    int (*cursor_prev)(unqlite_kv_cursor *cur);
    int (*cursor_key)(unqlite_kv_cursor *cur, void *buf, int *len);
    int (*cursor_data)(unqlite_kv_cursor *cur, void *buf, unqlite_int64 *len);
};
typedef struct duda_api_kv kv_object_t;
DUDA_OBJ kv_object_t *kv;
#define KV_CURSOR_FOREACH(c)                                                                       \
    for (kv->cursor_first(c); (c) && kv->cursor_valid(c); kv->cursor_next(c))
#endif
