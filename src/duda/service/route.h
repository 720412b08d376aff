/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_ROUTE_H
#define MK_DUDA_SERVICE_ROUTE_H

#include "service/pattern.h"
#include "service/routes.h"

/* Routes of level 3: a method and a pattern, found by the router of libmonkey-web, with the hooks of their groups. */

/** A hook of a group. A list grows at its head, so that each route keeps those that were there when it was added. */
struct mk_duda_hook {
    const struct mk_duda_hook *older;
    mk_duda_callback function; /* of the service; NULL: it is a guard */
    /* a guard: it answers what it refuses */
    void (*check)(struct mk_duda_request *rq, const void *arg);
    bool (*needs_body)(struct mk_duda_request *rq); /* to decide on this request; NULL: never */
    const void *arg;
};

struct mk_duda_answers;
struct mk_duda_schema;

struct mk_duda_route {
    struct mk_duda_route *next; /* in the order of the calls */
    struct mk_duda_service *service;
    struct mk_duda_target target; /* its name is what logs say: "GET /books/:id<int>" */
    const char *pattern;          /* within the name */
    const struct mk_duda_hook *before, *after; /* the newest; NULL: none */
    const struct mk_duda_hook *cors; /* one of those before; NULL: for pages of this site alone */
    const struct mk_duda_typed *typed;
    unsigned ntyped;
    bool is_hidden;                        /* from documents about the routes */
    const struct mk_duda_schema *inputs;   /* inputs/schema.h; NULL: it describes none */
    const struct mk_duda_answers *answers; /* inputs/answers.h; NULL: likewise */
    bool (*read_inputs)(
        struct mk_duda_request
            *rq); /* false: they are wrong, which was answered; NULL: nothing to read */
};

/** What a route takes, and where the service says so. */
struct mk_duda_described {
    const struct duda_inputs *inputs;
    const struct duda_answer *answers;
    const char *file;
    int line;
    /** Check the tables, and give them to the route. @param plain  the pattern without types @return 0; -1, with the sentence of mk_duda_refuse */
    int (*give)(struct mk_duda_route *route, const char *methods, const char *plain,
                const struct mk_duda_described *described);
};

/** A group while its routes are added. */
struct mk_duda_scope {
    char prefix[MK_ROUTE_PATTERN + 1];
    const struct mk_duda_hook *before, *after, *cors;
};

/**
 * Add a route to the group that is open.
 * @param call       "router->get", for logs
 * @param described  NULL: nothing
 * @param run        called for its requests, with the route
 * @return 0; -1, with the sentence of mk_duda_refuse
 */
int mk_duda_route_add(struct mk_duda_service *s, const char *call, const char *methods,
                      const char *pattern, mk_duda_callback callback,
                      const struct mk_duda_described *described, mk_handle_fn run);
/** Add the routes of a group. @return as above. */
int mk_duda_route_group(struct mk_duda_service *s, const char *prefix, void (*routes)(void));
/** Add a hook to the group that is open. @param is_after  to those that follow the answer. @return as above. */
int mk_duda_route_hook(struct mk_duda_service *s, const char *call, mk_duda_callback function,
                       bool is_after);

/**
 * Add a guard to the group that is open.
 * @param arg  lives as long as the service
 * @param needs_body  NULL: it decides by the head
 * @return as above
 */
int mk_duda_route_guard(struct mk_duda_service *s, const char *call,
                        void (*check)(struct mk_duda_request *rq, const void *arg), const void *arg,
                        bool (*needs_body)(struct mk_duda_request *rq));
/**
 * Likewise the one that knows which other sites may use the routes. What browsers ask it before has a route of its own for
 * each pattern, made when duda_main() has returned.
 */
int mk_duda_route_cors(struct mk_duda_service *s, const char *call,
                       void (*check)(struct mk_duda_request *rq, const void *arg), const void *arg);

/** Does a browser ask whether it may send a request? Fetch standard, section 3.2.2 */
bool mk_duda_is_preflight(const struct mk_request *r);

/** Call the hooks before the route, the oldest first. @return false: one of them has answered, or will. */
bool mk_duda_route_before(const struct mk_duda_hook *newest, struct mk_duda_request *rq);
/** Likewise the first ones of them that decide by the head, which are not called again. */
bool mk_duda_route_at_head(const struct mk_duda_hook *newest, struct mk_duda_request *rq);
/** Call the hooks after the answer, the newest first. */
void mk_duda_route_after(const struct mk_duda_hook *newest, struct mk_duda_request *rq);

#endif
