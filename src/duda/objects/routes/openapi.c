/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/routes/openapi.h"

#include "inputs/answers.h"
#include "json/tree.h"
#include "kit/text/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenAPI 3.1.1; schemas are those of JSON Schema 2020-12. */

static void text_member(struct mk_json *j, const char *key, const char *text)
{
    if (!text)
        return;
    mk_json_key(j, mk_str_from(key));
    mk_json_text(j, mk_str_from(text));
}

static void flag_member(struct mk_json *j, const char *key, bool flag)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_bool(j, flag);
}

static void object_member(struct mk_json *j, const char *key)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_object(j);
}

static void array_member(struct mk_json *j, const char *key)
{
    mk_json_key(j, mk_str_from(key));
    mk_json_array(j);
}

/* ---- schemas ---- */

/* What a text of C can be. */
#define WITHOUT_NUL "^[^\\u0000]*$"
/* Names of a multipart form are quoted in fields of a head: RFC 7578, 4.2. */
#define QUOTABLE "^[^\\u0000-\\u001f\\u007f\\\\]+$"

static void bound(struct mk_json *j, const char *key, double n)
{
    if (!isfinite(n))
        return;
    mk_json_key(j, mk_str_from(key));
    if (fabs(n) < 1e15 && n == (double)(int64_t)n)
        mk_json_int(j, (int64_t)n);
    else
        mk_json_number(j, n);
}

static void put_choices(struct mk_json *j, const char *choices)
{
    struct mk_str rest = mk_str_from(choices), word;

    if (!choices)
        return;
    array_member(j, "enum");
    while ((word = text_next_word(&rest)).p)
        mk_json_text(j, word);
    mk_json_close(j);
}

static void put_text(struct mk_json *j, const struct mk_duda_row *row)
{
    char pattern[MK_DUDA_INPUT_PATTERN + 8];

    text_member(j, "type", "string");
    bound(j, "minLength", row->min);
    bound(j, "maxLength", row->max);
    put_choices(j, row->said->choices);
    if (row->said->pattern) {
        (void)snprintf(pattern, sizeof(pattern), "^(?:%s)$", row->said->pattern);
        text_member(j, "pattern", pattern);
    } else if (!row->said->choices) {
        text_member(j, "pattern", WITHOUT_NUL);
    }
    text_member(j, "default", row->said->preset);
}

/* It was checked with its table. */
static void put_preset(struct mk_json *j, const struct duda_input *said)
{
    const char *text = said->preset;
    double n = 0;

    if (!text)
        return;
    mk_json_key(j, MK_STR("default"));
    if (said->type == DUDA_INTEGER) {
        mk_json_int(j, strtoll(text, NULL, 10));
    } else if (said->type == DUDA_NUMBER) {
        (void)json_read_number(text, text + strlen(text), &n);
        mk_json_number(j, n);
    } else {
        mk_json_bool(j, strcmp(text, "true") == 0 || strcmp(text, "on") == 0 || text[0] == '1');
    }
}

static void put_number(struct mk_json *j, const struct mk_duda_row *row)
{
    const bool is_integer = row->said->type == DUDA_INTEGER;

    text_member(j, "type", is_integer ? "integer" : "number");
    text_member(j, "format", is_integer ? "int64" : "double");
    bound(j, "minimum", row->min);
    bound(j, "maximum", row->max);
    put_preset(j, row->said);
}

static void put_object(struct mk_json *j, const struct mk_duda_rows *rows, enum duda_in in,
                       const char *prefix, size_t len);

static void put_row(struct mk_json *j, const struct mk_duda_row *row)
{
    switch (row->said->type) {
    case DUDA_TEXT:
        put_text(j, row);
        break;
    case DUDA_INTEGER:
    case DUDA_NUMBER:
        put_number(j, row);
        break;
    case DUDA_FLAG:
        text_member(j, "type", "boolean");
        put_preset(j, row->said);
        break;
    case DUDA_LIST:
        text_member(j, "type", "array");
        bound(j, "minItems", row->min);
        bound(j, "maxItems", row->max);
        object_member(j, "items");
        if (row->items->row[0].said->name)
            put_object(j, row->items, DUDA_IN_BODY, "", 0);
        else
            put_row(j, row->items->row);
        mk_json_close(j);
        break;
    }
}

/* ---- objects ---- */

/* @return the bytes of the member's name at this depth; 0: the row is not there */
static size_t name_below(const struct mk_duda_row *row, enum duda_in in, const char *prefix,
                         size_t len)
{
    if (row->in != in || strncmp(row->said->name, prefix, len) != 0)
        return 0;
    return in == DUDA_IN_BODY ? strcspn(row->said->name + len, ".") : strlen(row->said->name + len);
}

