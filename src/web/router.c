/* SPDX-License-Identifier: Apache-2.0 */
#include "web/router_int.h"

#include "base/str.h"
#include "http/method.h"

/* A request to its handler. */

enum { MISSED_MAX = 8, ALLOW_MAX = 1024 };

struct value {
    uint32_t at, len;
};

/* What mk_path_value reads: kept with the request. Offsets, because the path's bytes may move. */
struct match {
    const struct mk_route *route;
    struct value values[];
};

struct search {
    struct mk_str path, method;
    struct mk_request *r;
    const struct mk_route *route; /* out */
    struct value values[MK_ROUTE_VALUES];
    unsigned nmissed; /* nodes of the path that have other methods */
    bool has_asked;   /* a route whether it takes the request */
    bool has_failed;  /* no memory */
    char allow[ALLOW_MAX];
};

static const char match_key;

/* Labels and methods are short: a loop costs less than a call. */
static inline bool is_same(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (a[i] != b[i])
            return false;
    }
    return true;
}

/* ---- which routes of a node take the request ---- */

static bool keep_values(const struct search *s, const struct mk_route *route)
{
    const size_t size = route->nnames * sizeof(struct value);
    struct match *match = mk_request_kept(s->r, &match_key);

    if (!match || match->route->nnames < route->nnames)
        match = mk_request_alloc(s->r, sizeof(*match) + size);
    if (!match)
        return false;
    match->route = route;
    memcpy(match->values, s->values, size);
    return mk_request_keep(s->r, &match_key, match) == 0;
}

static bool takes(struct search *s, const struct mk_route *route)
{
    if (!route->fits)
        return true;
    s->has_asked = true;
    if (keep_values(s, route))
        return route->fits(s->r, route->arg);
    s->has_failed = true;
    return false;
}

static bool has_method(const struct mk_route *route, struct mk_str method)
{
    for (size_t i = 0; i < route->nmethods; i++) {
        if (route->methods[i].len == method.len &&
            is_same(route->methods[i].p, method.p, method.len))
            return true;
    }
    return route->nmethods == 0;
}

/* Which of a node's routes fits: one of this method, or of every method. @return NULL: none does. */
static const struct mk_route *of_method(struct search *s, const struct mk_route_node *node,
                                        struct mk_str method)
{
    for (const struct mk_route *route = node->asked; route; route = route->behind) {
        if (has_method(route, method) && takes(s, route))
            return route;
    }
    return NULL;
}

/* ---- which methods would be answered (RFC 9110 section 10.2.1) ---- */

static bool is_listed(struct mk_str list, struct mk_str word)
{
    struct mk_str member;

    for (list = mk_str_trim(list); mk_str_next_word(&list, &member);) {
        if (member.len > 0 && member.p[member.len - 1] == ',')
            member.len--;
        if (mk_str_eq(member, word))
            return true;
    }
    return false;
}

static void list_method(char list[ALLOW_MAX], struct mk_str method)
{
    size_t len = strlen(list);

    if (is_listed((struct mk_str){list, len}, method) || len + method.len + 3 > ALLOW_MAX)
        return;
    if (len > 0) {
        memcpy(list + len, ", ", 2);
        len += 2;
    }
    memcpy(list + len, method.p, method.len);
    list[len + method.len] = '\0';
}

static void list_methods(char list[ALLOW_MAX], const struct mk_route *route)
{
    for (size_t i = 0; i < route->nmethods; i++) {
        list_method(list, route->methods[i]);
        if (mk_str_eq(route->methods[i], MK_STR("GET")))
            list_method(list, MK_STR("HEAD"));
    }
}

static void miss(struct search *s, const struct mk_route_node *node)
{
    bool has_any = false;

    if (s->nmissed == MISSED_MAX)
        return;
    for (const struct mk_route *route = node->routes; route; route = route->next) {
        if (takes(s, route)) {
            has_any = true;
            list_methods(s->allow, route);
        }
    }
    s->nmissed += has_any;
}

/* ---- the search ---- */

/* The path ends here: @return whether the search is over. */
static bool arrive(struct search *s, const struct mk_route_node *node)
{
    if (!node->routes)
        return false;
    s->route = of_method(s, node, s->method);
    if (!s->route && mk_str_eq(s->method, MK_STR("HEAD")))
        s->route = of_method(s, node, MK_STR("GET"));
    if (!s->route)
        miss(s, node);
    return s->route || s->has_failed;
}

static const struct mk_route_node *child_of(const struct mk_route_node *node, char first)
{
    const char *at;

    if (node->nchildren == 1)
        return node->firsts[0] == first ? node->children[0] : NULL;
    at = node->nchildren > 0 ? memchr(node->firsts, first, node->nchildren) : NULL;
    return at ? node->children[at - node->firsts] : NULL;
}

static bool search_from(struct search *s, const struct mk_route_node *node, size_t at,
                        size_t nvalues);

