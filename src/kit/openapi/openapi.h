/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_OPENAPI_H
#define KIT_OPENAPI_H

#include <monkey/web/json.h>

#include <stdbool.h>

/*
 * Documents of OpenAPI 3.1.1 about routes, whose schemas are those of JSON Schema 2020-12: the parts that are the same whoever has
 * the routes. Texts are of the program, and become no more than text.
 */

/* ---- members ---- */

/** A member with a text; NULL: it is left out. */
void openapi_text(struct mk_json *j, const char *key, const char *text);
void openapi_flag(struct mk_json *j, const char *key, bool flag);
/** Begin a member that is an object, or an array. */
void openapi_object(struct mk_json *j, const char *key);
void openapi_array(struct mk_json *j, const char *key);

/* ---- patterns ---- */

/** Write "/books/{id}" for "/books/:id<int>". @param to  room for twice MK_ROUTE_PATTERN, and a terminator */
void openapi_path(char *to, const char *pattern);
/** @return the length of the next variable's name, which is "rest" for a `*` without one; 0: there is no other. @param rest  in: from a slash on; out: behind it */
size_t openapi_variable(const char **rest, const char **name);

/* ---- answers ---- */

struct openapi_answer {
    int status;
    const char *type; /* NULL: no body */
    const char *about;
    const void *members; /* of a JSON body; NULL: any */
    bool is_list;        /* of such objects */
};

/** The answers of a route. */
struct openapi_answers {
    unsigned count;
    const void *rows;
    struct openapi_answer (*get)(const void *rows, unsigned at);
    void (*put_members)(struct mk_json *j, const void *members); /* the schema of one object */
};

/** Is it an answer that conditions and ranges make of 200? RFC 9110 sections 13 and 14 */
static inline bool openapi_is_of_200(unsigned status)
{
    return status == 206 || status == 304 || status == 412 || status == 416;
}

/** Is one of the first n of this status? */
bool openapi_has_status(const struct openapi_answers *answers, int status, unsigned n);
/** Write a member for each status, with all of its types. */
void openapi_put_answers(struct mk_json *j, const struct openapi_answers *answers);
/** Write a member "default": nothing is known of the answers. */
void openapi_put_any_answer(struct mk_json *j);

/* ---- the document ---- */

struct openapi_about {
    const char *title, *version;
    const char *url; /* before the paths: "/books"; "": none */
};

/** Where routes come from. */
struct openapi_routes {
    const void *first; /* in the order of the document; NULL: there is none */
    const void *(*next)(const void *route);
    const char *(*pattern)(const void *route);
    bool (*has_method)(const void *route, struct mk_str method);
    bool (*is_hidden)(const void *route);
    void (*put)(struct mk_json *j, const void *route); /* the members of an operation */
};

/** Write a document. Routes without methods of their own are not in it. */
void openapi_write(struct mk_json *j, const struct openapi_about *about,
                   const struct openapi_routes *routes);

#endif