static bool is_same(const struct mk_duda_row *a, const struct mk_duda_row *b, enum duda_in in,
                    const char *prefix, size_t len)
{
    const size_t more = name_below(b, in, prefix, len);

    return more > 0 && name_below(a, in, prefix, len) == more &&
           memcmp(a->said->name + len, b->said->name + len, more) == 0;
}

/* Did a row before have the member? Rows are few. */
static bool is_repeated(const struct mk_duda_rows *rows, unsigned at, enum duda_in in,
                        const char *prefix, size_t len)
{
    for (unsigned i = 0; i < at; i++) {
        if (is_same(&rows->row[i], &rows->row[at], in, prefix, len))
            return true;
    }
    return false;
}

static bool is_member_required(const struct mk_duda_rows *rows, unsigned at, enum duda_in in,
                               const char *prefix, size_t len)
{
    for (unsigned i = at; i < rows->count; i++) {
        if (rows->row[i].said->is_required &&
            is_same(&rows->row[i], &rows->row[at], in, prefix, len))
            return true;
    }
    return false;
}

static void put_member(struct mk_json *j, const struct mk_duda_rows *rows, unsigned at,
                       enum duda_in in, size_t len)
{
    const struct mk_duda_row *row = &rows->row[at];
    const char *name = row->said->name;
    const size_t more = name_below(row, in, name, len);

    mk_json_key(j, (struct mk_str){name + len, more});
    mk_json_object(j);
    if (name[len + more] == '.') {
        put_object(j, rows, in, name, len + more + 1);
    } else {
        text_member(j, "description", row->said->about);
        put_row(j, row);
    }
    mk_json_close(j);
}

static void put_object(struct mk_json *j, const struct mk_duda_rows *rows, enum duda_in in,
                       const char *prefix, size_t len)
{
    text_member(j, "type", "object");
    object_member(j, "properties");
    for (unsigned i = 0; i < rows->count; i++) {
        if (name_below(&rows->row[i], in, prefix, len) > 0 &&
            !is_repeated(rows, i, in, prefix, len))
            put_member(j, rows, i, in, len);
    }
    mk_json_close(j);
    array_member(j, "required");
    for (unsigned i = 0; i < rows->count; i++) {
        const size_t more = name_below(&rows->row[i], in, prefix, len);

        if (more > 0 && !is_repeated(rows, i, in, prefix, len) &&
            is_member_required(rows, i, in, prefix, len))
            mk_json_text(j, (struct mk_str){rows->row[i].said->name + len, more});
    }
    mk_json_close(j);
    if (in == DUDA_IN_BODY)
        flag_member(j, "additionalProperties", false);
}

/* ---- paths ---- */

/* "/books/:id<int>" is "/books/{id}". @param to  room for twice the pattern */
static void put_path(char *to, const char *pattern)
{
    while (*pattern) {
        const bool is_variable = (*pattern == ':' || *pattern == '*') && pattern[-1] == '/';
        const size_t len = is_variable ? strcspn(pattern + 1, "</") : 0;

        if (!is_variable) {
            *to++ = *pattern++;
            continue;
        }
        *to++ = '{';
        to = (char *)memcpy(to, pattern + 1, len) + len;
        *to++ = '}';
        pattern += 1 + len;
        pattern += *pattern == '<' ? strcspn(pattern, "/") : 0;
    }
    *to = '\0';
}

/* @return 0: no segment of it is a variable. @param rest  in: from a slash on; out: behind the variable */
static size_t next_variable(const char **rest, const char **name)
{
    for (const char *p = *rest; (p = strchr(p, '/')); p++) {
        if (p[1] != ':' && p[1] != '*')
            continue;
        *name = p + 2;
        *rest = p + 2 + strcspn(p + 2, "</");
        return (size_t)(*rest - *name);
    }
    return 0;
}

static const struct mk_duda_row *find_path_row(const struct mk_duda_route *route,
                                               struct mk_str name)
{
    const struct mk_duda_rows *rows = route->inputs ? route->inputs->rows : NULL;

    for (unsigned i = 0; rows && i < rows->count; i++) {
        if (rows->row[i].in == DUDA_IN_PATH && text_is(mk_str_from(rows->row[i].said->name), name))
            return &rows->row[i];
    }
    return NULL;
}

/* ---- operations ---- */

