/* SPDX-License-Identifier: Apache-2.0 */
#include "service/route.h"

#include "kit/text/words.h"
#include "service/answer.h"
#include "service/part.h"

#include <stdio.h>
#include <string.h>

/* ---- groups ---- */

/* The group that is open; at first that of the whole service. @return NULL: too late, or no memory */
static struct mk_duda_scope *scope_of(struct mk_duda_service *s, const char *call)
{
    struct mk_duda_routes *routes = mk_duda_routes_of(s, call);

    if (routes && !routes->scope)
        routes->scope = mk_duda_alloc(s, sizeof(*routes->scope));
    return routes ? routes->scope : NULL;
}

int mk_duda_route_group(struct mk_duda_service *s, const char *prefix, void (*routes)(void))
{
    struct mk_duda_scope *around = scope_of(s, "router->group"), inner;
    size_t len = prefix ? strlen(prefix) : 0;
    int room;

    if (!around)
        return -1;
    if (len < 2 || prefix[0] != '/' || prefix[len - 1] == '/' || !routes)
        return mk_duda_refuse(s, "router->group(\"%s\"): a prefix such as \"/api\" is needed",
                              prefix ? prefix : "");
    inner = *around;
    room = snprintf(inner.prefix, sizeof(inner.prefix), "%s%s", around->prefix, prefix);
    if (room >= (int)sizeof(inner.prefix))
        return mk_duda_refuse(s, "router->group(\"%.40s...\"): it is too long", prefix);
    s->routes->scope = &inner;
    routes();
    s->routes->scope = around;
    return 0;
}

/* @return the hook, added to the list; NULL: too late, or no memory */
static struct mk_duda_hook *add_hook(struct mk_duda_service *s, const char *call, bool is_after)
{
    struct mk_duda_scope *scope = scope_of(s, call);
    struct mk_duda_hook *hook = scope ? mk_duda_alloc(s, sizeof(*hook)) : NULL;
    const struct mk_duda_hook **newest;

    if (!hook)
        return NULL;
    newest = is_after ? &scope->after : &scope->before;
    hook->older = *newest;
    *newest = hook;
    return hook;
}

int mk_duda_route_hook(struct mk_duda_service *s, const char *call, mk_duda_callback function,
                       bool is_after)
{
    struct mk_duda_hook *hook;

    if (!function)
        return mk_duda_refuse(s, "%s(): a call-back is needed", call);
    hook = add_hook(s, call, is_after);
    if (!hook)
        return -1;
    hook->function = function;
    return 0;
}

int mk_duda_route_guard(struct mk_duda_service *s, const char *call,
                        void (*check)(struct mk_duda_request *rq, const void *arg), const void *arg,
                        bool (*needs_body)(struct mk_duda_request *rq))
{
    struct mk_duda_hook *hook = add_hook(s, call, false);

    if (!hook)
        return -1;
    hook->check = check;
    hook->needs_body = needs_body;
    hook->arg = arg;
    return 0;
}

int mk_duda_route_cors(struct mk_duda_service *s, const char *call,
                       void (*check)(struct mk_duda_request *rq, const void *arg), const void *arg)
{
    if (mk_duda_route_guard(s, call, check, arg, NULL) < 0)
        return -1;
    s->routes->scope->cors = s->routes->scope->before;
    return 0;
}

/* ---- routes ---- */

/* @return a copy of what the patterns says of types, with names that last; NULL without memory */
static const struct mk_duda_typed *copy_typed(struct mk_duda_service *s,
                                              const struct mk_duda_pattern *p)
{
    struct mk_duda_typed *copy = mk_duda_alloc(s, (p->ntyped + 1) * sizeof(*copy));

    for (unsigned i = 0; copy && i < p->ntyped; i++) {
        const struct mk_str name = p->typed[i].name;

        copy[i].type = p->typed[i].type;
        copy[i].name = mk_str_from(mk_duda_copy(s, name.p, name.len));
    }
    return copy;
}

static struct mk_duda_route *new_route(struct mk_duda_service *s, const char *methods,
                                       const char *pattern, const struct mk_duda_pattern *p,
                                       mk_duda_callback callback)
{
    struct mk_duda_route *route = mk_duda_alloc(s, sizeof(*route));
    char name[MK_ROUTE_PATTERN + 64];

    if (!route)
        return NULL;
    (void)snprintf(name, sizeof(name), "%s %s", methods ? methods : "*", pattern);
    *route = (struct mk_duda_route){
        .service = s,
        .target = {.function = callback, .name = mk_duda_copy(s, name, strlen(name))},
        .before = s->routes->scope->before,
        .after = s->routes->scope->after,
        .cors = s->routes->scope->cors,
        .typed = copy_typed(s, p),
        .ntyped = p->ntyped,
    };
    if (!route->target.name || !route->typed)
        return NULL;
    route->pattern = route->target.name + strlen(methods ? methods : "*") + 1;
    return route;
}

static const char *fault_of(int err)
{
    switch (err) {
    case MK_E_EXISTS:
        return "another route has this path and method";
    case MK_E_LIMIT:
        return "it is too long, or has too many variables or methods";
    case MK_E_NOMEM:
        return "no memory";
    default:
        return "it is malformed";
    }
}

/* Is each variable of the request of the type that the route says? */
static bool fits(const struct mk_request *r, void *arg)
{
    const struct mk_duda_route *route = arg;

    for (unsigned i = 0; i < route->ntyped; i++) {
        if (!mk_duda_type_fits(route->typed[i].type, mk_path_value(r, route->typed[i].name)))
            return false;
    }
    return true;
}

/* ---- what browsers ask before they send a request to another site ---- */

