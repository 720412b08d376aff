/* SPDX-License-Identifier: Apache-2.0 */
#include "web/router_int.h"

#include "base/heap.h"
#include "base/str.h"
#include "http/method.h"

/* Patterns into the tree. */

int mk_router_new(struct mk_router **out)
{
    struct mk_router *router;

    if (!out)
        return MK_E_INVALID;
    router = mk_heap_zalloc(1, sizeof(*router));
    if (!router)
        return MK_E_NOMEM;
    mk_arena_init(&router->arena, NULL, 0, SIZE_MAX);
    atomic_init(&router->holders, 1);
    router->root.label = MK_STR("");
    router->last = &router->first;
    mk_routes_init(router);
    *out = router;
    return 0;
}

void mk_router_hold(struct mk_router *router)
{
    atomic_fetch_add(&router->holders, 1);
}

void mk_router_free(struct mk_router *router)
{
    if (!router || atomic_fetch_sub(&router->holders, 1) > 1)
        return;
    mk_arena_fini(&router->arena);
    mk_heap_free(router);
}

/* ---- what a pattern says ---- */

/* A pattern cut into what is compared and what is taken. */
struct pattern {
    struct mk_str parts[2 * MK_ROUTE_VALUES + 1]; /* bytes, and names with their `:` or `*` */
    size_t nparts;
    struct mk_str names[MK_ROUTE_VALUES];
    size_t nnames;
};

static bool is_name_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') ||
           (mk_char_lower(c) >= 'a' && mk_char_lower(c) <= 'z');
}

static bool is_taken(struct mk_str part)
{
    return part.p[0] == ':' || part.p[0] == '*';
}

/* Where the type of ":name<type>" begins; its length: without one. */
static size_t type_start(struct mk_str part)
{
    const char *open = part.len > 0 ? memchr(part.p, '<', part.len) : NULL;

    return open ? (size_t)(open - part.p) : part.len;
}

static enum text_type type_of(struct mk_str part)
{
    const size_t start = type_start(part);

    return start == part.len
               ? TEXT_TYPE_COUNT
               : text_type_named((struct mk_str){part.p + start + 1, part.len - start - 2});
}

/* The length of "<type>" that s begins with, if it is that of a type; 0: it has none. */
static size_t type_length(struct mk_str s)
{
    const char *close = s.len > 0 && s.p[0] == '<' ? memchr(s.p, '>', s.len) : NULL;
    const size_t len = close ? (size_t)(close - s.p) + 1 : 0;

    return len > 0 && type_of((struct mk_str){s.p, len}) != TEXT_TYPE_COUNT ? len : 0;
}

/* The length of ":name", ":name<type>" or "*name" that s begins with; 0: it is malformed. */
static size_t name_length(struct mk_str s)
{
    size_t len = 1;

    while (len < s.len && is_name_byte(s.p[len]))
        len++;
    if (s.p[0] == '*')
        return len == s.len ? len : 0;
    if (len > 1)
        len += type_length(mk_str_skip(s, len));
    return len > 1 && (len == s.len || s.p[len] == '/') ? len : 0;
}

static size_t bytes_length(struct mk_str s)
{
    size_t len = 1;

    while (len < s.len && !(s.p[len - 1] == '/' && (s.p[len] == ':' || s.p[len] == '*')))
        len++;
    return len;
}

/* A normalised path has no empty segment, no dots alone, no NUL. */
static bool is_normal(struct mk_str pattern)
{
    size_t start = 1;

    if (pattern.len == 0 || pattern.p[0] != '/')
        return false;
    for (size_t i = 1; i <= pattern.len; i++) {
        const struct mk_str segment = {pattern.p + start, i - start};

        if (i < pattern.len && pattern.p[i] != '/')
            continue;
        if (mk_str_eq(segment, MK_STR(".")) || mk_str_eq(segment, MK_STR("..")) ||
            (segment.len == 0 && i < pattern.len))
            return false;
        start = i + 1;
    }
    return true;
}

