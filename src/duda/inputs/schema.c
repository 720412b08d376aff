/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs/schema.h"

#include "inputs/scalar.h"
#include "kit/text/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    size_t size, align;
} types[] = {
    [DUDA_TEXT] = {sizeof(const char *), _Alignof(const char *)},
    [DUDA_INTEGER] = {sizeof(int64_t), _Alignof(int64_t)},
    [DUDA_NUMBER] = {sizeof(double), _Alignof(double)},
    [DUDA_FLAG] = {sizeof(int), _Alignof(int)},
    [DUDA_LIST] = {sizeof(struct duda_list), _Alignof(struct duda_list)},
};

size_t mk_duda_type_size(enum duda_type type)
{
    return (size_t)type < sizeof(types) / sizeof(types[0]) ? types[type].size : 0;
}

/* @return NULL */
MK_PRINTF(2, 3) static void *refuse(struct mk_duda_schema_room *room, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(room->why, sizeof(room->why), fmt, ap);
    va_end(ap);
    return NULL;
}

static void *refuse_row(struct mk_duda_schema_room *room, const struct duda_input *said,
                        const char *sentence)
{
    if (!said->name)
        return refuse(room, "the row of a list's values: %s", sentence);
    return refuse(room, "input \"%.*s\": %s", MK_DUDA_INPUT_NAME, said->name, sentence);
}

/* ---- one row ---- */

static double widest(const struct duda_input *said)
{
    return said->type == DUDA_LIST   ? MK_DUDA_LIST_MAX
           : said->type != DUDA_TEXT ? (double)INFINITY
           : said->pattern           ? MK_DUDA_TEXT_MATCHED
                                     : MK_DUDA_TEXT_MAX;
}

static double usual_max(enum duda_type type)
{
    return type == DUDA_TEXT   ? MK_DUDA_TEXT_USUAL
           : type == DUDA_LIST ? MK_DUDA_LIST_USUAL
                               : (double)INFINITY;
}

static void set_bounds(struct mk_duda_row *row, bool is_sent)
{
    const struct duda_input *said = row->said;
    const bool has_none = said->min == 0 && said->max == 0;

    row->min = has_none && said->type != DUDA_TEXT && said->type != DUDA_LIST ? -(double)INFINITY
                                                                              : said->min;
    row->max = said->max != 0 || said->min < 0 ? said->max
               : is_sent                       ? widest(said)
                                               : usual_max(said->type);
}

static const char *fault_of_bounds(const struct mk_duda_row *row)
{
    const struct duda_input *said = row->said;
    const double most = widest(said);

    if (isnan(said->min) || isnan(said->max) || row->min > row->max)
        return "its min is above its max";
    if (said->type == DUDA_FLAG && (said->min != 0 || said->max != 0))
        return "true and false have no bounds";
    if (said->type != DUDA_TEXT && said->type != DUDA_LIST)
        return NULL;
    if (row->min < 0 || row->max > most || row->min != (double)(long)row->min ||
        row->max != (double)(long)row->max)
        return said->type == DUDA_LIST ? "its bounds are whole numbers from 0 to 10,000"
               : said->pattern         ? "with a pattern, bounds are whole numbers from 0 to 10,000"
                                       : "its bounds are whole numbers from 0 to 1,048,576";
    return NULL;
}

static const char *fault_of_choices(const struct duda_input *said)
{
    struct mk_str rest = mk_str_from(said->choices);
    unsigned n = 0;

    if (!said->choices)
        return NULL;
    if (said->type != DUDA_TEXT)
        return "choices are of texts alone";
    while (text_next_word(&rest).p)
        n++;
    return n > 0 && n <= MK_DUDA_INPUT_CHOICES ? NULL : "it has no choices, or more than 64";
}

/* Back-references are of no use here, and make matching slow beyond bounds. */
static bool has_back_reference(const char *pattern)
{
    for (const char *p = strchr(pattern, '\\'); p; p = strchr(p + 2, '\\')) {
        if ((p[1] >= '1' && p[1] <= '9') || p[1] == '\0')
            return true;
    }
    return false;
}

