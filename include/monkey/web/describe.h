/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_DESCRIBE_H
#define MONKEY_WEB_DESCRIBE_H

/*
 * What routes answer, told by tables: a document of OpenAPI 3.1.1 shows it to people and programs, and tests find the handler that
 * answers something else.
 *
 *     static const struct mk_member item[] = {{.name = "id", .type = MK_MEMBER_INTEGER, .is_required = true},
 *                                             {.name = "name", .type = MK_MEMBER_TEXT, .about = "As on the label"},
 *                                             {0}};
 *     static const struct mk_route_answer answers[] = {{.status = 200, .type = "application/json", .about = "The item", .members = item},
 *                                                      {.status = 404, .type = "application/problem+json", .about = "There is none"},
 *                                                      {0}};
 *     ...
 *     mk_routes_add(routes, "GET", "/items/:id<int>", show, shop);
 *     mk_routes_describe(routes, "GET", "/items/:id<int>", "One item", answers);
 *     ...
 *     mk_openapi_new(&document, mk_config_routes(config), "Shop", "1.0");
 *     mk_config_handle(config, "GET", "/openapi.json", mk_reply_openapi, document);
 */

#include <monkey/web/router.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bounds: answers of a route, members of a table, and tables in each other. */
enum { MK_ROUTE_ANSWERS = 32, MK_MEMBERS = 64, MK_MEMBER_DEPTH = 8 };

enum mk_member_type {
    MK_MEMBER_TEXT = 1,
    MK_MEMBER_INTEGER, /* of 64 bits */
    MK_MEMBER_NUMBER,
    MK_MEMBER_FLAG,
    MK_MEMBER_OBJECT
};

/** A member of a JSON object: a row of its table, which ends with a row without a name. An object has no other members. */
struct mk_member {
    const char *name;
    enum mk_member_type type;
    bool is_required;
    bool is_list;                    /* an array of values of this type */
    const char *about;               /* one sentence; NULL: none */
    const struct mk_member *members; /* of an object; NULL: any */
};

/** An answer of a route: a row of its table, which ends with a row without a status. Several rows of one status have different types. */
struct mk_route_answer {
    unsigned status;                 /* 200 to 599 */
    const char *type;                /* of the body, without parameters; NULL: there is none */
    const char *about;               /* one sentence; NULL: none */
    const struct mk_member *members; /* of a JSON body; NULL: any */
    bool is_list;                    /* the body is an array of such objects */
};

/**
 * Say which answers the handler of a route gives. What the server answers itself, such as 405 or 304, stands in no table.
 * @param routes, methods, pattern  as of the call that has added the route
 * @param about    what the route does, one sentence; NULL: none. Borrowed like the tables: until the router ends
 * @param answers  the table
 * @return 0; MK_E_NOENT: there is no such route; MK_E_EXISTS: it has a table; MK_E_LIMIT: more than the bounds above; MK_E_INVALID: a row is
 *         wrong, or an argument is NULL. On the control thread.
 */
MK_API int mk_routes_describe(struct mk_routes *routes, const char *methods, const char *pattern,
                              const char *about, const struct mk_route_answer *answers) MK_MUST_USE;

/**
 * For tests: log an error for each answer of the handlers of a group, and of the groups in it, whose status is not in the table of
 * its route. Routes without a table may answer anything.
 * @return as mk_routes_after.
 */
MK_API int mk_routes_check(struct mk_routes *routes) MK_MUST_USE;

struct mk_openapi;

/**
 * Write a document about all routes of a router that name their methods; those that are added later are not in it.
 * @param routes          any group of the router
 * @param title, version  of the program
 * @return 0; MK_E_INVALID; MK_E_LIMIT: the document has more than 4 MB; MK_E_NOMEM. On the control thread.
 */
MK_API int mk_openapi_new(struct mk_openapi **openapi, const struct mk_routes *routes,
                          const char *title, const char *version) MK_MUST_USE;
/** Free it, after the last request that it answers. NULL is allowed. */
MK_API void mk_openapi_free(struct mk_openapi *openapi);
/** @return its text, JSON, as long as it lives; {NULL, 0}: openapi is NULL. Any thread. */
MK_API struct mk_str mk_openapi_text(const struct mk_openapi *openapi);

/** A handler that answers with the document. @param openapi  of mk_openapi_new */
MK_API enum mk_verdict mk_reply_openapi(struct mk_request *r, void *openapi);

#ifdef __cplusplus
}
#endif

#endif
