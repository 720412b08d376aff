/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdlib.h>

static void on_end(void *arg)
{
    struct visit *v = arg, **at = &v->home->visits;

    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    v->end(v);
    free(v);
}

void *visit_of(struct mk_request *r, const struct mk_context *ctx, size_t size,
               void (*end)(struct visit *v))
{
    struct probe_worker *home = ctx->local;
    struct visit *v = home->visits;

    while (v && v->r != r)
        v = v->next;
    if (v)
        return v;
    v = calloc(1, size);
    if (!v || mk_request_on_end(r, on_end, v) < 0) {
        free(v);
        return NULL;
    }
    v->r = r;
    v->home = home;
    v->end = end;
    v->next = home->visits;
    home->visits = v;
    return v;
}

void visit_fail(struct visit *v, unsigned status)
{
    (void)mk_reply_error(v->r, status, NULL);
    mk_request_resume(v->r);
}
