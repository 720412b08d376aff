/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/routes.h"

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

const struct duda_api_router mk_duda_router = {._map = add_route, ._root = set_root};