static const char *compile(struct mk_duda_schema_room *room, struct mk_duda_row *row)
{
    const char *pattern = row->said->pattern;
    struct mk_duda_regex *regex;
    char whole[MK_DUDA_INPUT_PATTERN + 5];

    if (!pattern)
        return NULL;
    if (row->said->type != DUDA_TEXT)
        return "patterns are of texts alone";
    if (strlen(pattern) > MK_DUDA_INPUT_PATTERN || has_back_reference(pattern))
        return "its pattern is longer than 256 bytes, or has a back-reference";
    regex = room->alloc(room->arg, sizeof(*regex));
    if (!regex)
        return "no memory";
    (void)snprintf(whole, sizeof(whole), "^(%s)$", pattern);
    if (regcomp(&regex->compiled, whole, REG_EXTENDED | REG_NOSUB) != 0)
        return "its pattern is malformed";
    regex->next = room->regexes;
    room->regexes = regex;
    row->pattern = regex;
    return NULL;
}

static const char *fault_of_member(const struct duda_input *said, size_t size)
{
    const size_t own = mk_duda_type_size(said->type);

    if (said->to > size || own > size - said->to || said->to % types[said->type].align != 0)
        return "its member is not in the struct";
    return NULL;
}

static const char *fault_of_type(const struct duda_input *said)
{
    return mk_duda_type_size(said->type) > 0 ? NULL : "it has no type";
}

static const char *fault_of_preset(const struct mk_duda_row *row)
{
    const struct duda_input *said = row->said;
    struct mk_duda_values *v;
    max_align_t member;
    const char *fault;

    if (!said->preset)
        return NULL;
    if (said->type == DUDA_LIST || said->is_required || row->in == DUDA_IN_PATH)
        return "a preset is of inputs that may be absent, and not of lists";
    v = mk_duda_values_new();
    if (!v)
        return "no memory";
    fault = mk_duda_scalar_read(row, v, mk_str_from(said->preset), &member) == NULL
                ? NULL
                : "its preset does not fit";
    mk_duda_values_free(v);
    return fault;
}

/* ---- names ---- */