static int add_name(struct pattern *p, struct mk_str name)
{
    if (p->nnames == MK_ROUTE_VALUES)
        return MK_E_LIMIT;
    for (size_t i = 0; i < p->nnames; i++) {
        if (mk_str_eq(p->names[i], name) && name.len > 0)
            return MK_E_INVALID;
    }
    p->names[p->nnames++] = name;
    return 0;
}

static int cut(struct pattern *p, struct mk_str text)
{
    if (text.len > MK_ROUTE_PATTERN)
        return MK_E_LIMIT;
    if (!is_normal(text))
        return MK_E_INVALID;
    while (text.len > 0) {
        size_t len = is_taken(text) ? name_length(text) : bytes_length(text);
        struct mk_str part = {text.p, len};
        int err = len == 0 ? MK_E_INVALID : 0;

        if (err == 0 && is_taken(part))
            err = add_name(p, (struct mk_str){part.p + 1, type_start(part) - 1});
        if (err < 0)
            return err;
        p->parts[p->nparts++] = part;
        text = mk_str_skip(text, len);
    }
    return 0;
}

/* ---- the tree ---- */

static struct mk_route_node *new_node(struct mk_router *router, struct mk_str label)
{
    struct mk_route_node *node = mk_arena_zalloc(&router->arena, sizeof(*node));

    if (node)
        node->label = label;
    return node;
}

static struct mk_route_node *adopt(struct mk_router *router, struct mk_route_node *parent,
                                   struct mk_route_node *child)
{
    if (parent->nchildren == parent->room) {
        uint32_t room = parent->room ? parent->room * 2 : 2;
        struct mk_route_node **children =
            mk_arena_alloc(&router->arena, room * sizeof(struct mk_route_node *));
        char *firsts = mk_arena_alloc(&router->arena, room);

        if (!children || !firsts)
            return NULL;
        for (uint32_t i = 0; i < parent->nchildren; i++) {
            children[i] = parent->children[i];
            firsts[i] = parent->firsts[i];
        }
        parent->children = children;
        parent->firsts = firsts;
        parent->room = room;
    }
    parent->firsts[parent->nchildren] = child->label.p[0];
    parent->children[parent->nchildren++] = child;
    return child;
}

/* Let a node end after len bytes of its label; what followed becomes its only child. */
static int split(struct mk_router *router, struct mk_route_node *node, size_t len)
{
    const struct mk_str rest = {node->label.p + len, node->label.len - len};
    struct mk_route_node *tail = new_node(router, rest);
    struct mk_route_node head = {.label = {node->label.p, len}};
    struct mk_str label;

    if (!tail || !adopt(router, &head, tail))
        return MK_E_NOMEM;
    label = tail->label;
    *tail = *node;
    tail->label = label;
    *node = head;
    return 0;
}

static struct mk_route_node *child_of(const struct mk_route_node *node, char first)
{
    const char *at = node->nchildren > 0 ? memchr(node->firsts, first, node->nchildren) : NULL;

    return at ? node->children[at - node->firsts] : NULL;
}

/* @return the node behind these bytes, which is made if there is none; NULL without memory. */
static struct mk_route_node *walk_bytes(struct mk_router *router, struct mk_route_node *node,
                                        struct mk_str bytes)
{
    while (bytes.len > 0) {
        struct mk_route_node *child = child_of(node, bytes.p[0]);
        size_t same = 0;

        if (!child) {
            child = new_node(router, bytes);
            return child ? adopt(router, node, child) : NULL;
        }
        while (same < bytes.len && same < child->label.len && bytes.p[same] == child->label.p[same])
            same++;
        if (same < child->label.len && split(router, child, same) < 0)
            return NULL;
        bytes = mk_str_skip(bytes, same);
        node = child;
    }
    return node;
}

