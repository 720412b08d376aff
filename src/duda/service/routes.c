/* SPDX-License-Identifier: Apache-2.0 */
#include "service/routes.h"

#include "kit/text/words.h"

#include <string.h>

enum { SEGMENTS_MAX = 32, LEVEL_ROUTER = 2 };

struct mk_str mk_duda_next_segment(struct mk_str *rest)
{
    struct mk_str segment = {NULL, 0};

    while (rest->len > 0 && rest->p[0] == '/') {
        rest->p++;
        rest->len--;
    }
    if (rest->len == 0)
        return segment;
    segment.p = rest->p;
    while (rest->len > 0 && rest->p[0] != '/') {
        rest->p++;
        rest->len--;
    }
    segment.len = (size_t)(rest->p - segment.p);
    return segment;
}

struct mk_str mk_duda_rest(const struct mk_duda_service *s, struct mk_str path)
{
    size_t len = s->ws.name.len;

    if (s->ws.is_root)
        return path;
    if (path.len < len + 1 || memcmp(path.p + 1, s->ws.name.data, len) != 0 ||
        (path.len > len + 1 && path.p[len + 1] != '/'))
        return (struct mk_str){NULL, 0};
    return (struct mk_str){path.p + len + 1, path.len - len - 1};
}

static bool begins(struct mk_str text, struct mk_str with)
{
    return text.len >= with.len && memcmp(text.p, with.p, with.len) == 0;
}

static bool is_slash(struct mk_str rest)
{
    return rest.len == 1 && rest.p[0] == '/';
}

/* ---- level 1 ---- */

/* @return whether as many parameters follow as the method has, each short enough */
static bool takes(const struct duda_method *m, struct mk_str rest, struct mk_duda_match *match)
{
    const struct duda_param *param = m->params;
    struct mk_str segment;
    int n = 0;

    while ((segment = mk_duda_next_segment(&rest)).p) {
        if (n == m->n_params || n == MAP_WS_MAX_PARAMS ||
            (param && param->max_len > 0 && segment.len > (size_t)param->max_len))
            return false;
        match->params[n++] = segment;
        param = param ? param->next : NULL;
    }
    match->nparams = (unsigned)n;
    match->target = &m->target;
    return n == m->n_params;
}

static bool is_named(struct mk_str segment, const char *name)
{
    return text_is(segment, mk_str_from(name));
}

static bool find_method(const struct mk_duda_routes *routes, struct mk_str rest,
                        struct mk_duda_match *match)
{
    match->interface = mk_duda_next_segment(&rest);
    match->method = mk_duda_next_segment(&rest);
    if (!match->method.p)
        return false;
    for (const struct duda_interface *i = routes->interfaces; i; i = i->next) {
        for (const struct duda_method *m = is_named(match->interface, i->name) ? i->methods : NULL;
             m; m = m->next) {
            if (is_named(match->method, m->name) && takes(m, rest, match))
                return true;
        }
    }
    return false;
}

static enum mk_duda_outcome find_static(const struct mk_duda_service *s, struct mk_str rest,
                                        bool has_query, struct mk_duda_match *match)
{
    const struct mk_duda_rule *rule = s->routes->rules;

    while (rule && !begins(rest, rule->pattern))
        rule = rule->next;
    if (!rule)
        return MK_DUDA_NONE;
    match->target = &rule->target;
    return s->ws.url_force_redirect && !has_query && rest.p[rest.len - 1] != '/' ? MK_DUDA_SLASH
                                                                                 : MK_DUDA_CALL;
}

static enum mk_duda_outcome find_mapped(const struct mk_duda_service *s, struct mk_str rest,
                                        bool has_query, struct mk_duda_match *match)
{
    const struct mk_duda_routes *routes = s->routes;

    if (routes->root.function && (rest.len == 0 || is_slash(rest))) {
        match->target = &routes->root;
        return MK_DUDA_CALL;
    }
    if (routes->interfaces) {
        if (find_method(routes, rest, match))
            return MK_DUDA_CALL;
        match->interface = match->method = (struct mk_str){NULL, 0};
        match->nparams = 0;
    }
    return find_static(s, rest, has_query, match);
}

