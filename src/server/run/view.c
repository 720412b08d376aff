/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/code.h"
#include "server/run/server_int.h"

static int make_contexts(struct mk_view *view, struct mk_worker *w)
{
    const struct mk_snapshot *s = view->snapshot;
    size_t count = s->nsites * s->nplugins;

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

MK_AT_START static void free_view(struct mk_view *view)
{
    mk_view_end(view);
    mk_heap_free(view->contexts);
    mk_files_fini(&view->files);
    mk_snapshot_put(view->snapshot);
    mk_heap_free(view);
}

MK_AT_START struct mk_view *mk_view_new(struct mk_worker *w, struct mk_snapshot *snapshot)
{
    struct mk_view *view = mk_heap_zalloc(1, sizeof(*view));

    if (!view)
        return NULL;
    if (mk_files_init(&view->files, snapshot, w->server->files_per_worker, w->server->openat2,
                      &w->loop.clock) < 0) {
        mk_heap_free(view);
        return NULL;
    }
    mk_snapshot_get(snapshot);
    view->snapshot = snapshot;
    view->users = 1;
    view->side = snapshot == w->server->snapshot ? w->server->side : !w->server->side;
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
