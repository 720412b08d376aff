/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/openapi/openapi.h"

#include <monkey/web/router.h>

#include <stdio.h>
#include <string.h>

/* ---- members ---- */

void openapi_text(struct mk_json *j, const char *key, const char *text)
{
    if (!text)
        return;
    mk_json_key(j, mk_str_from(key));
    mk_json_text(j, mk_str_from(text));
}

void openapi_flag(struct mk_json *j, const char *key, bool flag)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_bool(j, flag);
}

void openapi_object(struct mk_json *j, const char *key)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_object(j);
}

void openapi_array(struct mk_json *j, const char *key)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_array(j);
}

/* ---- patterns ---- */

size_t openapi_variable(const char **rest, const char **name)
{
    for (const char *p = *rest; (p = strchr(p, '/')); p++) {
        if (p[1] != ':' && p[1] != '*')
            continue;
        *name = p + 2;
        *rest = p + 2 + strcspn(p + 2, "</");
        if (*rest > *name)
            return (size_t)(*rest - *name);
        *name = "rest";
        return strlen(*name);
    }
    return 0;
}

void openapi_path(char *to, const char *pattern)
{
    while (*pattern) {
        const bool is_variable = (*pattern == ':' || *pattern == '*') && pattern[-1] == '/';
        const char *name = "", *rest = pattern - 1;
        size_t len;

        if (!is_variable) {
            *to++ = *pattern++;
            continue;
        }
        len = openapi_variable(&rest, &name);
        *to++ = '{';
        to = (char *)memcpy(to, name, len) + len;
        *to++ = '}';
        pattern = rest + (*rest == '<' ? strcspn(rest, "/") : 0);
    }
    *to = '\0';
}

/* ---- answers ---- */

bool openapi_has_status(const struct openapi_answers *answers, int status, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (answers->get(answers->rows, i).status == status)
            return true;
    }
    return false;
}

static void put_body(struct mk_json *j, const struct openapi_answers *answers,
                     const struct openapi_answer *one)
{
    openapi_object(j, one->type);
    if (one->members || one->is_list) {
        openapi_object(j, "schema");
        if (one->is_list) {
            openapi_text(j, "type", "array");
            openapi_object(j, "items");
        }
        if (one->members)
            answers->put_members(j, one->members);
        if (one->is_list)
            mk_json_close(j);
        mk_json_close(j);
    }
    mk_json_close(j);
}

/* All rows of the status of one. */
static void put_status(struct mk_json *j, const struct openapi_answers *answers, unsigned at)
{
    const struct openapi_answer first = answers->get(answers->rows, at);
    bool has_content = false;
    char key[16];

    (void)snprintf(key, sizeof(key), "%d", first.status);
    openapi_object(j, key);
    openapi_text(j, "description", first.about ? first.about : "");
    for (unsigned i = at; i < answers->count; i++) {
        const struct openapi_answer one = answers->get(answers->rows, i);

        if (one.status != first.status || !one.type)
            continue;
        if (!has_content)
            openapi_object(j, "content");
        has_content = true;
        put_body(j, answers, &one);
    }
    if (has_content)
        mk_json_close(j);
    mk_json_close(j);
}

void openapi_put_answers(struct mk_json *j, const struct openapi_answers *answers)
{
    for (unsigned i = 0; i < answers->count; i++) {
        if (!openapi_has_status(answers, answers->get(answers->rows, i).status, i))
            put_status(j, answers, i);
    }
}

void openapi_put_any_answer(struct mk_json *j)
{
    openapi_object(j, "default");
    openapi_text(j, "description", "The answer of the service");
    mk_json_close(j);
}

/* ---- the document ---- */

static bool has_path(const struct openapi_routes *routes, const void *route, const char *path)
{
    char own[2 * MK_ROUTE_PATTERN + 1];

    openapi_path(own, routes->pattern(route));
    return strcmp(own, path) == 0;
}

static void put_operations(struct mk_json *j, const struct openapi_routes *routes, const char *path)
{
    static const struct {
        struct mk_str method;
        const char *key;
    } methods[] = {{MK_STR_INIT("GET"), "get"},        {MK_STR_INIT("PUT"), "put"},
                   {MK_STR_INIT("POST"), "post"},      {MK_STR_INIT("DELETE"), "delete"},
                   {MK_STR_INIT("PATCH"), "patch"},    {MK_STR_INIT("HEAD"), "head"},
                   {MK_STR_INIT("OPTIONS"), "options"}};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const void *route = routes->first;

        while (route &&
               !(routes->has_method(route, methods[i].method) && has_path(routes, route, path)))
            route = routes->next(route);
        if (!route)
            continue;
        openapi_object(j, methods[i].key);
        routes->put(j, route);
        mk_json_close(j);
    }
}

static void put_head(struct mk_json *j, const struct openapi_about *about)
{
    openapi_text(j, "openapi", "3.1.1");
    openapi_object(j, "info");
    openapi_text(j, "title", about->title);
    openapi_text(j, "version", about->version);
    mk_json_close(j);
    openapi_array(j, "servers");
    mk_json_object(j);
    openapi_text(j, "url", about->url[0] ? about->url : "/");
    mk_json_close(j);
    mk_json_close(j);
}

void openapi_write(struct mk_json *j, const struct openapi_about *about,
                   const struct openapi_routes *routes)
{
    char path[2 * MK_ROUTE_PATTERN + 1];

    mk_json_object(j);
    put_head(j, about);
    openapi_object(j, "paths");
    for (const void *route = routes->first; route; route = routes->next(route)) {
        const void *first = routes->first;

        openapi_path(path, routes->pattern(route));
        while (!has_path(routes, first, path))
            first = routes->next(first);
        if (first != route || routes->is_hidden(route))
            continue;
        openapi_object(j, path);
        put_operations(j, routes, path);
        mk_json_close(j);
    }
    mk_json_close(j);
    mk_json_close(j);
}