/* A pattern that is to have such a route. */
struct mk_duda_preflight {
    struct mk_duda_preflight *next;
    const char *plain; /* the pattern without types */
    mk_handle_fn run;
    struct mk_duda_hook check;
    struct mk_duda_route route;
};

bool mk_duda_is_preflight(const struct mk_request *r)
{
    return text_is(mk_request_method(r), MK_STR("OPTIONS")) &&
           mk_request_header(r, MK_STR("Origin")).p &&
           mk_request_header(r, MK_STR("Access-Control-Request-Method")).p;
}

static bool fits_preflight(const struct mk_request *r, void *arg)
{
    return mk_duda_is_preflight(r) && fits(r, arg);
}

/* Never called: the hook before it answers. */
static void preflight(duda_request_t *dr)
{
    (void)dr;
}

/* @return 0 or MK_E_NOMEM */
static int note_preflight(struct mk_duda_service *s, const struct mk_duda_route *like,
                          const char *plain, mk_handle_fn run)
{
    struct mk_duda_preflight *p = s->routes->preflights;

    while (p && strcmp(p->route.pattern, like->pattern) != 0)
        p = p->next;
    if (p)
        return 0;
    p = mk_duda_alloc(s, sizeof(*p));
    if (!p)
        return MK_E_NOMEM;
    p->next = s->routes->preflights;
    p->plain = mk_duda_copy(s, plain, strlen(plain));
    p->run = run;
    p->check = *like->cors;
    p->check.older = NULL;
    p->route = *like;
    p->route.target.function = preflight;
    p->route.before = &p->check;
    p->route.after = NULL;
    s->routes->preflights = p;
    return p->plain ? 0 : MK_E_NOMEM;
}

/* A route that the service has for OPTIONS itself begins with the same hook. */
static int add_preflights(struct mk_duda_service *s)
{
    int err = 0;

    for (struct mk_duda_preflight *p = s->routes ? s->routes->preflights : NULL; p && err == 0;
         p = p->next) {
        err = mk_router_add_if(s->routes->router, "OPTIONS", p->plain, fits_preflight, p->run,
                               &p->route);
        if (err == MK_E_EXISTS)
            err = 0;
        if (err < 0)
            return mk_duda_refuse(s, "guard->cors() for %.100s: %s", p->route.pattern,
                                  fault_of(err));
    }
    return 0;
}

int mk_duda_route_add(struct mk_duda_service *s, const char *call, const char *methods,
                      const char *pattern, mk_duda_callback callback,
                      const struct mk_duda_described *described, mk_handle_fn run)
{
    struct mk_duda_scope *scope = scope_of(s, call);
    char whole[MK_ROUTE_PATTERN + 1];
    struct mk_duda_pattern p;
    struct mk_duda_route *route;
    const char *why = NULL;
    int err = 0;

    if (!scope)
        return -1;
    if (!pattern || !callback)
        return mk_duda_refuse(s, "%s(): a pattern and a call-back are needed", call);
    if (snprintf(whole, sizeof(whole), "%s%s", scope->prefix, pattern) >= (int)sizeof(whole))
        err = MK_E_LIMIT;
    else
        why = mk_duda_pattern_read(&p, mk_str_from(whole));
    if (err == 0 && !why && !s->routes->router)
        err = mk_router_new(&s->routes->router);
    if (err == 0 && !why) {
        route = new_route(s, methods, whole, &p, callback);
        if (route && described && described->give(route, methods, p.plain, described) < 0)
            return -1;
        err = route ? mk_router_add_if(s->routes->router, methods, p.plain,
                                       p.ntyped > 0 ? fits : NULL, run, route)
                    : MK_E_NOMEM;
        if (err == 0) {
            *s->routes->last_route = route;
            s->routes->last_route = &route->next;
        }
        if (err == 0 && route->cors)
            err = note_preflight(s, route, p.plain, run);
    }
    if (err < 0)
        why = fault_of(err);
    return why ? mk_duda_refuse(s, "%s(\"%.100s\"): %s", call, pattern, why) : 0;
}

static void free_router(struct mk_duda_service *s)
{
    if (s->routes)
        mk_router_free(s->routes->router);
}

const struct mk_duda_part mk_duda_route_part = {.ready = add_preflights, .exit = free_router};

/* ---- requests ---- */

static bool needs_body(const struct mk_duda_hook *hook, struct mk_duda_request *rq)
{
    return hook->function || (hook->needs_body && hook->needs_body(rq));
}

/* @param n  in and out: how many stand before them, with those that were called at the head */
static bool call_hooks(const struct mk_duda_hook *newest, struct mk_duda_request *rq,
                       bool is_at_head, unsigned *n)
{
    if (!newest)
        return true;
    if (!call_hooks(newest->older, rq, is_at_head, n))
        return false;
    if (++*n <= rq->nguards)
        return true;
    if (is_at_head && needs_body(newest, rq))
        return false;
    rq->nguards = *n;
    if (newest->check)
        newest->check(rq, newest->arg);
    else
        newest->function(&rq->dr);
    (void)mk_duda_answer_adopt(rq);
    return rq->state == MK_DUDA_REQUEST_CALLED && !mk_duda_request_waits(rq);
}

bool mk_duda_route_before(const struct mk_duda_hook *newest, struct mk_duda_request *rq)
{
    unsigned n = 0;

    return call_hooks(newest, rq, false, &n);
}

bool mk_duda_route_at_head(const struct mk_duda_hook *newest, struct mk_duda_request *rq)
{
    unsigned n = 0;

    (void)call_hooks(newest, rq, true, &n);
    return rq->state == MK_DUDA_REQUEST_CALLED;
}

void mk_duda_route_after(const struct mk_duda_hook *newest, struct mk_duda_request *rq)
{
    for (; newest; newest = newest->older)
        newest->function(&rq->dr);
}