static bool is_token(const char *name)
{
    return name[strspn(name, "!#$%&'*+-.^_`|~0123456789"
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

/* ":name" or "*name" as a segment of the route's pattern */
static bool has_variable(const char *pattern, const char *name)
{
    const size_t len = strlen(name);

    for (const char *p = strpbrk(pattern, ":*"); p; p = strpbrk(p + 1, ":*")) {
        if (p > pattern && p[-1] == '/' && strncmp(p + 1, name, len) == 0 &&
            (p[1 + len] == '/' || p[1 + len] == '\0'))
            return true;
    }
    return false;
}

static const char *fault_of_path(const char *name)
{
    unsigned segments = 1;

    for (const char *p = strchr(name, '.'); p; p = strchr(p + 1, '.'))
        segments++;
    if (segments > MK_DUDA_INPUT_PATH || name[0] == '.' || name[strlen(name) - 1] == '.' ||
        strstr(name, ".."))
        return "its name is no path of at most 8 members";
    return NULL;
}

static const char *fault_of_name(const struct mk_duda_row *row, const char *pattern)
{
    const char *name = row->said->name;

    if (strlen(name) > MK_DUDA_INPUT_NAME || name[0] == '\0')
        return "its name is empty, or longer than 64 bytes";
    switch (row->in) {
    case DUDA_IN_PATH:
        return has_variable(pattern, name) ? NULL : "the pattern has no variable of its name";
    case DUDA_IN_HEADER:
        return is_token(name) ? NULL : "its name is none of a field";
    case DUDA_IN_BODY:
        return fault_of_path(name);
    default:
        return NULL;
    }
}

bool mk_duda_name_is_within(const char *name, const char *object, size_t len)
{
    return strncmp(name, object, len) == 0 && (name[len] == '.' || name[len] == '\0');
}

static bool is_same_name(const struct mk_duda_row *a, const struct mk_duda_row *b)
{
    const char *one = a->said->name, *other = b->said->name;

    if (a->in != b->in)
        return false;
    if (a->in == DUDA_IN_BODY)
        return mk_duda_name_is_within(one, other, strlen(other)) ||
               mk_duda_name_is_within(other, one, strlen(one));
    return a->in == DUDA_IN_HEADER ? text_is_word(mk_str_from(one), mk_str_from(other))
                                   : strcmp(one, other) == 0;
}

static bool is_same_member(const struct duda_input *a, const struct duda_input *b)
{
    return a->to < b->to + mk_duda_type_size(b->type) && b->to < a->to + mk_duda_type_size(a->type);
}

static const char *fault_beside(const struct mk_duda_rows *rows, const struct mk_duda_row *row,
                                bool is_sent)
{
    for (const struct mk_duda_row *other = rows->row; other < row; other++) {
        if (is_same_name(row, other))
            return "another row has its name";
        if (!is_sent && is_same_member(row->said, other->said))
            return "another row has its member";
    }
    return NULL;
}

/* ---- a table ---- */

/* A list of objects in which a table is. */
struct around {
    const struct mk_duda_schema *schema;
    const char *methods, *pattern;
    unsigned depth;
    bool is_sent; /* it is a table of an answer, without a struct */
};

static const struct mk_duda_rows *read_rows(struct mk_duda_schema_room *room,
                                            const struct duda_input *said, size_t size,
                                            const struct around *around);

static const char *fault_of_place(const struct mk_duda_row *row, const struct around *around)
{
    const bool is_in_body = row->in == DUDA_IN_BODY || row->in == DUDA_IN_FORM;
    struct mk_str rest = mk_str_from(around->methods), word;

    if (around->is_sent)
        return NULL;
    if (row->in < DUDA_IN_PATH || row->in > DUDA_IN_BODY)
        return "it says not where it is";
    if (around->depth > 0 && row->in != DUDA_IN_BODY)
        return "members of objects are in the body";
    if (row->said->type == DUDA_LIST && (row->in == DUDA_IN_PATH || row->in == DUDA_IN_HEADER))
        return "a list is not of paths or fields";
    if (is_in_body && !around->methods)
        return "a route of all methods has no body";
    while (is_in_body && (word = text_next_word(&rest)).p) {
        if (text_is(word, MK_STR("GET")) || text_is(word, MK_STR("HEAD")))
            return "a route of GET or HEAD has no body";
    }
    return NULL;
}

/* Of what lists have: one row for values. */
static const struct mk_duda_rows *read_value_row(struct mk_duda_schema_room *room,
                                                 const struct duda_input *said, bool is_sent)
{
    struct mk_duda_rows *rows = room->alloc(room->arg, sizeof(*rows) + sizeof(rows->row[0]));
    struct mk_duda_row *row;
    const char *why;

    if (!rows)
        return refuse(room, "no memory");
    row = rows->row;
    rows->count = 1;
    *row = (struct mk_duda_row){.said = said, .in = DUDA_IN_BODY};
    if (said->name || said->type == DUDA_LIST || said->preset || said->is_required || said->to != 0)
        return refuse_row(room, said, "values of a list have no name, member, list or preset");
    set_bounds(row, is_sent);
    why = fault_of_type(said);
    why = why ? why : fault_of_member(said, mk_duda_type_size(said->type));
    why = why ? why : fault_of_choices(said);
    why = why ? why : compile(room, row);
    why = why ? why : fault_of_bounds(row);
    return why ? refuse_row(room, said, why) : rows;
}

static bool read_items(struct mk_duda_schema_room *room, struct mk_duda_row *row,
                       const struct around *around)
{
    const struct duda_input *said = row->said;
    const struct around inner = {around->schema, around->methods, around->pattern,
                                 around->depth + 1, around->is_sent};

    if ((said->type == DUDA_LIST) != (said->items != NULL) || (said->item_size && !said->items))
        return refuse_row(room, said, "a list, and nothing else, has items") != NULL;
    if (!said->items)
        return true;
    row->item_size = said->item_size ? said->item_size : mk_duda_type_size(said->items->type);
    if (said->item_size == 0)
        row->items = read_value_row(room, said->items, around->is_sent);
    else if (row->in != DUDA_IN_BODY)
        return refuse_row(room, said, "lists of objects are in the body") != NULL;
    else if (inner.depth > MK_DUDA_INPUT_LISTS)
        return refuse_row(room, said, "its lists are in each other too deep") != NULL;
    else
        row->items = read_rows(room, said->items, said->item_size, &inner);
    return row->items != NULL;
}

static bool read_row(struct mk_duda_schema_room *room, struct mk_duda_rows *rows,
                     const struct duda_input *said, size_t size, const struct around *around)
{
    struct mk_duda_row *row = &rows->row[rows->count];
    const char *why;

    *row = (struct mk_duda_row){.said = said, .in = said->in};
    if (around->is_sent || (around->depth > 0 && row->in == 0))
        row->in = DUDA_IN_BODY;
    set_bounds(row, around->is_sent);
    why = fault_of_place(row, around);
    why = why ? why : fault_of_name(row, around->pattern);
    why = why ? why : fault_of_type(said);
    why = why || around->is_sent ? why : fault_of_member(said, size);
    why = why ? why : fault_beside(rows, row, around->is_sent);
    why = why ? why : fault_of_choices(said);
    why = why ? why : compile(room, row);
    why = why ? why : fault_of_bounds(row);
    why = why ? why : fault_of_preset(row);
    if (why)
        return refuse_row(room, said, why) != NULL;
    rows->count++;
    return read_items(room, row, around);
}

static const struct mk_duda_rows *read_rows(struct mk_duda_schema_room *room,
                                            const struct duda_input *said, size_t size,
                                            const struct around *around)
{
    struct mk_duda_rows *rows;
    unsigned n = 0;

    while (said[n].name && n <= MK_DUDA_INPUT_ROWS)
        n++;
    if (n == 0 || n > MK_DUDA_INPUT_ROWS || size > MK_DUDA_INPUT_SIZE)
        return refuse(room, "a table has 1 to 64 rows, and a struct of at most 64 KB");
    rows = room->alloc(room->arg, sizeof(*rows) + n * sizeof(rows->row[0]));
    if (!rows)
        return refuse(room, "no memory");
    while (rows->count < n) {
        if (!read_row(room, rows, &said[rows->count], size, around))
            return NULL;
    }
    return rows;
}

const struct mk_duda_schema *mk_duda_schema_new(struct mk_duda_schema_room *room,
                                                const struct duda_inputs *said, const char *methods,
                                                const char *pattern)
{
    struct mk_duda_schema *schema = room->alloc(room->arg, sizeof(*schema));
    const struct around around = {schema, methods, pattern, 0, false};

    if (!schema)
        return refuse(room, "no memory");
    if (!said || !said->rows)
        return refuse(room, "a table of inputs is needed");
    schema->said = said;
    schema->rows = read_rows(room, said->rows, said->size, &around);
    for (unsigned i = 0; schema->rows && i < schema->rows->count; i++) {
        schema->has_form = schema->has_form || schema->rows->row[i].in == DUDA_IN_FORM;
        schema->has_body = schema->has_body || schema->rows->row[i].in == DUDA_IN_BODY;
    }
    if (schema->has_form && schema->has_body)
        return refuse(room, "a route takes a form or a JSON body, not both");
    return schema->rows ? schema : NULL;
}

const struct mk_duda_rows *mk_duda_rows_of_answer(struct mk_duda_schema_room *room,
                                                  const struct duda_input *said)
{
    const struct around around = {.is_sent = true};

    return read_rows(room, said, 0, &around);
}

void mk_duda_schema_free(struct mk_duda_regex *regexes)
{
    for (; regexes; regexes = regexes->next)
        regfree(&regexes->compiled);
}
