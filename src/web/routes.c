/* SPDX-License-Identifier: Apache-2.0 */
#include "web/router_int.h"

#include "base/str.h"

/* Groups of routes: a prefix, and hooks around their handlers. */

/* How far a request is: kept with it, so that a hook that has let it pass is not called again with its handler. */
struct visit {
    const struct mk_route *route;
    unsigned npassed;
    bool is_with_handler; /* the hooks have let it pass */
};

static const char visit_key;

/* ---- building ---- */

void mk_routes_init(struct mk_router *router)
{
    struct mk_routes *all = &router->all;

    all->router = router;
    all->last_before = &all->before;
}

struct mk_routes *mk_router_routes(struct mk_router *router)
{
    return router ? &router->all : NULL;
}

static bool is_prefix(struct mk_str prefix)
{
    return prefix.len == 0 ||
           (prefix.len > 1 && prefix.p[0] == '/' && prefix.p[prefix.len - 1] != '/' &&
            !memchr(prefix.p, '*', prefix.len));
}

int mk_routes_group(struct mk_routes *around, const char *prefix, struct mk_routes **group)
{
    const struct mk_str own = mk_str_from(prefix);
    struct mk_routes *g;
    char *text;

    if (!around || !group || !is_prefix(own))
        return MK_E_INVALID;
    if (around->depth + 1 == MK_ROUTE_DEPTH || around->prefix.len + own.len > MK_ROUTE_PATTERN)
        return MK_E_LIMIT;
    g = mk_arena_zalloc(&around->router->arena, sizeof(*g));
    text = mk_arena_alloc(&around->router->arena, around->prefix.len + own.len + 1);
    if (!g || !text)
        return MK_E_NOMEM;
    if (around->prefix.len > 0)
        memcpy(text, around->prefix.p, around->prefix.len);
    if (own.len > 0)
        memcpy(text + around->prefix.len, own.p, own.len);
    g->prefix = (struct mk_str){text, around->prefix.len + own.len};
    g->router = around->router;
    g->around = around;
    g->depth = around->depth + 1;
    g->last_before = &g->before;
    *group = g;
    return 0;
}

int mk_routes_add(struct mk_routes *routes, const char *methods, const char *pattern,
                  mk_handle_fn fn, void *arg)
{
    return routes ? mk_route_add(routes, methods, pattern, NULL, fn, arg) : MK_E_INVALID;
}

/* @return memory for one more hook; NULL with *err */
static void *new_hook(struct mk_routes *routes, bool has_fn, size_t size, int *err)
{
    void *hook;

    *err = !routes || !has_fn ? MK_E_INVALID : routes->nhooks == MK_ROUTE_HOOKS ? MK_E_LIMIT : 0;
    if (*err < 0)
        return NULL;
    hook = mk_arena_zalloc(&routes->router->arena, size);
    if (!hook) {
        *err = MK_E_NOMEM;
        return NULL;
    }
    routes->nhooks++;
    routes->router->has_hooks = true;
    return hook;
}

int mk_routes_before(struct mk_routes *routes, mk_handle_fn fn, void *arg)
{
    int err;
    struct mk_route_before *hook = new_hook(routes, fn != NULL, sizeof(*hook), &err);

    if (!hook)
        return err;
    hook->fn = fn;
    hook->arg = arg;
    *routes->last_before = hook;
    routes->last_before = &hook->next;
    return 0;
}

int mk_routes_after(struct mk_routes *routes, mk_finish_fn fn, void *arg)
{
    int err;
    struct mk_route_after *hook = new_hook(routes, fn != NULL, sizeof(*hook), &err);

    if (!hook)
        return err;
    *hook = (struct mk_route_after){routes->after, fn, arg};
    routes->after = hook;
    routes->router->has_after = true;
    return 0;
}

/* ---- running ---- */

static bool has_hooks(const struct mk_routes *routes)
{
    while (routes && routes->nhooks == 0)
        routes = routes->around;
    return routes != NULL;
}

static struct visit *visit_of(const struct mk_route *route, struct mk_request *r)
{
    struct visit *v = mk_request_kept(r, &visit_key);

    if (v && v->route == route)
        return v;
    if (!v)
        v = mk_request_alloc(r, sizeof(*v));
    if (!v || mk_request_keep(r, &visit_key, v) < 0)
        return NULL;
    *v = (struct visit){.route = route};
    return v;
}

/* As deep as groups are. @param n  in and out: hooks that stand before these */
static enum mk_verdict call_before(const struct mk_routes *routes, struct mk_request *r,
                                   struct visit *v, unsigned *n)
{
    enum mk_verdict verdict = MK_VERDICT_PASS;

    if (routes->around)
        verdict = call_before(routes->around, r, v, n);
    for (const struct mk_route_before *hook = routes->before; hook && verdict == MK_VERDICT_PASS;
         hook = hook->next) {
        if (++*n <= v->npassed)
            continue;
        verdict = hook->fn(r, hook->arg);
        if (verdict == MK_VERDICT_PASS)
            v->npassed = *n;
    }
    return verdict;
}

enum mk_verdict mk_routes_call(const struct mk_route *route, struct mk_request *r)
{
    struct visit *v = has_hooks(route->routes) ? visit_of(route, r) : NULL;
    enum mk_verdict verdict = MK_VERDICT_PASS;
    unsigned n = 0;

    if (!v && has_hooks(route->routes))
        return mk_reply_error(r, 500, NULL);
    if (v)
        verdict = call_before(route->routes, r, v, &n);
    if (verdict != MK_VERDICT_PASS)
        return verdict;
    if (v)
        v->is_with_handler = true;
    return route->fn(r, route->arg);
}

const struct mk_route *mk_routes_answered(const struct mk_request *r)
{
    const struct visit *v = mk_request_kept(r, &visit_key);

    return v && v->is_with_handler ? v->route : NULL;
}

void mk_router_finish(const struct mk_router *router, struct mk_request *r)
{
    const struct visit *v =
        router && router->has_after && r ? mk_request_kept(r, &visit_key) : NULL;

    if (!v || v->route->routes->router != router)
        return;
    for (const struct mk_routes *routes = v->route->routes; routes; routes = routes->around) {
        for (const struct mk_route_after *hook = routes->after; hook; hook = hook->older)
            hook->fn(r, hook->arg);
    }
}
