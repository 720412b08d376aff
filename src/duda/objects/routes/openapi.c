/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/routes/openapi.h"

#include "inputs/answers.h"
#include "json/tree.h"
#include "kit/text/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    openapi_array(j, "enum");
    while ((word = text_next_word(&rest)).p)
        mk_json_text(j, word);
    mk_json_close(j);
}

static void put_text(struct mk_json *j, const struct mk_duda_row *row)
{
    char pattern[MK_DUDA_INPUT_PATTERN + 8];

    openapi_text(j, "type", "string");
    bound(j, "minLength", row->min);
    bound(j, "maxLength", row->max);
    put_choices(j, row->said->choices);
    if (row->said->pattern) {
        (void)snprintf(pattern, sizeof(pattern), "^(?:%s)$", row->said->pattern);
        openapi_text(j, "pattern", pattern);
    } else if (!row->said->choices) {
        openapi_text(j, "pattern", WITHOUT_NUL);
    }
    openapi_text(j, "default", row->said->preset);
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

    openapi_text(j, "type", is_integer ? "integer" : "number");
    openapi_text(j, "format", is_integer ? "int64" : "double");
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
        openapi_text(j, "type", "boolean");
        put_preset(j, row->said);
        break;
    case DUDA_LIST:
        openapi_text(j, "type", "array");
        bound(j, "minItems", row->min);
        bound(j, "maxItems", row->max);
        openapi_object(j, "items");
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
        openapi_text(j, "description", row->said->about);
        put_row(j, row);
    }
    mk_json_close(j);
}

static void put_object(struct mk_json *j, const struct mk_duda_rows *rows, enum duda_in in,
                       const char *prefix, size_t len)
{
    openapi_text(j, "type", "object");
    openapi_object(j, "properties");
    for (unsigned i = 0; i < rows->count; i++) {
        if (name_below(&rows->row[i], in, prefix, len) > 0 &&
            !is_repeated(rows, i, in, prefix, len))
            put_member(j, rows, i, in, len);
    }
    mk_json_close(j);
    openapi_array(j, "required");
    for (unsigned i = 0; i < rows->count; i++) {
        const size_t more = name_below(&rows->row[i], in, prefix, len);

        if (more > 0 && !is_repeated(rows, i, in, prefix, len) &&
            is_member_required(rows, i, in, prefix, len))
            mk_json_text(j, (struct mk_str){rows->row[i].said->name + len, more});
    }
    mk_json_close(j);
    if (in == DUDA_IN_BODY)
        openapi_flag(j, "additionalProperties", false);
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
    openapi_text(j, "in", in);
    openapi_flag(j, "required", is_required);
    openapi_text(j, "description", row ? row->said->about : NULL);
    openapi_object(j, "schema");
    if (row)
        put_row(j, row);
    else
        openapi_text(j, "type", "string");
    mk_json_close(j);
    mk_json_close(j);
}

static void put_parameters(struct mk_json *j, const struct mk_duda_route *route)
{
    const struct mk_duda_rows *rows = route->inputs ? route->inputs->rows : NULL;
    const char *rest = route->pattern, *name;
    size_t len;

    openapi_array(j, "parameters");
    while ((len = openapi_variable(&rest, &name)) > 0)
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
    openapi_object(j, "propertyNames");
    openapi_text(j, "pattern", is_encoded ? WITHOUT_NUL : QUOTABLE);
    mk_json_close(j);
    if (!is_encoded)
        return;
    openapi_object(j, "additionalProperties");
    openapi_text(j, "pattern", WITHOUT_NUL);
    mk_json_close(j);
}

static void put_content(struct mk_json *j, const char *type, const struct mk_duda_rows *rows,
                        enum duda_in in)
{
    openapi_object(j, type);
    openapi_object(j, "schema");
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
    openapi_object(j, "requestBody");
    openapi_flag(j, "required", is_required);
    openapi_object(j, "content");
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

static struct openapi_answer get_answer(const void *rows, unsigned at)
{
    const struct mk_duda_answers *answers = rows;
    const struct mk_duda_answer *row = &answers->row[at];

    return (struct openapi_answer){.status = row->said->status,
                                   .type = row->said->type,
                                   .about = row->said->about,
                                   .members = row->rows,
                                   .is_list = row->said->is_list};
}

static void put_members(struct mk_json *j, const void *rows)
{
    put_object(j, rows, DUDA_IN_BODY, "", 0);
}

static struct openapi_answers answers_of(const struct mk_duda_route *route)
{
    return (struct openapi_answers){.count = route->answers ? route->answers->count : 0,
                                    .rows = route->answers,
                                    .get = get_answer,
                                    .put_members = put_members};
}

static void put_any_content(struct mk_json *j, const char *type)
{
    openapi_object(j, "content");
    openapi_object(j, type);
    mk_json_close(j);
    mk_json_close(j);
}

static void put_refusals(struct mk_json *j, const struct mk_duda_route *route,
                         const struct openapi_answers *answers)
{
    const struct mk_duda_schema *schema = route->inputs;

    for (size_t i = 0; schema && i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *refusal = &refusals[i];
        char key[16];

        if ((refusal->is_of_body && !schema->has_body && !schema->has_form) ||
            openapi_has_status(answers, refusal->status, answers->count))
            continue;
        (void)snprintf(key, sizeof(key), "%d", refusal->status);
        openapi_object(j, key);
        openapi_text(j, "description", refusal->about);
        put_any_content(j, "application/problem+json");
        mk_json_close(j);
    }
}

/* Where a variable has another type, there is no route. */
static void put_absence(struct mk_json *j, const struct mk_duda_route *route,
                        const struct openapi_answers *answers)
{
    if (route->ntyped == 0 || openapi_has_status(answers, 404, answers->count))
        return;
    openapi_object(j, "404");
    openapi_text(j, "description", "The path is none of this route");
    mk_json_close(j);
}

static void put_answers(struct mk_json *j, const struct mk_duda_route *route)
{
    const struct openapi_answers answers = answers_of(route);

    openapi_object(j, "responses");
    openapi_put_answers(j, &answers);
    if (route->answers)
        put_absence(j, route, &answers);
    else
        openapi_put_any_answer(j);
    put_refusals(j, route, &answers);
    mk_json_close(j);
}

static void put_operation(struct mk_json *j, const void *of)
{
    const struct mk_duda_route *route = of;

    openapi_text(j, "summary", route->inputs ? route->inputs->said->about : NULL);
    put_parameters(j, route);
    put_body(j, route->inputs);
    put_answers(j, route);
}

/* ---- routes ---- */

static const void *next_of(const void *route)
{
    return ((const struct mk_duda_route *)route)->next;
}

static const char *pattern_of(const void *route)
{
    return ((const struct mk_duda_route *)route)->pattern;
}

static bool is_hidden(const void *route)
{
    return ((const struct mk_duda_route *)route)->is_hidden;
}

/* The methods of a route are what its name has before the pattern. */
static bool has_method(const void *of, struct mk_str method)
{
    const struct mk_duda_route *route = of;
    struct mk_str rest = {route->target.name, (size_t)(route->pattern - route->target.name)}, word;

    while ((word = text_next_word(&rest)).p) {
        if (text_is(word, method))
            return true;
    }
    return false;
}

void mk_duda_openapi_write(struct mk_json *j, const struct openapi_about *about,
                           const struct mk_duda_route *routes)
{
    const struct openapi_routes all = {.first = routes,
                                       .next = next_of,
                                       .pattern = pattern_of,
                                       .has_method = has_method,
                                       .is_hidden = is_hidden,
                                       .put = put_operation};

    openapi_write(j, about, &all);
}
