/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_ROUTES_H
#define MK_DUDA_SERVICE_ROUTES_H

#include "service/request.h"

/*
 * What a service does with the paths that are its own: `map` of level 1 and `router` of levels 2 and 3 fill the tables in
 * duda_main(), and each request is looked up in them.
 */

typedef void (*mk_duda_callback)(duda_request_t *dr);

/** A call-back by name, until duda_main() has returned; then by address. */
struct mk_duda_target {
    mk_duda_callback function;
    const char *name; /* for logs; never NULL */
    bool is_pending;  /* the name is still to be looked up */
};

struct mk_duda_rule {
    struct mk_duda_rule *next;
    struct mk_str pattern;
    bool has_variables; /* segments that begin with a colon */
    struct mk_duda_target target;
};

struct mk_duda_routes {
    struct mk_duda_target root; /* function NULL: none */
    struct mk_duda_rule *rules, **last_rule;
    struct duda_interface *interfaces, **last_interface;
    struct mk_router *router;                   /* level 3: service/route.h; NULL: no routes */
    struct mk_duda_route *routes, **last_route; /* those of the router */
    struct mk_duda_scope *scope; /* the group whose routes are being added; NULL: none yet */
    struct mk_duda_preflight *preflights; /* service/route.c */
};

/** Level 1: /service/interface/method/parameter... */
struct duda_param {
    struct duda_param *next;
    short int max_len;
};
struct duda_method {
    struct duda_method *next;
    const char *name;
    int n_params;
    struct duda_param *params, **last_param;
    struct mk_duda_target target;
};
struct duda_interface {
    struct duda_interface *next;
    const char *name;
    struct duda_method *methods, **last_method;
};

enum mk_duda_outcome {
    MK_DUDA_CALL,  /* match.target */
    MK_DUDA_SLASH, /* redirect to the path with a slash behind it */
    MK_DUDA_NONE,  /* no rule: a file of its DocumentRoot, or 404 */
};

struct mk_duda_match {
    const struct mk_duda_target *target;
    const struct mk_duda_rule *rule;         /* whose variables param->get() knows; NULL: none */
    struct mk_str interface, method;         /* level 1 */
    struct mk_str params[MAP_WS_MAX_PARAMS]; /* nparams of them */
    unsigned nparams;
};

/**
 * @param rest       of the path behind the service's name: "" or from a slash on
 * @param has_query  the request has one, so level 1 does not redirect it
 */
enum mk_duda_outcome mk_duda_find(const struct mk_duda_service *s, struct mk_str rest,
                                  bool has_query, struct mk_duda_match *match);

/** @return the segment of rest where the pattern has the variable of that name; p NULL: it has none. */
struct mk_str mk_duda_variable(const struct mk_duda_rule *rule, struct mk_str rest,
                               struct mk_str name);

/** The next segment that is not empty. @return p NULL: there is none. */
struct mk_str mk_duda_next_segment(struct mk_str *rest);

/** The rest of a path if it is of this service; p NULL: it is not. Its name must be a whole segment. */
struct mk_str mk_duda_rest(const struct mk_duda_service *s, struct mk_str path);

/** @return the routes of the service, made at first; NULL without memory, or later than duda_main(), which is logged. */
struct mk_duda_routes *mk_duda_routes_of(struct mk_duda_service *s, const char *call);

/** Append a rule; the pattern is copied. @return 0 or -1. */
int mk_duda_add_rule(struct mk_duda_service *s, const char *call, const char *pattern,
                     const struct mk_duda_target *target);

#endif