/* @return the node of a segment of this type, which is made if there is none; NULL without memory. */
static struct mk_route_node *walk_segment(struct mk_router *router, struct mk_route_node *node,
                                          enum text_type type)
{
    struct mk_route_node **at = &node->segment, *made;

    while (*at && (*at)->type < type)
        at = &(*at)->beside;
    if (*at && (*at)->type == type)
        return *at;
    made = new_node(router, MK_STR(""));
    if (!made)
        return NULL;
    made->type = type;
    made->beside = *at;
    return *at = made;
}

static struct mk_route_node *walk_rest(struct mk_router *router, struct mk_route_node *node)
{
    if (!node->rest)
        node->rest = new_node(router, MK_STR(""));
    return node->rest;
}

static struct mk_route_node *walk(struct mk_router *router, const struct pattern *p)
{
    struct mk_route_node *node = &router->root;

    for (size_t i = 0; node && i < p->nparts; i++) {
        const struct mk_str part = p->parts[i];

        if (!is_taken(part))
            node = walk_bytes(router, node, part);
        else if (part.p[0] == ':')
            node = walk_segment(router, node, type_of(part));
        else
            node = walk_rest(router, node);
    }
    return node;
}

/* ---- methods ---- */

static bool is_method(struct mk_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!is_name_byte(word.p[i]) && !strchr("!#$%&'*+-.^`|~", word.p[i]))
            return false;
    }
    return word.len > 0;
}

/* @param methods  room for MK_ROUTE_METHODS */
static int cut_methods(struct mk_str text, struct mk_str *methods, size_t *count)
{
    struct mk_str word;

    while (mk_str_next_word(&text, &word)) {
        if (!is_method(word))
            return MK_E_INVALID;
        if (*count == MK_ROUTE_METHODS)
            return MK_E_LIMIT;
        methods[(*count)++] = word;
    }
    return text.p && *count == 0 ? MK_E_INVALID : 0;
}

static bool has_method(const struct mk_route *route, struct mk_str method)
{
    for (size_t i = 0; i < route->nmethods; i++) {
        if (mk_str_eq(route->methods[i], method))
            return true;
    }
    return false;
}

/* Every method is one more choice, behind those by name. */
static bool shares_method(const struct mk_route *a, const struct mk_route *b)
{
    for (size_t i = 0; i < b->nmethods; i++) {
        if (has_method(a, b->methods[i]))
            return true;
    }
    return a->nmethods == 0 && b->nmethods == 0;
}

/* Would the new route never be asked? */
static int check_methods(const struct mk_route_node *node, const struct mk_route *added)
{
    size_t count = added->nmethods;

    for (const struct mk_route *route = node->routes; route; route = route->next) {
        count += route->nmethods;
        if (!route->fits && shares_method(route, added))
            return MK_E_EXISTS;
    }
    return count > MK_ROUTE_METHODS ? MK_E_LIMIT : 0;
}

static const struct mk_str *copy_words(struct mk_router *router, const struct mk_str *words,
                                       size_t count)
{
    struct mk_str *copy = mk_arena_alloc(&router->arena, (count + 1) * sizeof(*copy));

    for (size_t i = 0; copy && i < count; i++)
        copy[i] = words[i];
    return copy;
}

/* Routes of a node stand in the order of their first methods, whatever that of the calls was; every method is the last. */
static bool is_before(const struct mk_route *a, const struct mk_route *b)
{
    size_t len;
    int order;

    if (a->nmethods == 0 || b->nmethods == 0)
        return b->nmethods == 0;
    len = a->methods[0].len < b->methods[0].len ? a->methods[0].len : b->methods[0].len;
    order = memcmp(a->methods[0].p, b->methods[0].p, len);
    return order != 0 ? order < 0 : a->methods[0].len < b->methods[0].len;
}