static void put_parameter(struct mk_json *j, struct mk_str name, const char *in, bool is_required,
                          const struct mk_duda_row *row)
{
    mk_json_object(j);
    mk_json_key(j, MK_STR("name"));
    mk_json_text(j, name);
    text_member(j, "in", in);
    flag_member(j, "required", is_required);
    text_member(j, "description", row ? row->said->about : NULL);
    object_member(j, "schema");
    if (row)
        put_row(j, row);
    else
        text_member(j, "type", "string");
    mk_json_close(j);
    mk_json_close(j);
}

static void put_parameters(struct mk_json *j, const struct mk_duda_route *route)
{
    const struct mk_duda_rows *rows = route->inputs ? route->inputs->rows : NULL;
    const char *rest = route->pattern, *name;
    size_t len;

    array_member(j, "parameters");
    while ((len = next_variable(&rest, &name)) > 0)
        put_parameter(j, (struct mk_str){name, len}, "path", true,
                      find_path_row(route, (struct mk_str){name, len}));
    for (unsigned i = 0; rows && i < rows->count; i++) {
        const struct mk_duda_row *row = &rows->row[i];

        if (row->in == DUDA_IN_QUERY || row->in == DUDA_IN_HEADER)
            put_parameter(j, mk_str_from(row->said->name),
                          row->in == DUDA_IN_QUERY ? "query" : "header", row->said->is_required,
                          row);
    }
    mk_json_close(j);
}

/* Members of a form that the table does not name: they are left out. */
static void put_others(struct mk_json *j, bool is_encoded)
{
    object_member(j, "propertyNames");
    text_member(j, "pattern", is_encoded ? WITHOUT_NUL : QUOTABLE);
    mk_json_close(j);
    if (!is_encoded)
        return;
    object_member(j, "additionalProperties");
    text_member(j, "pattern", WITHOUT_NUL);
    mk_json_close(j);
}

static void put_content(struct mk_json *j, const char *type, const struct mk_duda_rows *rows,
                        enum duda_in in)
{
    object_member(j, type);
    object_member(j, "schema");
    put_object(j, rows, in, "", 0);
    if (in == DUDA_IN_FORM)
        put_others(j, strstr(type, "urlencoded") != NULL);
    mk_json_close(j);
    mk_json_close(j);
}

static void put_body(struct mk_json *j, const struct mk_duda_schema *schema)
{
    bool is_required = false;

    if (!schema || (!schema->has_body && !schema->has_form))
        return;
    for (unsigned i = 0; i < schema->rows->count; i++)
        is_required = is_required || (schema->rows->row[i].in >= DUDA_IN_FORM &&
                                      schema->rows->row[i].said->is_required);
    object_member(j, "requestBody");
    flag_member(j, "required", is_required);
    object_member(j, "content");
    if (schema->has_body) {
        put_content(j, "application/json", schema->rows, DUDA_IN_BODY);
    } else {
        put_content(j, "application/x-www-form-urlencoded", schema->rows, DUDA_IN_FORM);
        put_content(j, "multipart/form-data", schema->rows, DUDA_IN_FORM);
    }
    mk_json_close(j);
    mk_json_close(j);
}

/* What the server answers before the call-back is called. */
static const struct refusal {
    int status;
    bool is_of_body; /* only where the route takes one */
    const char *about;
} refusals[] = {
    {400, false, "Inputs are wrong; errors names each one"},
    {413, true, "The body is too large"},
    {415, true, "The body has another type"},
};

static bool has_status(const struct mk_duda_answers *answers, int status, unsigned n)
{
    for (unsigned i = 0; answers && i < n; i++) {
        if (answers->row[i].said->status == status)
            return true;
    }
    return false;
}

static void put_any_content(struct mk_json *j, const char *type)
{
    object_member(j, "content");
    object_member(j, type);
    mk_json_close(j);
    mk_json_close(j);
}

static void put_sent(struct mk_json *j, const struct mk_duda_answer *answer)
{
    object_member(j, answer->said->type);
    if (answer->rows || answer->said->is_list)
        object_member(j, "schema");
    if (answer->said->is_list) {
        text_member(j, "type", "array");
        object_member(j, "items");
    }
    if (answer->rows)
        put_object(j, answer->rows, DUDA_IN_BODY, "", 0);
    if (answer->said->is_list)
        mk_json_close(j);
    if (answer->rows || answer->said->is_list)
        mk_json_close(j);
    mk_json_close(j);
}

/* All rows of the status of one. */
static void put_status(struct mk_json *j, const struct mk_duda_answers *answers, unsigned at)
{
    const struct duda_answer *said = answers->row[at].said;
    bool has_content = false;
    char key[16];

    (void)snprintf(key, sizeof(key), "%d", said->status);
    object_member(j, key);
    text_member(j, "description", said->about ? said->about : "");
    for (unsigned i = at; i < answers->count; i++) {
        const struct mk_duda_answer *row = &answers->row[i];

        if (row->said->status != said->status || !row->said->type)
            continue;
        if (!has_content)
            object_member(j, "content");
        has_content = true;
        put_sent(j, row);
    }
    if (has_content)
        mk_json_close(j);
    mk_json_close(j);
}

