/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/kv/kv.h"

DUDA_REGISTER("tests", "kv");

static kv_conn_t *store;

static void show(duda_request_t *dr, const char *text)
{
    response->http_status(dr, 200);
    response->printf(dr, "%s", text);
    response->end(dr, NULL);
}

static int consume(const void *data, unsigned int len, void *user)
{
    return snprintf(user, 64, "%.*s", (int)len, (const char *)data) > 0 && len > 3 ? -1 : 0;
}

/* One count for all workers, and what a fetch does. */
static void entries(duda_request_t *dr)
{
    char buf[64] = "", seen[64] = "";
    kv_int_t size = 0, len = 3;
    int is_right = kv->store(store, "a", -1, "12", 2) == DUDA_KV_OK &&
                   kv->append(store, "a", 1, "34", 2) == DUDA_KV_OK &&
                   kv->append_fmt(store, "a", 1, "%d", 56) == DUDA_KV_OK &&
                   kv->store_fmt(store, "b", 1, "%s!", "text") == DUDA_KV_OK;

    is_right &= kv->fetch(store, "a", 1, NULL, &size) == DUDA_KV_OK && size == 6;
    is_right &=
        kv->fetch(store, "a", 1, buf, &len) == DUDA_KV_OK && len == 3 && strcmp(buf, "123") == 0;
    is_right &= kv->fetch_callback(store, "a", 1, consume, seen) == UNQLITE_ABORT &&
                strcmp(seen, "123456") == 0;
    is_right &= kv->append(store, "new", -1, "x", 1) == DUDA_KV_OK &&
                kv->fetch_callback(store, "new", 3, consume, seen) == DUDA_KV_OK;
    is_right &= kv->delete (store, "new", -1) == DUDA_KV_OK &&
                kv->delete (store, "new", -1) == DUDA_KV_NOTFOUND &&
                kv->fetch(store, "new", -1, NULL, &size) == DUDA_KV_NOTFOUND &&
                kv->fetch_callback(store, "new", 3, consume, seen) == DUDA_KV_NOTFOUND;
    show(dr, is_right ? "right" : "wrong");
}

/* All entries forth and back, each deleted under the cursor in the end. */
static void cursors(duda_request_t *dr)
{
    kv_conn_t *other;
    kv_cursor_t *c;
    char key[8], data[8];
    int n = sizeof(key);
    kv_int_t len;

    kv->init(&other);
    for (int i = 0; i < 4; i++)
        kv->store_fmt(other, &"abcd"[i], 1, "%d", i);
    kv->cursor_init(other, &c);
    response->http_status(dr, 200);
    KV_CURSOR_FOREACH(c)
    {
        n = sizeof(key);
        len = sizeof(data);
        if (kv->cursor_key(c, key, &n) == DUDA_KV_OK &&
            kv->cursor_data(c, data, &len) == DUDA_KV_OK)
            response->printf(dr, "%.*s%.*s ", n, key, (int)len, data);
    }
    for (kv->cursor_last(c); kv->cursor_valid(c); kv->cursor_prev(c)) {
        kv->cursor_key(c, NULL, &n);
        kv->cursor_key(c, key, &n);
        response->printf(dr, "%.*s", n, key);
    }
    KV_CURSOR_FOREACH(c)
    {
        n = sizeof(key);
        kv->cursor_key(c, key, &n);
        kv->delete (other, key, n);
        response->printf(dr, " -%.*s%d", n, key, kv->cursor_key(c, key, &n) == DUDA_KV_NOTFOUND);
    }
    kv->cursor_reset(c);
    response->printf(dr, " %d", kv->cursor_valid(c));
    response->printf(dr, " %d", kv->cursor_release(other, c));
    response->printf(dr, " %d", kv->cursor_release(other, c));
    response->printf(dr, " %d", kv->close(other));
    response->printf(dr, " %d", kv->close(other));
    response->end(dr, NULL);
}