static void append(struct mk_route_node *node, struct mk_route *route)
{
    struct mk_route **end = &node->routes, **last = &node->asked;

    while (*end && is_before(*end, route))
        end = &(*end)->next;
    route->next = *end;
    *end = route;
    while (*last && (route->nmethods == 0 || (*last)->nmethods > 0))
        last = &(*last)->behind;
    route->behind = *last;
    *last = route;
}

static bool note_own_method(struct mk_router *router, struct mk_str name)
{
    struct mk_route_method *own = router->own_methods;

    if (mk_method_from(name) != MK_METHOD_OTHER)
        return true;
    while (own && !mk_str_eq(own->name, name))
        own = own->next;
    if (own)
        return true;
    own = mk_arena_alloc(&router->arena, sizeof(*own));
    if (!own)
        return false;
    *own = (struct mk_route_method){router->own_methods, name};
    router->own_methods = own;
    return true;
}

/* What no route has is no method here (RFC 9110 section 15.6.2). */
static int note_own_methods(struct mk_router *router, const struct mk_route *route)
{
    for (size_t i = 0; i < route->nmethods; i++) {
        if (!note_own_method(router, route->methods[i]))
            return MK_E_NOMEM;
    }
    return 0;
}

static int add(struct mk_router *router, struct mk_str methods, struct mk_str text,
               struct mk_route *route)
{
    struct pattern p = {.nparts = 0};
    struct mk_str words[MK_ROUTE_METHODS];
    struct mk_route_node *node;
    int err = cut_methods(methods, words, &route->nmethods);

    if (err == 0)
        err = cut(&p, text);
    if (err < 0)
        return err;
    route->methods = copy_words(router, words, route->nmethods);
    route->names = copy_words(router, p.names, p.nnames);
    route->nnames = p.nnames;
    node = route->methods && route->names ? walk(router, &p) : NULL;
    if (!node)
        return MK_E_NOMEM;
    err = check_methods(node, route);
    if (err == 0)
        err = note_own_methods(router, route);
    if (err < 0)
        return err;
    append(node, route);
    *router->last = route;
    router->last = &route->added;
    return 0;
}

/* The pattern behind the prefix of its group. */
static const char *copy_pattern(struct mk_router *router, struct mk_str prefix, struct mk_str text)
{
    char *copy = mk_arena_alloc(&router->arena, prefix.len + text.len + 1);

    if (!copy)
        return NULL;
    if (prefix.len > 0)
        memcpy(copy, prefix.p, prefix.len);
    memcpy(copy + prefix.len, text.p, text.len);
    copy[prefix.len + text.len] = '\0';
    return copy;
}

int mk_route_add(const struct mk_routes *routes, const char *methods, const char *pattern,
                 mk_fits_fn fits, mk_handle_fn fn, void *arg)
{
    struct mk_router *router = routes->router;
    struct mk_route *route;
    const char *methods_copy, *copy;

    if (!pattern || !fn || pattern[0] != '/')
        return MK_E_INVALID;
    route = mk_arena_zalloc(&router->arena, sizeof(*route));
    methods_copy = methods ? mk_arena_strdup(&router->arena, mk_str_from(methods)) : NULL;
    copy = copy_pattern(router, routes->prefix, mk_str_from(pattern));
    if (!route || !copy || (methods && !methods_copy))
        return MK_E_NOMEM;
    route->pattern = copy;
    route->routes = routes;
    route->fits = fits;
    route->fn = fn;
    route->arg = arg;
    return add(router, mk_str_from(methods_copy), mk_str_from(copy), route);
}

int mk_router_add_if(struct mk_router *router, const char *methods, const char *pattern,
                     mk_fits_fn fits, mk_handle_fn fn, void *arg)
{
    return router ? mk_route_add(&router->all, methods, pattern, fits, fn, arg) : MK_E_INVALID;
}

int mk_router_add(struct mk_router *router, const char *methods, const char *pattern,
                  mk_handle_fn fn, void *arg)
{
    return mk_router_add_if(router, methods, pattern, NULL, fn, arg);
}
