/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/describe.h>

#include "web/router_int.h"

#include "base/heap.h"
#include "base/str.h"
#include "kit/openapi/openapi.h"

#include <monkey/web/media.h>

/* What routes answer: tables, their check, and the document. */

enum { DOCUMENT_MAX = 4 << 20 };

struct mk_openapi {
    char *p;
    size_t len;
};

/* ---- tables ---- */

static int check_members(const struct mk_member *members, unsigned depth)
{
    unsigned n = 0;
    int err = 0;

    if (depth == MK_MEMBER_DEPTH)
        return MK_E_LIMIT;
    for (; err == 0 && members[n].name; n++) {
        const struct mk_member *m = &members[n];

        if (n == MK_MEMBERS)
            return MK_E_LIMIT;
        if (m->type < MK_MEMBER_TEXT || m->type > MK_MEMBER_OBJECT ||
            (m->members && m->type != MK_MEMBER_OBJECT))
            return MK_E_INVALID;
        for (unsigned i = 0; i < n; i++) {
            if (strcmp(members[i].name, m->name) == 0)
                return MK_E_INVALID;
        }
        if (m->members)
            err = check_members(m->members, depth + 1);
    }
    return err < 0 ? err : n == 0 ? MK_E_INVALID : 0;
}

static bool is_same_type(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int check_answer(const struct mk_route_answer *answers, unsigned at)
{
    const struct mk_route_answer *a = &answers[at];
    const struct mk_str type = mk_str_from(a->type);

    if (a->status < 200 || a->status > 599)
        return MK_E_INVALID;
    if (a->type &&
        (!mk_media_is(type, type) || strchr(a->type, ';') || a->status == 204 || a->status == 304))
        return MK_E_INVALID;
    if ((a->members || a->is_list) && !mk_media_is(type, MK_STR("application/json")))
        return MK_E_INVALID;
    for (unsigned i = 0; i < at; i++) {
        if (answers[i].status == a->status && is_same_type(answers[i].type, a->type))
            return MK_E_INVALID;
    }
    return a->members ? check_members(a->members, 0) : 0;
}

/* @param n  out: rows */
static int check_answers(const struct mk_route_answer *answers, unsigned *n)
{
    int err = 0;

    for (*n = 0; err == 0 && answers[*n].status != 0; (*n)++)
        err = *n == MK_ROUTE_ANSWERS ? MK_E_LIMIT : check_answer(answers, *n);
    return err < 0 ? err : *n == 0 ? MK_E_INVALID : 0;
}

/* ---- routes ---- */

static bool has_method(const void *of, struct mk_str method)
{
    const struct mk_route *route = of;

    for (size_t i = 0; i < route->nmethods; i++) {
        if (mk_str_eq(route->methods[i], method))
            return true;
    }
    return false;
}

static bool has_methods(const struct mk_route *route, const char *methods)
{
    struct mk_str rest = mk_str_from(methods), word;
    size_t n = 0;

    while (mk_str_next_word(&rest, &word)) {
        if (!has_method(route, word))
            return false;
        n++;
    }
    return n == route->nmethods;
}

static bool has_pattern(const struct mk_route *route, const char *pattern)
{
    const size_t before = route->routes->prefix.len;

    return strlen(route->pattern) >= before && strcmp(route->pattern + before, pattern) == 0;
}

int mk_routes_describe(struct mk_routes *routes, const char *methods, const char *pattern,
                       const char *about, const struct mk_route_answer *answers)
{
    struct mk_route *route;
    unsigned n;
    int err;

    if (!routes || !pattern || !answers)
        return MK_E_INVALID;
    err = check_answers(answers, &n);
    if (err < 0)
        return err;
    for (route = routes->router->first; route; route = route->added) {
        if (route->routes == routes && has_pattern(route, pattern) && has_methods(route, methods))
            break;
    }
    if (!route)
        return MK_E_NOENT;
    if (route->answers)
        return MK_E_EXISTS;
    route->about = about;
    route->answers = answers;
    route->nanswers = n;
    return 0;
}

/* ---- the check ---- */

static void check(struct mk_request *r, void *arg)
{
    const struct mk_route *route = mk_routes_answered(r);
    const unsigned status = (unsigned)mk_request_result(r).status;

    (void)arg;
    if (!route || !route->answers || status == 0)
        return;
    for (unsigned i = 0; i < route->nanswers; i++) {
        const unsigned said = route->answers[i].status;

        if (said == status || (said == 200 && openapi_is_of_200(status)))
            return;
    }
    mk_request_log(r, MK_LOG_ERROR, "the table of a route has no answer %u pattern=%s", status,
                   route->pattern);
}

int mk_routes_check(struct mk_routes *routes)
{
    return mk_routes_after(routes, check, NULL);
}

/* ---- schemas ---- */

static void put_members(struct mk_json *j, const void *of);

static void put_type(struct mk_json *j, const struct mk_member *m)
{
    static const char *const types[] = {NULL, "string", "integer", "number", "boolean", "object"};

    if (m->members)
        put_members(j, m->members);
    else
        openapi_text(j, "type", types[m->type]);
    if (m->type == MK_MEMBER_INTEGER)
        openapi_text(j, "format", "int64");
}

static void put_member(struct mk_json *j, const struct mk_member *m)
{
    openapi_object(j, m->name);
    openapi_text(j, "description", m->about);
    if (m->is_list) {
        openapi_text(j, "type", "array");
        openapi_object(j, "items");
    }
    put_type(j, m);
    if (m->is_list)
        mk_json_close(j);
    mk_json_close(j);
}

/* As deep as tables are in each other. */
static void put_members(struct mk_json *j, const void *of)
{
    const struct mk_member *members = of;

    openapi_text(j, "type", "object");
    openapi_object(j, "properties");
    for (const struct mk_member *m = members; m->name; m++)
        put_member(j, m);
    mk_json_close(j);
    openapi_array(j, "required");
    for (const struct mk_member *m = members; m->name; m++) {
        if (m->is_required)
            mk_json_text(j, mk_str_from(m->name));
    }
    mk_json_close(j);
    openapi_flag(j, "additionalProperties", false);
}

/* ---- the document ---- */

static const void *next_of(const void *route)
{
    return ((const struct mk_route *)route)->added;
}

static const char *pattern_of(const void *route)
{
    return ((const struct mk_route *)route)->pattern;
}

/* Every method is none that a document names. */
static bool is_hidden(const void *route)
{
    return ((const struct mk_route *)route)->nmethods == 0;
}

static struct openapi_answer get_answer(const void *rows, unsigned at)
{
    const struct mk_route_answer *a = (const struct mk_route_answer *)rows + at;

    return (struct openapi_answer){.status = (int)a->status,
                                   .type = a->type,
                                   .about = a->about,
                                   .members = a->members,
                                   .is_list = a->is_list};
}

/* @param rest  behind the name: perhaps "<int>" */
static void put_parameter(struct mk_json *j, struct mk_str name, const char *rest)
{
    const bool is_integer = strncmp(rest, "<int>", 5) == 0 || strncmp(rest, "<uint>", 6) == 0;

    mk_json_object(j);
    mk_json_key(j, MK_STR("name"));
    mk_json_text(j, name);
    openapi_text(j, "in", "path");
    openapi_flag(j, "required", true);
    openapi_object(j, "schema");
    openapi_text(j, "type", is_integer ? "integer" : "string");
    mk_json_close(j);
    mk_json_close(j);
}

static void put_operation(struct mk_json *j, const void *of)
{
    const struct mk_route *route = of;
    const struct openapi_answers answers = {route->nanswers, route->answers, get_answer,
                                            put_members};
    const char *rest = route->pattern, *name;
    size_t len;

    openapi_text(j, "summary", route->about);
    openapi_array(j, "parameters");
    while ((len = openapi_variable(&rest, &name)) > 0)
        put_parameter(j, (struct mk_str){name, len}, rest);
    mk_json_close(j);
    openapi_object(j, "responses");
    openapi_put_answers(j, &answers);
    if (!route->answers)
        openapi_put_any_answer(j);
    mk_json_close(j);
}

static int grow(struct mk_json *j, size_t needed, void *arg)
{
    const size_t size = j->size * 2 + needed;
    char *p;

    (void)arg;
    if (size > DOCUMENT_MAX)
        return MK_E_LIMIT;
    p = mk_heap_resize(j->p, size);
    if (!p)
        return MK_E_NOMEM;
    j->p = p;
    j->size = size;
    return 0;
}

static int write_document(struct mk_openapi *openapi, const struct openapi_about *about,
                          const struct mk_routes *routes)
{
    const struct openapi_routes all = {.first = routes->router->first,
                                       .next = next_of,
                                       .pattern = pattern_of,
                                       .has_method = has_method,
                                       .is_hidden = is_hidden,
                                       .put = put_operation};
    struct mk_json j;
    int err;

    mk_json_begin(&j, NULL, 0, grow, NULL);
    openapi_write(&j, about, &all);
    err = mk_json_end(&j);
    openapi->p = j.p;
    openapi->len = j.len;
    return err < 0 ? err : 0;
}

int mk_openapi_new(struct mk_openapi **openapi, const struct mk_routes *routes, const char *title,
                   const char *version)
{
    const struct openapi_about about = {title, version, ""};
    struct mk_openapi *o;
    int err;

    if (!openapi || !routes || !title || !version)
        return MK_E_INVALID;
    o = mk_heap_zalloc(1, sizeof(*o));
    if (!o)
        return MK_E_NOMEM;
    err = write_document(o, &about, routes);
    if (err == 0)
        *openapi = o;
    else
        mk_openapi_free(o);
    return err;
}

void mk_openapi_free(struct mk_openapi *openapi)
{
    if (!openapi)
        return;
    mk_heap_free(openapi->p);
    mk_heap_free(openapi);
}

struct mk_str mk_openapi_text(const struct mk_openapi *openapi)
{
    const struct mk_str none = {NULL, 0};

    return openapi ? (struct mk_str){openapi->p, openapi->len} : none;
}

enum mk_verdict mk_reply_openapi(struct mk_request *r, void *openapi)
{
    if (!r || !openapi)
        return MK_VERDICT_DONE;
    return mk_reply_bytes(r, 200, "application/json", mk_openapi_text(openapi));
}
