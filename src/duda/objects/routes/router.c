/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "objects/routes/input.h"
#include "service/exchange.h"
#include "service/route.h"

#include <string.h>

static struct mk_duda_target target_of(struct mk_duda_service *s,
                                       void (*callback)(duda_request_t *), const char *name)
{
    if (!name)
        name = "?";
    return (struct mk_duda_target){.function = callback,
                                   .name = mk_duda_copy(s, name, strlen(name))};
}

static int add_route(char *pattern, void (*callback)(duda_request_t *), char *name,
                     struct mk_list *list)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct mk_duda_target target;

    (void)list;
    if (!s)
        return -1;
    if (!pattern || pattern[0] != '/' || !callback)
        return mk_duda_refuse(s, "router->map(): a pattern from / on and a call-back are needed");
    target = target_of(s, callback, name);
    return target.name ? mk_duda_add_rule(s, "router->map", pattern, &target) : -1;
}

static int set_root(struct web_service *ws, void (*callback)(void *), char *name)
{
    struct mk_duda_service *s = ws ? mk_duda_service_of(ws) : NULL;
    struct mk_duda_routes *routes = s ? mk_duda_routes_of(s, "router->root") : NULL;

    if (!routes)
        return -1;
    if (!callback)
        return mk_duda_refuse(s, "router->root(): a call-back is needed");
    routes->root = target_of(s, (void (*)(duda_request_t *))(void (*)(void))callback, name);
    return routes->root.name ? 0 : -1;
}

/* ---- level 3 ---- */

static int add(const char *call, const char *methods, const char *pattern,
               void (*callback)(duda_request_t *))
{
    struct mk_duda_service *s = mk_duda_here()->service;

    return s ? mk_duda_route_add(s, call, methods, pattern, callback, NULL, mk_duda_on_route) : -1;
}

/* Each method has a call of its own. */
#define METHODS(X)                                                                                 \
    X(get, "GET")                                                                                  \
    X(post, "POST")                                                                                \
    X(put, "PUT")                                                                                  \
    X(patch, "PATCH")                                                                              \
    X(delete, "DELETE")

#define ADD_METHOD(name, method)                                                                   \
    static int add_##name(const char *pattern, void (*callback)(duda_request_t *))                 \
    {                                                                                              \
        return add("router->" #name, method, pattern, callback);                                   \
    }
METHODS(ADD_METHOD)

static int add_methods(const char *methods, const char *pattern, void (*callback)(duda_request_t *))
{
    return add("router->route", methods, pattern, callback);
}

static int add_early(const char *methods, const char *pattern, void (*callback)(duda_request_t *))
{
    struct mk_duda_service *s = mk_duda_here()->service;

    return s ? mk_duda_route_add(s, "router->early", methods, pattern, callback, NULL,
                                 mk_duda_on_early_route)
             : -1;
}

static int add_group(const char *prefix, void (*routes)(void))
{
    struct mk_duda_service *s = mk_duda_here()->service;

    return s ? mk_duda_route_group(s, prefix, routes) : -1;
}

static int add_before(void (*hook)(duda_request_t *))
{
    struct mk_duda_service *s = mk_duda_here()->service;

    return s ? mk_duda_route_hook(s, "router->before", hook, false) : -1;
}

static int add_after(void (*hook)(duda_request_t *))
{
    struct mk_duda_service *s = mk_duda_here()->service;

    return s ? mk_duda_route_hook(s, "router->after", hook, true) : -1;
}

static int add_described(const char *methods, const char *pattern,
                         void (*callback)(duda_request_t *), const struct duda_inputs *inputs,
                         const char *file, int line)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    const struct mk_duda_described described = {inputs, NULL, file ? file : "?", line,
                                                mk_duda_route_describe};

    return s ? mk_duda_route_add(s, "router->describe", methods, pattern, callback, &described,
                                 mk_duda_on_route)
             : -1;
}

static int add_specified(const char *methods, const char *pattern,
                         void (*callback)(duda_request_t *), const struct duda_inputs *inputs,
                         const struct duda_answer *answers, const char *file, int line)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    const struct mk_duda_described described = {inputs, answers, file ? file : "?", line,
                                                mk_duda_route_describe};

    if (s && !answers)
        return mk_duda_refuse(s, "%s:%d: router->specify(): a table of answers is needed",
                              described.file, line);
    return s ? mk_duda_route_add(s, "router->specify", methods, pattern, callback, &described,
                                 mk_duda_on_route)
             : -1;
}

#define METHOD_MEMBER(name, method) .name = add_##name,
const struct duda_api_router mk_duda_router = {
    ._map = add_route,
    ._root = set_root,
    METHODS(METHOD_MEMBER).route = add_methods,
    .group = add_group,
    .before = add_before,
    .after = add_after,
    ._describe = add_described,
    .early = add_early,
    ._specify = add_specified,
};
