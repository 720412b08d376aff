/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/1.8/mk_lib_int.h"

#include <stdlib.h>

static void free_vhost(struct mk_lib_vhost *v)
{
    while (v->handlers) {
        struct mk_lib_handler *h = v->handlers;

        v->handlers = h->next;
        free(h->pattern);
        free(h);
    }
    free(v);
}

static void free_context(struct mk_compat *c)
{
    struct mk_lib *lib = mk_lib_of(c);

    while (lib->vhosts) {
        struct mk_lib_vhost *v = lib->vhosts;

        lib->vhosts = v->next;
        free_vhost(v);
    }
    while (lib->callbacks) {
        struct mk_lib_worker_callback *callback = lib->callbacks;

        lib->callbacks = callback->next;
        free(callback);
    }
    mk_lib_free_queues(lib);
    free(lib);
}

mk_ctx_t *mk_create(void)
{
    struct mk_lib *lib = calloc(1, sizeof(*lib));
    uintptr_t handle;

    if (!lib) {
        mk_compat_warn(__func__, "out of memory");
        return NULL;
    }
    lib->c.plugin = &mk_lib_plugin;
    lib->c.free = free_context;
    handle = mk_compat_open(&lib->c);
    (void)mk_compat_get(handle, __func__);
    if (mk_compat_set(&lib->c, NULL, "SERVER", "LogLevel", "warn", false)) {
        mk_compat_put(&lib->c);
        return (mk_ctx_t *)handle;
    }
    mk_compat_warn(__func__, "out of memory");
    mk_compat_close(&lib->c);
    mk_compat_put(&lib->c);
    return NULL;
}

int mk_destroy(mk_ctx_t *ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    bool done = false;

    if (!c)
        return -1;
    if (c->state == MK_COMPAT_IDLE)
        done = true;
    else if (c->state == MK_COMPAT_RUNNING)
        done = mk_compat_stop(c, __func__);
    else
        mk_compat_warn(__func__, "the server is being started or stopped");
    if (done)
        mk_compat_close(c);
    mk_compat_put(c);
    return done ? 0 : -1;
}

int mk_start(mk_ctx_t *ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    bool done = false;

    if (!c)
        return -1;
    if (c->state == MK_COMPAT_IDLE)
        done = mk_compat_start(c, __func__);
    else
        mk_compat_warn(__func__, "the server was started before");
    mk_compat_put(c);
    return done ? 0 : -1;
}

int mk_stop(mk_ctx_t *ctx)
{
    struct mk_compat *c = mk_compat_get((uintptr_t)ctx, __func__);
    bool done = false;

    if (!c)
        return -1;
    if (c->state == MK_COMPAT_RUNNING)
        done = mk_compat_stop(c, __func__);
    else
        mk_compat_warn(__func__, "the server does not run");
    mk_compat_put(c);
    return done ? 0 : -1;
}
