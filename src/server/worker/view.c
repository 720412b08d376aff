/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/view.h"

#include "base/code.h"
#include "base/heap.h"
#include "server/worker/worker.h"

#include <stdio.h>

static int make_contexts(struct mk_view *view, struct mk_worker *w)
{
    const struct mk_snapshot *s = view->snapshot;
    size_t count = mk_snapshot_places(s) * s->nplugins;

    view->contexts = mk_heap_zalloc(count, sizeof(*view->contexts));
    if (!view->contexts)
        return MK_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct mk_loaded *plugin = &s->plugins[i % s->nplugins];

        view->contexts[i] = (struct mk_context){
            .size = sizeof(struct mk_context),
            .server = w->server,
            .worker = w,
            .config = plugin->context.config,
            .site = plugin->sites ? plugin->sites[i / s->nplugins] : NULL,
        };
    }
    return 0;
}

/* ---- plugins begin with it and end with it ---- */

void mk_plugin_failed(char why[MK_PLUGIN_WHY], const struct mk_plugin *plugin, int err)
{
    char said[MK_PLUGIN_WHY];

    memcpy(said, why, MK_PLUGIN_WHY);
    (void)snprintf(why, MK_PLUGIN_WHY, "the plugin \"%s\" cannot start: %.*s", plugin->name,
                   MK_PLUGIN_WHY / 2 + MK_PLUGIN_WHY / 4,
                   said[0] ? said : mk_error_text(err < 0 ? err : MK_E_INVALID));
}

static struct mk_context of_worker(const struct mk_view *view, size_t plugin)
{
    struct mk_context ctx = view->contexts[plugin];

    ctx.site = NULL;
    return ctx;
}

static void set_local(struct mk_view *view, size_t plugin, void *local)
{
    const struct mk_snapshot *s = view->snapshot;

    for (size_t i = 0; i < mk_snapshot_places(s); i++)
        view->contexts[i * s->nplugins + plugin].local = local;
}

MK_AT_START int mk_view_begin(struct mk_view *view, struct mk_worker *w)
{
    const struct mk_snapshot *s = view->snapshot;

    for (size_t i = 0; i < s->nplugins; i++) {
        const struct mk_plugin *plugin = s->plugins[i].plugin;
        struct mk_context ctx = of_worker(view, i);
        void *local = NULL;
        int err = 0;

        w->why[0] = '\0';
        if (plugin->worker_start)
            err = plugin->worker_start(&ctx, &local);
        if (err != 0) {
            mk_plugin_failed(w->why, plugin, err);
            mk_view_end(view);
            return err < 0 ? err : MK_E_INVALID;
        }
        set_local(view, i, local);
        view->nbegun = i + 1;
    }
    return 0;
}

MK_AT_START void mk_view_end(struct mk_view *view)
{
    while (view->nbegun > 0) {
        size_t i = --view->nbegun;
        const struct mk_plugin *plugin = view->snapshot->plugins[i].plugin;
        struct mk_context ctx = of_worker(view, i);

        if (plugin->worker_stop)
            plugin->worker_stop(&ctx);
    }
}

/* ---- life ---- */

MK_AT_START static void free_view(struct mk_view *view)
{
    mk_view_end(view);
    mk_heap_free(view->contexts);
    mk_files_fini(&view->files);
    mk_snapshot_put(view->snapshot);
    mk_heap_free(view);
}

MK_AT_START struct mk_view *mk_view_new(struct mk_worker *w, struct mk_snapshot *snapshot,
                                        bool side)
{
    struct mk_view *view = mk_heap_zalloc(1, sizeof(*view));

    if (!view)
        return NULL;
    if (mk_files_init(&view->files, snapshot, w->shared->files_per_worker, w->shared->openat2,
                      &w->loop.clock) < 0) {
        mk_heap_free(view);
        return NULL;
    }
    mk_snapshot_get(snapshot);
    view->snapshot = snapshot;
    view->users = 1;
    view->side = side;
    if (make_contexts(view, w) < 0) {
        free_view(view);
        return NULL;
    }
    return view;
}

void mk_view_put(struct mk_view *view)
{
    if (--view->users == 0)
        free_view(view);
}