static void wrong(duda_request_t *dr)
{
    kv_conn_t *other;
    kv_cursor_t *c;
    kv_int_t size = -1;
    int len = 5;
    int is_refused = kv->store(NULL, "a", 1, "", 0) < 0 && kv->store(store, NULL, 1, "", 0) < 0 &&
                     kv->store(store, "", -1, "", 0) < 0 && kv->store(store, "a", -2, "", 0) < 0 &&
                     kv->store(store, "a", 1, NULL, 5) < 0 && kv->store(store, "a", 1, "", -1) < 0;

    is_refused &= kv->append(NULL, "a", 1, "", 0) < 0 && kv->store_fmt(store, "a", 1, NULL) < 0 &&
                  kv->append_fmt(NULL, "a", 1, "x") < 0 && kv->delete (store, NULL, 1) < 0 &&
                  kv->fetch(store, "b", 1, NULL, NULL) < 0 &&
                  kv->fetch(NULL, "a", 1, NULL, &size) < 0 &&
                  kv->fetch_callback(store, "a", 1, NULL, NULL) < 0 && kv->init(NULL) < 0 &&
                  kv->close(NULL) < 0;
    kv->init(&other);
    kv->cursor_init(other, &c);
    kv->close(other); /* and its cursors */
    is_refused &= kv->cursor_first(c) < 0 && kv->cursor_next(c) < 0 && kv->cursor_prev(c) < 0 &&
                  kv->cursor_last(c) < 0 && kv->cursor_reset(c) < 0 && !kv->cursor_valid(c) &&
                  kv->cursor_key(c, NULL, &len) < 0 && kv->cursor_data(c, NULL, &size) < 0 &&
                  kv->cursor_release(other, c) < 0 && kv->cursor_init(other, &c) < 0 && !c &&
                  kv->cursor_init(store, NULL) < 0;
    show(dr, is_refused ? "all refused" : "accepted");
}

static void count(duda_request_t *dr)
{
    char text[64];
    kv_int_t len = sizeof(text) - 1;

    kv->append(store, "count", -1, "x", 1);
    memset(text, 0, sizeof(text));
    kv->fetch(store, "count", -1, text, &len);
    show(dr, text);
}

#if DUDA_API_LEVEL >= 3
static void bounded(duda_request_t *dr)
{
    const struct kv_options options = {.max_entries = 2}, nowhere = {.path = "/nothing/here/x"};
    kv_conn_t *other;
    kv_int_t bytes = 0, size;
    int is_right = kv->init_with(&other, &options) == DUDA_KV_OK &&
                   kv->store_ttl(other, "a", 1, "x", 1, 1) == DUDA_KV_OK &&
                   kv->store_ttl(other, "b", 1, "x", 1, 1000000) == DUDA_KV_OK;

    while (kv->fetch(other, "a", 1, NULL, &size) == DUDA_KV_OK)
        usleep(1000);
    is_right &= kv->count(other, &bytes) == 1 && bytes > 2;
    is_right &= kv->store(other, "c", 1, "x", 1) == DUDA_KV_OK &&
                kv->store(other, "d", 1, "x", 1) == DUDA_KV_NOMEM && kv->count(other, NULL) == 2;
    is_right &= kv->save(other) == DUDA_KV_NOTFOUND && kv->save(NULL) < 0 &&
                kv->count(NULL, NULL) < 0 && kv->store_ttl(other, "a", 1, "x", 1, 0) < 0 &&
                kv->init_with(&other, NULL) < 0 && kv->init_with(NULL, &options) < 0;
    is_right &= kv->init_with(&other, &nowhere) == DUDA_KV_OK && kv->save(other) == DUDA_KV_IOERR &&
                kv->close(other) == DUDA_KV_IOERR;
    show(dr, is_right ? "right" : "wrong");
}

static void save(duda_request_t *dr)
{
    show(dr, kv->save(store) == DUDA_KV_OK ? "saved" : "not saved");
}
#endif

int duda_main()
{
    duda_load_package(kv, "kv");
#if DUDA_API_LEVEL >= 3
    const struct kv_options options = {.path = STORE};

    if (kv->init_with(&store, &options) != DUDA_KV_OK)
        return 1;
    router->map("/bounded", bounded);
    router->map("/save", save);
    router->map("/count", count);
#else
    if (kv->init(&store) != DUDA_KV_OK)
        return 1;
    map->static_add_ref("/entries", entries);
    map->static_add_ref("/cursors", cursors);
    map->static_add_ref("/wrong", wrong);
    map->static_add_ref("/count", count);
#endif
    return 0;
}

#if DUDA_API_LEVEL >= 3
static void (*const of_level_1[])(duda_request_t *) UNUSED_PARAM = {entries, cursors, wrong};
#endif
