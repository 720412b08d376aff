/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/routes.h"

#include <dlfcn.h>
#include <string.h>

/* map, and the look-up of names: a name that the service does not export refuses the start. */

static struct mk_duda_service *this_service(void)
{
    return mk_duda_here()->service;
}

/* A call-back by name. @return false: it has none */
static bool by_name(struct mk_duda_target *target, const char *name)
{
    struct mk_duda_service *s = this_service();

    *target = (struct mk_duda_target){.name = name ? mk_duda_copy(s, name, strlen(name)) : NULL,
                                      .is_pending = true};
    return target->name;
}

static bool by_address(struct mk_duda_target *target, const char *name, mk_duda_callback callback)
{
    struct mk_duda_service *s = this_service();

    *target =
        (struct mk_duda_target){.name = mk_duda_copy(s, name, strlen(name)), .function = callback};
    return target->name && callback;
}

/* A setup call with a fault ends the start, as a name does that cannot be found. */
static int refuse(const char *call, const char *fault)
{
    struct mk_duda_service *s = this_service();

    return s ? mk_duda_refuse(s, "%s(): %s", call, fault) : -1;
}

static int static_add(const char *path, const char *name, struct mk_list *list)
{
    struct mk_duda_target target;

    (void)list;
    if (!this_service() || !path || !by_name(&target, name))
        return refuse("map->static_add", "a path and the name of a call-back are needed");
    return mk_duda_add_rule(this_service(), "map->static_add", path, &target);
}

static int static_add_ref(const char *path, void (*callback)(duda_request_t *),
                          struct mk_list *list)
{
    struct mk_duda_target target;

    (void)list;
    if (!this_service() || !path || !by_address(&target, path, callback))
        return refuse("map->static_add_ref", "a path and a call-back are needed");
    return mk_duda_add_rule(this_service(), "map->static_add_ref", path, &target);
}

static int static_root(struct web_service *ws, const char *name)
{
    struct mk_duda_routes *routes =
        ws ? mk_duda_routes_of(mk_duda_service_of(ws), "map->static_root") : NULL;

    if (!routes)
        return -1;
    return by_name(&routes->root, name)
               ? 0
               : refuse("map->static_root", "the name of a call-back is needed");
}

/* ---- interfaces ---- */

static void add_interface(duda_interface_t *iface, struct mk_list *list)
{
    struct mk_duda_routes *routes =
        this_service() ? mk_duda_routes_of(this_service(), "map->add_interface") : NULL;

    (void)list;
    if (!routes || !iface)
        return;
    *routes->last_interface = iface;
    routes->last_interface = &iface->next;
}

static duda_interface_t *interface_new(char *name)
{
    struct mk_duda_service *s = this_service();
    struct duda_interface *iface = s && name ? mk_duda_alloc(s, sizeof(*iface)) : NULL;

    if (!iface)
        return NULL;
    iface->name = mk_duda_copy(s, name, strlen(name));
    iface->last_method = &iface->methods;
    return iface->name ? iface : NULL;
}

static void interface_add_method(duda_method_t *method, duda_interface_t *iface)
{
    if (!method || !iface)
        return;
    *iface->last_method = method;
    iface->last_method = &method->next;
}

static duda_method_t *new_method(const char *name, int n_params)
{
    struct mk_duda_service *s = this_service();
    struct duda_method *method = s && name ? mk_duda_alloc(s, sizeof(*method)) : NULL;

    if (!method)
        return NULL;
    method->name = mk_duda_copy(s, name, strlen(name));
    method->n_params = n_params;
    method->last_param = &method->params;
    if (n_params < 0 || n_params > MAP_WS_MAX_PARAMS)
        (void)mk_duda_refuse(s, "map->method_new(): %s has %d parameters, more than %d", name,
                             n_params, MAP_WS_MAX_PARAMS);
    return method->name ? method : NULL;
}

static duda_method_t *method_new(char *name, char *callback, int n_params)
{
    struct duda_method *method = new_method(name, n_params);

    if (method && !by_name(&method->target, callback))
        (void)refuse("map->method_new", "the name of a call-back is needed");
    return method;
}

static duda_method_t *method_builtin_new(char *name, void (*callback)(duda_request_t *),
                                         int n_params)
{
    struct duda_method *method = new_method(name, n_params);

    if (method && !by_address(&method->target, name, callback))
        (void)refuse("map->method_builtin_new", "a call-back is needed");
    return method;
}

static void method_add_param(duda_param_t *param, duda_method_t *method)
{
    if (!param || !method)
        return;
    *method->last_param = param;
    method->last_param = &param->next;
}

static duda_param_t *param_new(char *name, short int max_len)
{
    struct mk_duda_service *s = this_service();
    struct duda_param *param = s ? mk_duda_alloc(s, sizeof(*param)) : NULL;

    (void)name;
    if (param)
        param->max_len = max_len;
    return param;
}

const struct duda_api_map mk_duda_map = {
    ._static_add = static_add,
    ._static_add_ref = static_add_ref,
    ._static_root = static_root,
    ._add_interface = add_interface,
    .interface_new = interface_new,
    .interface_add_method = interface_add_method,
    .method_new = method_new,
    .method_builtin_new = method_builtin_new,
    .method_add_param = method_add_param,
    .param_new = param_new,
};

/* ---- names ---- */

static int resolve(struct mk_duda_service *s, struct mk_duda_target *target, const char *where)
{
    union {
        void *object;
        mk_duda_callback function;
    } symbol;

    if (!target->is_pending)
        return 0;
    symbol.object = dlsym(s->library, target->name);
    if (!symbol.object)
        return mk_duda_refuse(s, "%s.duda has no function '%s' for %s: is it static?", s->spec.name,
                              target->name, where);
    target->function = symbol.function;
    target->is_pending = false;
    return 0;
}

static int resolve_names(struct mk_duda_service *s)
{
    if (s->why[0])
        return -1; /* of a call that was refused */
    if (!s->routes)
        return 0;
    if (resolve(s, &s->routes->root, "its root") < 0)
        return -1;
    for (struct mk_duda_rule *rule = s->routes->rules; rule; rule = rule->next) {
        if (resolve(s, &rule->target, rule->pattern.p) < 0)
            return -1;
    }
    for (struct duda_interface *i = s->routes->interfaces; i; i = i->next) {
        for (struct duda_method *m = i->methods; m; m = m->next) {
            if (resolve(s, &m->target, m->name) < 0)
                return -1;
        }
    }
    return 0;
}

const struct mk_duda_part mk_duda_map_part = {.ready = resolve_names};