static void put_refusals(struct mk_json *j, const struct mk_duda_route *route)
{
    const struct mk_duda_schema *schema = route->inputs;

    for (size_t i = 0; schema && i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *refusal = &refusals[i];
        char key[16];

        if ((refusal->is_of_body && !schema->has_body && !schema->has_form) ||
            has_status(route->answers, refusal->status, route->answers ? route->answers->count : 0))
            continue;
        (void)snprintf(key, sizeof(key), "%d", refusal->status);
        object_member(j, key);
        text_member(j, "description", refusal->about);
        put_any_content(j, "application/problem+json");
        mk_json_close(j);
    }
}

/* Where a variable has another type, there is no route. */
static void put_absence(struct mk_json *j, const struct mk_duda_route *route)
{
    if (route->ntyped == 0 || has_status(route->answers, 404, route->answers->count))
        return;
    object_member(j, "404");
    text_member(j, "description", "The path is none of this route");
    mk_json_close(j);
}

static void put_answers(struct mk_json *j, const struct mk_duda_route *route)
{
    const struct mk_duda_answers *answers = route->answers;

    object_member(j, "responses");
    if (answers) {
        for (unsigned i = 0; i < answers->count; i++) {
            if (!has_status(answers, answers->row[i].said->status, i))
                put_status(j, answers, i);
        }
        put_absence(j, route);
    } else {
        object_member(j, "default");
        text_member(j, "description", "The answer of the service");
        mk_json_close(j);
    }
    put_refusals(j, route);
    mk_json_close(j);
}

static void put_operation(struct mk_json *j, const char *method, const struct mk_duda_route *route)
{
    object_member(j, method);
    text_member(j, "summary", route->inputs ? route->inputs->said->about : NULL);
    put_parameters(j, route);
    put_body(j, route->inputs);
    put_answers(j, route);
    mk_json_close(j);
}

/* The methods of a route are what its name has before the pattern. */
static bool has_method(const struct mk_duda_route *route, struct mk_str method)
{
    struct mk_str rest = {route->target.name, (size_t)(route->pattern - route->target.name)}, word;

    while ((word = text_next_word(&rest)).p) {
        if (text_is(word, method))
            return true;
    }
    return false;
}

static bool has_path(const struct mk_duda_route *route, const char *path)
{
    char own[2 * MK_ROUTE_PATTERN + 1];

    put_path(own, route->pattern);
    return strcmp(own, path) == 0;
}

static void put_operations(struct mk_json *j, const struct mk_duda_route *routes, const char *path)
{
    static const struct {
        struct mk_str method;
        const char *key;
    } methods[] = {{MK_STR_INIT("GET"), "get"},        {MK_STR_INIT("PUT"), "put"},
                   {MK_STR_INIT("POST"), "post"},      {MK_STR_INIT("DELETE"), "delete"},
                   {MK_STR_INIT("PATCH"), "patch"},    {MK_STR_INIT("HEAD"), "head"},
                   {MK_STR_INIT("OPTIONS"), "options"}};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const struct mk_duda_route *route = routes;

        while (route && !(has_method(route, methods[i].method) && has_path(route, path)))
            route = route->next;
        if (route)
            put_operation(j, methods[i].key, route);
    }
}

void mk_duda_openapi_write(struct mk_json *j, const struct mk_duda_openapi *about,
                           const struct mk_duda_route *routes)
{
    char path[2 * MK_ROUTE_PATTERN + 1];

    mk_json_object(j);
    text_member(j, "openapi", "3.1.1");
    object_member(j, "info");
    text_member(j, "title", about->title);
    text_member(j, "version", about->version);
    mk_json_close(j);
    array_member(j, "servers");
    mk_json_object(j);
    text_member(j, "url", about->url[0] ? about->url : "/");
    mk_json_close(j);
    mk_json_close(j);
    object_member(j, "paths");
    for (const struct mk_duda_route *route = routes; route; route = route->next) {
        const struct mk_duda_route *first = routes;

        put_path(path, route->pattern);
        while (!has_path(first, path))
            first = first->next;
        if (first != route || route->is_hidden)
            continue;
        mk_json_key(j, mk_str_from(path));
        mk_json_object(j);
        put_operations(j, routes, path);
        mk_json_close(j);
    }
    mk_json_close(j);
    mk_json_close(j);
}
