/* SPDX-License-Identifier: Apache-2.0 */
#include "host/entrance.h"

#include "kit/pure/percent.h"

#include "service/exchange.h"
#include "service/routes.h"
#include "host/settings.h"

#include <monkey/web/router.h>

#include <string.h>

static enum mk_verdict redirect(struct mk_request *r, struct mk_str path)
{
    char *location = mk_request_alloc(r, path.len * PERCENT_GROWTH + 1);
    size_t len;

    if (!location)
        return mk_reply_error(r, 503, NULL);
    len = percent_encode(location, path, PERCENT_PATH);
    location[len++] = '/';
    return mk_reply_redirect(r, 301, (struct mk_str){location, len});
}

/* @param rest  of the path, behind the service's name */
static enum mk_verdict serve_file(struct mk_request *r, struct mk_str path, const char *root,
                                  struct mk_str rest)
{
    if (!root)
        return mk_reply_error(r, 404, NULL);
    return rest.len == 0 ? redirect(r, path) : mk_reply_beneath(r, mk_str_from(root), rest);
}

/* Routes of level 3 are asked first. @return PASS: none fits */
static enum mk_verdict serve_route(struct mk_request *r, struct mk_str path,
                                   const struct mk_duda_service *s, struct mk_str rest)
{
    if (!s->routes || !s->routes->router)
        return MK_VERDICT_PASS;
    return rest.len == 0 ? redirect(r, path)
                         : mk_router_run(s->routes->router, r, path.len - rest.len);
}

/* What was found by the names of interface and method, or in the map. */
static enum mk_verdict serve_call(struct mk_request *r, struct mk_duda_service *s,
                                  struct mk_str path, struct mk_str rest)
{
    struct mk_duda_match match;

    switch (mk_duda_find(s, rest, s->ws.url_force_redirect && mk_request_query(r).p, &match)) {
    case MK_DUDA_SLASH:
        return redirect(r, path);
    case MK_DUDA_NONE:
        return serve_file(r, path, s->spec.docroot, rest);
    case MK_DUDA_CALL:
        break;
    }
    return mk_duda_begin(r, s, &match);
}

/* The pages of the framework itself: /ddr. */
static bool is_shared(struct mk_str path)
{
    static const struct mk_str ddr = MK_STR_INIT("/ddr");

    return path.len >= ddr.len && memcmp(path.p, ddr.p, ddr.len) == 0 &&
           (path.len == ddr.len || path.p[ddr.len] == '/');
}

/* A root service has all paths, whatever others are called. @param rest  out: of the path, behind the service's name */
static struct mk_duda_service *find_service(const struct mk_duda_home *home, struct mk_str path,
                                            struct mk_str *rest)
{
    struct mk_duda_service *found = NULL;

    for (size_t i = 0; i < home->nservices; i++) {
        struct mk_duda_service *s = home->services[i];
        struct mk_str behind = mk_duda_rest(s, path);

        if (behind.p && (!found || s->ws.is_root)) {
            found = s;
            *rest = behind;
        }
        if (found && found->ws.is_root)
            break;
    }
    return found;
}

enum mk_verdict mk_duda_on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct mk_duda_plan *plan = ctx->config;
    struct mk_duda_service *s;
    enum mk_verdict verdict;
    struct mk_str path, rest;

    (void)data;
    if (mk_duda_go_on(r, &verdict))
        return verdict;
    path = mk_request_path(r);
    if (plan->set->document_root && is_shared(path))
        return serve_file(r, path, plan->set->document_root,
                          (struct mk_str){path.p + 4, path.len - 4});
    s = find_service(ctx->site, path, &rest);
    if (!s)
        return MK_VERDICT_PASS;
    verdict = serve_route(r, path, s, rest);
    return verdict == MK_VERDICT_PASS ? serve_call(r, s, path, rest) : verdict;
}