/* ---- level 2 ---- */

static bool is_variable(struct mk_str segment)
{
    return segment.len > 0 && segment.p[0] == ':';
}

/* Further segments of the request are ignored; a pattern of variables alone never matches. */
static bool matches_segments(struct mk_str pattern, struct mk_str rest)
{
    struct mk_str field, segment;
    bool has_literal = false;

    for (unsigned n = 0; (field = mk_duda_next_segment(&pattern)).p; n++) {
        segment = mk_duda_next_segment(&rest);
        if (!segment.p || n == SEGMENTS_MAX || (!is_variable(field) && !text_is(field, segment)))
            return false;
        has_literal = has_literal || !is_variable(field);
    }
    return has_literal;
}

static bool lacks_slash(struct mk_str pattern, struct mk_str rest)
{
    return pattern.len == rest.len + 1 && pattern.p[rest.len] == '/' && rest.len > 0 &&
           memcmp(pattern.p, rest.p, rest.len) == 0;
}

static enum mk_duda_outcome find_routed(const struct mk_duda_routes *routes, struct mk_str rest,
                                        struct mk_duda_match *match)
{
    if (routes->root.function && rest.len <= 1) {
        match->target = &routes->root;
        return rest.len == 0 ? MK_DUDA_SLASH : MK_DUDA_CALL;
    }
    for (const struct mk_duda_rule *rule = routes->rules; rule; rule = rule->next) {
        match->target = &rule->target;
        if (rule->has_variables ? matches_segments(rule->pattern, rest)
                                : begins(rest, rule->pattern)) {
            match->rule = rule;
            return MK_DUDA_CALL;
        }
        if (!rule->has_variables && lacks_slash(rule->pattern, rest))
            return MK_DUDA_SLASH;
    }
    return MK_DUDA_NONE;
}

struct mk_str mk_duda_variable(const struct mk_duda_rule *rule, struct mk_str rest,
                               struct mk_str name)
{
    struct mk_str pattern = rule->pattern, field;

    while (rule->has_variables && (field = mk_duda_next_segment(&pattern)).p) {
        struct mk_str segment = mk_duda_next_segment(&rest);

        if (is_variable(field) && text_is((struct mk_str){field.p + 1, field.len - 1}, name))
            return segment;
    }
    return (struct mk_str){NULL, 0};
}

enum mk_duda_outcome mk_duda_find(const struct mk_duda_service *s, struct mk_str rest,
                                  bool has_query, struct mk_duda_match *match)
{
    match->target = NULL;
    match->rule = NULL;
    match->interface = match->method = (struct mk_str){NULL, 0};
    match->nparams = 0;
    if (!s->routes)
        return MK_DUDA_NONE;
    return s->level >= LEVEL_ROUTER ? find_routed(s->routes, rest, match)
                                    : find_mapped(s, rest, has_query, match);
}

/* ---- filling them ---- */

struct mk_duda_routes *mk_duda_routes_of(struct mk_duda_service *s, const char *call)
{
    if (!mk_duda_is_set_up(s, call))
        return NULL;
    if (!s->routes) {
        s->routes = mk_duda_alloc(s, sizeof(*s->routes));
        if (!s->routes)
            return NULL;
        s->routes->last_rule = &s->routes->rules;
        s->routes->last_route = &s->routes->routes;
        s->routes->last_interface = &s->routes->interfaces;
    }
    return s->routes;
}

int mk_duda_add_rule(struct mk_duda_service *s, const char *call, const char *pattern,
                     const struct mk_duda_target *target)
{
    struct mk_duda_routes *routes = mk_duda_routes_of(s, call);
    struct mk_duda_rule *rule = routes ? mk_duda_alloc(s, sizeof(*rule)) : NULL;
    char *copy = rule ? mk_duda_copy(s, pattern, strlen(pattern)) : NULL;

    if (!copy)
        return -1;
    rule->pattern = mk_str_from(copy);
    rule->has_variables = strstr(copy, "/:") != NULL;
    rule->target = *target;
    *routes->last_rule = rule;
    routes->last_rule = &rule->next;
    return 0;
}
