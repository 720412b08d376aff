/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/2012/mklib_int.h"

#include <stdlib.h>

/* What a context has, as lists that end with NULL. Each list and what it points to are one block. */

/* Types that every context knows: the older library read a file for them. */
static const struct mklib_mime common_mimes[] = {
    {"avif", "image/avif"},       {"bin", "application/octet-stream"},
    {"css", "text/css"},          {"csv", "text/csv"},
    {"gif", "image/gif"},         {"gz", "application/gzip"},
    {"htm", "text/html"},         {"html", "text/html"},
    {"ico", "image/x-icon"},      {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},        {"js", "text/javascript"},
    {"json", "application/json"}, {"mjs", "text/javascript"},
    {"mp3", "audio/mpeg"},        {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},         {"pdf", "application/pdf"},
    {"png", "image/png"},         {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"}, {"txt", "text/plain"},
    {"wasm", "application/wasm"}, {"wav", "audio/wav"},
    {"webm", "video/webm"},       {"webp", "image/webp"},
    {"woff2", "font/woff2"},      {"xml", "application/xml"},
    {"zip", "application/zip"},
};

enum { COMMON_MIMES = sizeof(common_mimes) / sizeof(common_mimes[0]) };

bool mk_mklib_set_mimes(struct mk_compat *c)
{
    for (size_t i = 0; i < COMMON_MIMES; i++) {
        if (!mk_compat_set(c, NULL, "MIMETYPES", common_mimes[i].name, common_mimes[i].type, false))
            return false;
    }
    return true;
}

bool mk_mklib_has_mime(const struct mk_mklib *m, const char *name)
{
    for (const struct mk_mklib_mime *mime = m->mimes; mime; mime = mime->next) {
        if (strcasecmp(mime->is.name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < COMMON_MIMES; i++) {
        if (strcasecmp(common_mimes[i].name, name) == 0)
            return true;
    }
    return false;
}

void mk_mklib_free_lists(struct mk_mklib *m)
{
    free(m->vhost_list);
    free(m->worker_list);
    free(m->mime_list);
}

/* @return room for count pointers, NULL and count items of a size behind them. */
static void *make_list(size_t count, size_t size, const char *call)
{
    void *list = calloc(1, (count + 1) * sizeof(void *) + count * size + sizeof(max_align_t));

    if (!list)
        mk_compat_warn(call, "out of memory");
    return list;
}

static void *items_of(void *list, size_t count)
{
    const uintptr_t end = (uintptr_t)list + (count + 1) * sizeof(void *);

    return (void *)((end + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t));
}

struct mklib_vhost **mklib_vhost_list(mklib_ctx ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    struct mklib_vhost **list, *items;
    size_t count = 0;

    if (!c)
        return NULL;
    for (const struct mk_mklib_vhost *v = mk_mklib_of(c)->vhosts; v; v = v->next)
        count++;
    list = make_list(count, sizeof(*items), __func__);
    if (list) {
        items = items_of(list, count);
        count = 0;
        for (const struct mk_mklib_vhost *v = mk_mklib_of(c)->vhosts; v; v = v->next, count++) {
            items[count] = v->is;
            if (!v->is.document_root)
                items[count].document_root = "/dev/null";
            list[count] = &items[count];
        }
        free(mk_mklib_of(c)->vhost_list);
        mk_mklib_of(c)->vhost_list = list;
    }
    mk_compat_put(c);
    return list;
}

static struct mklib_worker_info **make_workers(struct mk_mklib *m, const char *call)
{
    const unsigned count = mk_server_workers(m->c.server);
    struct mklib_worker_info **list = make_list(count, sizeof(**list), call), *items;

    if (!list)
        return NULL;
    items = items_of(list, count);
    for (unsigned i = 0; i < count; i++) {
        struct mk_worker_stats stats = {.size = sizeof(stats)};

        if (mk_server_stats(m->c.server, i, &stats) == 0)
            items[i].active_connections = stats.connections;
        items[i].pid = atomic_load(&m->pids[i]);
        list[i] = &items[i];
    }
    free(m->worker_list);
    m->worker_list = list;
    return list;
}

struct mklib_worker_info **mklib_scheduler_worker_info(mklib_ctx ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    struct mklib_worker_info **list = NULL;

    if (!c)
        return NULL;
    if (c->state == MK_COMPAT_RUNNING)
        list = make_workers(mk_mklib_of(c), __func__);
    else
        mk_compat_warn(__func__, "the server does not run");
    mk_compat_put(c);
    return list;
}

struct mklib_mime **mklib_mimetype_list(mklib_ctx ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    struct mklib_mime **list, *items;
    size_t count = COMMON_MIMES;

    if (!c)
        return NULL;
    for (const struct mk_mklib_mime *mime = mk_mklib_of(c)->mimes; mime; mime = mime->next)
        count++;
    list = make_list(count, sizeof(*items), __func__);
    if (list) {
        items = items_of(list, count);
        memcpy(items, common_mimes, sizeof(common_mimes));
        count = COMMON_MIMES;
        for (const struct mk_mklib_mime *mime = mk_mklib_of(c)->mimes; mime; mime = mime->next)
            items[count++] = mime->is;
        for (size_t i = 0; i < count; i++)
            list[i] = &items[i];
        free(mk_mklib_of(c)->mime_list);
        mk_mklib_of(c)->mime_list = list;
    }
    mk_compat_put(c);
    return list;
}

static bool add_mime(struct mk_mklib *m, const char *name, const char *type)
{
    struct mk_compat_setting *before = m->c.settings;
    struct mk_mklib_mime *mime = calloc(1, sizeof(*mime));

    if (mime) {
        mime->is.name = strdup(name);
        mime->is.type = strdup(type);
    }
    if (!mime || !mime->is.name || !mime->is.type ||
        !mk_compat_set(&m->c, NULL, "MIMETYPES", name, type, false))
        mk_compat_warn("mklib_mimetype_add", "out of memory");
    else if (mk_compat_check(&m->c, before, "mklib_mimetype_add")) {
        mime->next = m->mimes;
        m->mimes = mime;
        return true;
    }
    if (mime) {
        free((void *)(uintptr_t)mime->is.name);
        free((void *)(uintptr_t)mime->is.type);
        free(mime);
    }
    return false;
}

int mklib_mimetype_add(mklib_ctx ctx, const char *name, const char *type)
{
    struct mk_compat *c = mk_compat_get_idle((uintptr_t)ctx, __func__);
    int done = MKLIB_FALSE;

    if (!c)
        return MKLIB_FALSE;
    if (!name || !type || !*name)
        mk_compat_warn(__func__, "an argument is NULL or empty");
    else if (mk_mklib_has_mime(mk_mklib_of(c), name))
        mk_compat_warn(__func__, "the type of %s is known", name);
    else
        done = add_mime(mk_mklib_of(c), name, type);
    mk_compat_put(c);
    return done;
}
