/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_WEB_ROUTER_INT_H
#define MK_WEB_ROUTER_INT_H

#include <monkey/web/router.h>

#include "base/arena.h"
#include "kit/text/type.h"

#include <stdatomic.h>

/*
 * The patterns of a router as a tree of bytes. A node's label are the bytes between its parent and itself; its children
 * begin with different bytes. Look-up passes each byte of a path once, however many patterns there are, and turns back only
 * where a `:name` or `*name` was another choice: to each node at most once, because a node fixes all that stands before it.
 */

/** One mk_router_add. */
struct mk_route {
    struct mk_route *next;   /* of the same node, by method */
    struct mk_route *behind; /* of the same node, in the order in which they are asked */
    struct mk_route *added;  /* of the router, in the order of the calls */
    const struct mk_str *methods;
    size_t nmethods; /* 0: every method */
    const struct mk_str *names;
    size_t nnames;
    const char *pattern;
    const struct mk_routes *routes; /* the group that it is in */
    mk_fits_fn fits;                /* NULL: it takes all requests */
    mk_handle_fn fn;
    void *arg;
    const char *about;                     /* NULL: nothing is said */
    const struct mk_route_answer *answers; /* <monkey/web/describe.h>; NULL: likewise */
    unsigned nanswers;
};

struct mk_route_node {
    struct mk_str label;
    char *firsts; /* the first byte of each child's label */
    struct mk_route_node **children;
    uint32_t nchildren, room;
    struct mk_route_node *segment; /* where a `:name` leads, by its type; their labels are empty */
    struct mk_route_node *beside;  /* of a segment: the next one, which more values fit */
    enum text_type type;           /* of a segment; TEXT_TYPE_COUNT: none */
    struct mk_route_node *rest;    /* where a `*name` ends */
    struct mk_route *routes;       /* that end here; NULL: none does */
    struct mk_route *asked;        /* the same ones */
};

/** A method of a route that is none of the protocol's own. */
struct mk_route_method {
    struct mk_route_method *next;
    struct mk_str name;
};

struct mk_route_before {
    struct mk_route_before *next; /* in the order of the calls */
    mk_handle_fn fn;
    void *arg;
};

struct mk_route_after {
    struct mk_route_after *older;
    mk_finish_fn fn;
    void *arg;
};

/** A group. */
struct mk_routes {
    struct mk_router *router;
    const struct mk_routes *around; /* NULL: it is that of all routes */
    struct mk_str prefix;           /* with those of the groups around it */
    unsigned depth, nhooks;
    struct mk_route_before *before, **last_before;
    struct mk_route_after *after;
};

struct mk_router {
    struct mk_arena arena;
    struct mk_routes all;
    bool has_hooks, has_after; /* some group */
    struct mk_route_method *own_methods;
    struct mk_route_node root;
    struct mk_route *first, **last; /* in the order of the calls */
    atomic_uint holders;            /* the program's configuration, and each one that is in force */
};

/** Another holder; mk_router_free drops one. */
void mk_router_hold(struct mk_router *router);

/** As mk_router_add_if, in a group. */
int mk_route_add(const struct mk_routes *routes, const char *methods, const char *pattern,
                 mk_fits_fn fits, mk_handle_fn fn, void *arg) MK_MUST_USE;

/** The group of all routes of an empty router. */
void mk_routes_init(struct mk_router *router);

/** @return the route whose handler was called for a request that has hooks; NULL: none. */
const struct mk_route *mk_routes_answered(const struct mk_request *r);

/** Call the hooks before a route and then its handler, or go on with that. */
enum mk_verdict mk_routes_call(const struct mk_route *route, struct mk_request *r);

/**
 * As mk_router_run.
 * @param route  out: whose handler was called; NULL: none was
 */
enum mk_verdict mk_router_call(const struct mk_router *router, struct mk_request *r, size_t prefix,
                               const struct mk_route **route);

#endif
