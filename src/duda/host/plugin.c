/* SPDX-License-Identifier: Apache-2.0 */
#include "host/metrics.h"
#include "host/entrance.h"
#include "service/exchange.h"
#include "host/load.h"
#include "host/settings.h"
#include "host/yard.h"

/* Duda: web services as shared objects, which run on the worker of their connection. */

/* ---- a configuration: its services are loaded, or kept from the one before ---- */

static struct mk_duda_service *find_same(const struct mk_duda_plan *old,
                                         const struct mk_duda_plan *plan,
                                         const struct mk_duda_spec *spec)
{
    for (struct mk_duda_home *home = old ? old->homes : NULL; home; home = home->next) {
        for (size_t i = 0; i < home->nservices; i++) {
            if (mk_duda_is_same(home->services[i], plan, spec)) {
                counted_get(&home->services[i]->refs);
                return home->services[i];
            }
        }
    }
    return NULL;
}

static int fill_home(const struct mk_context *ctx, const struct mk_duda_plan *old,
                     struct mk_duda_home *home)
{
    char why[320];
    int err = 0;

    for (size_t i = 0; err == 0 && i < home->nwishes; i++) {
        struct mk_duda_service *s = find_same(old, home->plan, &home->specs[i]);

        if (!s)
            s = mk_duda_load(ctx, home->plan, &home->specs[i], &err, why, sizeof(why));
        if (err < 0)
            mk_plugin_why(ctx, "%s", why);
        else if (s && s->state == MK_DUDA_READY)
            home->services[home->nservices++] = s;
        else
            mk_duda_put(s);
    }
    return err;
}

static void drop_plan(struct mk_duda_plan *plan)
{
    for (struct mk_duda_home *home = plan->homes; home; home = home->next) {
        while (home->nservices > 0)
            mk_duda_put(home->services[--home->nservices]);
    }
    mk_duda_yard_put(plan->yard);
}

static int duda_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct mk_duda_plan *plan = ctx->config, *before = old ? old->config : NULL;
    int err = 0;

    plan->yard = before ? mk_duda_yard_get(before->yard) : mk_duda_yard_new(ctx->server);
    if (!plan->yard)
        return MK_E_NOMEM;
    if (!before && plan->set->reports_crashes)
        mk_duda_yard_report_crashes(plan->yard);
    for (struct mk_duda_home *home = plan->homes; err == 0 && home; home = home->next)
        err = fill_home(ctx, before, home);
    if (err < 0)
        drop_plan(plan);
    return err;
}

static void duda_stop(const struct mk_context *ctx)
{
    drop_plan(ctx->config);
}

/* ---- workers ---- */

/* All services of the plan before one of them; NULL: all. */
static void leave_seats(const struct mk_duda_plan *plan, struct mk_duda_worker *w,
                        const struct mk_duda_service *before)
{
    for (struct mk_duda_home *home = plan->homes; home; home = home->next) {
        for (size_t i = 0; i < home->nservices; i++) {
            if (home->services[i] == before)
                return;
            mk_duda_seat_leave(home->services[i], w);
        }
    }
}

static struct mk_duda_service *take_seats(const struct mk_duda_plan *plan, struct mk_duda_worker *w)
{
    for (struct mk_duda_home *home = plan->homes; home; home = home->next) {
        for (size_t i = 0; i < home->nservices; i++) {
            if (mk_duda_seat_take(home->services[i], w) < 0)
                return home->services[i];
        }
    }
    return NULL;
}

static int duda_worker_start(const struct mk_context *ctx, void **local)
{
    struct mk_duda_plan *plan = ctx->config;
    struct mk_duda_worker *w = mk_duda_worker_take(plan->yard, ctx->worker);
    struct mk_duda_service *failed;

    if (!w)
        return MK_E_NOMEM;
    failed = take_seats(plan, w);
    if (failed) {
        mk_plugin_why(ctx, "service '%s': %s", failed->spec.name,
                      failed->why[0] ? failed->why : "no memory");
        leave_seats(plan, w, failed);
        mk_duda_worker_leave(plan->yard, w);
        return MK_E_INVALID;
    }
    *local = w;
    return 0;
}

static void duda_worker_stop(const struct mk_context *ctx)
{
    struct mk_duda_plan *plan = ctx->config;

    leave_seats(plan, ctx->local, NULL);
    mk_duda_worker_leave(plan->yard, ctx->local);
}

static const struct mk_plugin duda = {
    MK_PLUGIN("duda", "runs web services, which are shared objects"),
    .sections = mk_duda_sections,
    .check = mk_duda_check,
    .check_site = mk_duda_check_site,
    .start = duda_start,
    .stop = duda_stop,
    .worker_start = duda_worker_start,
    .worker_stop = duda_worker_stop,
    .on_handle = mk_duda_on_handle,
    .metrics = mk_duda_tell_metrics,
    .traits = MK_TRAIT_ELSEWHERE,
};
MK_PLUGIN_EXPORT(duda);
