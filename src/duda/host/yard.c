/* SPDX-License-Identifier: Apache-2.0 */
#include "host/yard.h"

#include "host/crash.h"
#include "service/table.h"

#include <stdlib.h>

struct mk_duda_yard *mk_duda_yard_new(struct mk_server *server)
{
    unsigned n = mk_server_workers(server);
    struct mk_duda_yard *yard = calloc(1, sizeof(*yard) + n * sizeof(struct mk_duda_worker *));

    if (!yard)
        return NULL;
    counted_init(&yard->refs, 1);
    yard->nworkers = n;
    return yard;
}

struct mk_duda_yard *mk_duda_yard_get(struct mk_duda_yard *yard)
{
    counted_get(&yard->refs);
    return yard;
}

void mk_duda_yard_put(struct mk_duda_yard *yard)
{
    if (!yard || !counted_put(&yard->refs))
        return;
    if (yard->reports_crashes)
        mk_duda_crash_unwatch();
    free(yard);
}

void mk_duda_yard_report_crashes(struct mk_duda_yard *yard)
{
    if (!yard->reports_crashes)
        mk_duda_crash_watch();
    yard->reports_crashes = true;
}

struct mk_duda_worker *mk_duda_worker_take(struct mk_duda_yard *yard, struct mk_worker *worker)
{
    struct mk_duda_worker **slot = &yard->workers[mk_worker_index(worker)], *w = *slot;

    if (!w) {
        w = calloc(1, sizeof(*w));
        if (!w)
            return NULL;
        w->worker = worker;
        w->index = mk_worker_index(worker);
        mk_duda_watch_here(worker);
        w->requests = mk_duda_table_new();
        if (!w->requests) {
            free(w);
            return NULL;
        }
        if (yard->reports_crashes)
            w->crash_stack = mk_duda_crash_enter();
        *slot = w;
    }
    w->refs++;
    return w;
}

void mk_duda_worker_leave(struct mk_duda_yard *yard, struct mk_duda_worker *w)
{
    if (--w->refs > 0)
        return;
    yard->workers[w->index] = NULL;
    mk_worker_set_errand(w->worker, NULL);
    mk_duda_table_free(w->requests);
    mk_duda_crash_leave(w->crash_stack);
    free(w);
}