/* What a node has beside bytes: a segment, then the rest of the path. */
static bool search_taken(struct search *s, const struct mk_route_node *node, size_t at,
                         size_t nvalues)
{
    size_t end = at;

    while (end < s->path.len && s->path.p[end] != '/')
        end++;
    for (const struct mk_route_node *n = end > at ? node->segment : NULL; n; n = n->beside) {
        if (n->type != TEXT_TYPE_COUNT &&
            !text_type_fits(n->type, (struct mk_str){s->path.p + at, end - at}))
            continue;
        s->values[nvalues] = (struct value){(uint32_t)at, (uint32_t)(end - at)};
        if (search_from(s, n, end, nvalues + 1))
            return true;
    }
    if (!node->rest)
        return false;
    s->values[nvalues] = (struct value){(uint32_t)at, (uint32_t)(s->path.len - at)};
    return arrive(s, node->rest);
}

/* @param at  where in the path the node's label begins. As deep as a pattern has names. */
static bool search_from(struct search *s, const struct mk_route_node *node, size_t at,
                        size_t nvalues)
{
    for (;;) {
        const struct mk_route_node *child;

        if (node->label.len > s->path.len - at ||
            !is_same(s->path.p + at, node->label.p, node->label.len))
            return false;
        at += node->label.len;
        if (at == s->path.len)
            return arrive(s, node) || search_taken(s, node, at, nvalues);
        child = child_of(node, s->path.p[at]);
        if (node->segment || node->rest)
            return (child && search_from(s, child, at, nvalues)) ||
                   search_taken(s, node, at, nvalues);
        if (!child)
            return false;
        node = child;
    }
}

/* ---- running ---- */

static bool is_known(const struct mk_router *router, struct mk_str method)
{
    const struct mk_route_method *own = router->own_methods;

    while (own && !mk_str_eq(own->name, method))
        own = own->next;
    return own || mk_method_from(method) != MK_METHOD_OTHER;
}

static enum mk_verdict answer_without(struct search *s, const struct mk_router *router,
                                      struct mk_request *r)
{
    struct mk_reply p;
    char *lines;

    if (!is_known(router, s->method))
        return mk_reply_error(r, 501, NULL);
    list_method(s->allow, MK_STR("OPTIONS"));
    if (!mk_str_eq(s->method, MK_STR("OPTIONS"))) {
        lines = mk_request_printf(r, "Allow: %s\r\n", s->allow);
        return mk_reply_error(r, lines ? 405 : 500, lines);
    }
    if (mk_reply_begin(&p, r, 204) == 0) {
        mk_reply_line(&p, MK_STR("Allow"), mk_str_from(s->allow));
        (void)!mk_reply_end(&p, 0);
    }
    return MK_VERDICT_DONE;
}

/* What mk_path_value reads from now on. */
static bool keep_match(const struct search *s)
{
    if (s->route->nnames > 0)
        return keep_values(s, s->route);
    return !s->has_asked || mk_request_keep(s->r, &match_key, NULL) == 0;
}

enum mk_verdict mk_router_call(const struct mk_router *router, struct mk_request *r, size_t prefix,
                               const struct mk_route **route)
{
    struct search s;

    *route = NULL;
    if (!router || !r)
        return MK_VERDICT_PASS;
    s.path = mk_request_path(r);
    s.method = mk_request_method(r);
    s.r = r;
    s.route = NULL;
    s.nmissed = 0;
    s.has_asked = s.has_failed = false;
    s.allow[0] = '\0';
    /* all patterns begin with a slash: the root has one child */
    if (prefix >= s.path.len || router->root.nchildren == 0)
        return MK_VERDICT_PASS;
    if (!search_from(&s, router->root.children[0], prefix, 0))
        return s.nmissed > 0 ? answer_without(&s, router, r) : MK_VERDICT_PASS;
    if (s.has_failed || !keep_match(&s))
        return mk_reply_error(r, 500, NULL);
    *route = s.route;
    return router->has_hooks ? mk_routes_call(s.route, r) : s.route->fn(r, s.route->arg);
}

enum mk_verdict mk_router_run(const struct mk_router *router, struct mk_request *r, size_t prefix)
{
    const struct mk_route *route;

    return mk_router_call(router, r, prefix, &route);
}

struct mk_str mk_path_value(const struct mk_request *r, struct mk_str name)
{
    const struct match *match = r ? mk_request_kept(r, &match_key) : NULL;
    const struct mk_str none = {NULL, 0};
    struct mk_str path;

    if (!match)
        return none;
    path = mk_request_path(r);
    for (size_t i = 0; i < match->route->nnames; i++) {
        const struct value v = match->values[i];

        if (mk_str_eq(match->route->names[i], name))
            return v.at + v.len <= path.len ? (struct mk_str){path.p + v.at, v.len} : none;
    }
    return none;
}
