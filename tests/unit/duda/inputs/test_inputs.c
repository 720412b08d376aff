/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "inputs/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static unsigned allocations; /* that may still succeed */

static void *some(const size_t size)
{
    return allocations > 0 && allocations-- ? malloc(size) : NULL;
}

static void *zeroed(const size_t size)
{
    return allocations > 0 && allocations-- ? calloc(1, size) : NULL;
}

static const struct duda_api_mem memory = {some, zeroed, realloc, free};

static struct {
    void *blocks[64];
    unsigned count;
} room_blocks;

static void *room_alloc(void *arg, size_t size)
{
    void *p = zeroed(size);

    (void)arg;
    assert_true(room_blocks.count < NUMBER_OF(room_blocks.blocks));
    if (p)
        room_blocks.blocks[room_blocks.count++] = p;
    return p;
}

static struct mk_duda_schema_room room;

static const struct mk_duda_schema *schema_of(const struct duda_inputs *said, const char *methods,
                                              const char *pattern)
{
    room = (struct mk_duda_schema_room){.alloc = room_alloc};
    return mk_duda_schema_new(&room, said, methods, pattern);
}

static void drop_schema(void)
{
    mk_duda_schema_free(room.regexes);
    room.regexes = NULL;
    while (room_blocks.count > 0)
        free(room_blocks.blocks[--room_blocks.count]);
}

static int set_up(void **state)
{
    (void)state;
    allocations = UINT32_MAX;
    json_memory = &memory;
    return 0;
}

/* ---- tables ---- */

struct values {
    const char *text;
    int64_t integer;
    double number;
    int flag;
    struct duda_list list;
};

#define TO(member) .to = offsetof(struct values, member)
#define ONE_ROW(...) ((const struct duda_input[]){{__VA_ARGS__}, {0}})

struct table_row {
    const char *methods, *pattern;
    const struct duda_input *rows;
    const char *why; /* within the sentence; NULL: it is right */
};

static const struct duda_input text_item = {.type = DUDA_TEXT, .max = 3};
static const struct duda_input number_item = {.type = DUDA_INTEGER, .min = 1, .max = 9};
static char long_name[MK_DUDA_INPUT_NAME + 2], long_pattern[MK_DUDA_INPUT_PATTERN + 2];

#define QUERY(...) ONE_ROW(.name = "q", .in = DUDA_IN_QUERY, __VA_ARGS__)
#define BODY(...) ONE_ROW(.in = DUDA_IN_BODY, __VA_ARGS__)

static void check_table(int line, struct table_row row)
{
    const struct duda_inputs said = {.size = sizeof(struct values), .rows = row.rows};
    const struct mk_duda_schema *schema = schema_of(&said, row.methods, row.pattern);

    if (!row.why && !schema)
        fail_msg("line %d: %s", line, room.why);
    if (row.why && (schema || !strstr(room.why, row.why)))
        fail_msg("line %d: \"%s\", not \"%s\"", line, room.why, row.why);
    drop_schema();
}

#define ROW(...) check_table(__LINE__, (struct table_row){__VA_ARGS__})

static void checks_tables(void **state)
{
    (void)state;
    memset(long_name, 'n', sizeof(long_name) - 1);
    memset(long_pattern, 'p', sizeof(long_pattern) - 1);
    ROW("GET", "/", QUERY(.type = DUDA_TEXT), NULL);
    ROW("GET", "/", NULL, "a table of inputs");
    ROW("GET", "/", ((const struct duda_input[]){{0}}), "1 to 64 rows");
    ROW("GET", "/", QUERY(.type = 0), "no type");
    ROW("GET", "/", QUERY(.type = DUDA_LIST + 1), "no type");
    ROW("GET", "/", ONE_ROW(.name = "q", .type = DUDA_TEXT), "where it is");
    ROW("GET", "/", ONE_ROW(.name = "q", .in = DUDA_IN_BODY + 1, .type = DUDA_TEXT), "where it is");
    ROW("GET", "/", ONE_ROW(.name = "", .in = DUDA_IN_QUERY, .type = DUDA_TEXT), "its name");
    ROW("GET", "/", ONE_ROW(.name = long_name, .in = DUDA_IN_QUERY, .type = DUDA_TEXT), "its name");
    ROW("GET", "/", ONE_ROW(.name = "a b", .in = DUDA_IN_HEADER, .type = DUDA_TEXT), "of a field");
    ROW("GET", "/", ONE_ROW(.name = "X-A", .in = DUDA_IN_HEADER, .type = DUDA_TEXT), NULL);
    /* members */
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .to = sizeof(struct values)), "its member");
    ROW("GET", "/",
        QUERY(.type = DUDA_LIST, .to = sizeof(struct values) - sizeof(int), .items = &text_item),
        "its member");
    ROW("GET", "/", QUERY(.type = DUDA_FLAG, .to = 1), "its member");
    ROW("GET", "/", QUERY(.type = DUDA_FLAG, .to = SIZE_MAX - 3), "its member");
    ROW("GET", "/",
        ((const struct duda_input[]){
            {.name = "a", .in = DUDA_IN_QUERY, .type = DUDA_TEXT, TO(text)},
            {.name = "b",
             .in = DUDA_IN_QUERY,
             .type = DUDA_FLAG,
             .to = sizeof(const char *) - sizeof(int)},
            {0}}),
        "another row has its member");
    ROW("GET", "/",
        ((const struct duda_input[]){
            {.name = "X-A", .in = DUDA_IN_HEADER, .type = DUDA_TEXT, TO(text)},
            {.name = "x-a", .in = DUDA_IN_HEADER, .type = DUDA_FLAG, TO(flag)},
            {0}}),
        "another row has its name");
    ROW("GET", "/",
        ((const struct duda_input[]){
            {.name = "a", .in = DUDA_IN_HEADER, .type = DUDA_TEXT, TO(text)},
            {.name = "a", .in = DUDA_IN_QUERY, .type = DUDA_FLAG, TO(flag)},
            {0}}),
        NULL);
    ROW("PUT", "/",
        ((const struct duda_input[]){
            {.name = "a.b", .in = DUDA_IN_BODY, .type = DUDA_TEXT, TO(text)},
            {.name = "a", .in = DUDA_IN_BODY, .type = DUDA_FLAG, TO(flag)},
            {0}}),
        "another row has its name");
    ROW("PUT", "/",
        ((const struct duda_input[]){
            {.name = "a.b", .in = DUDA_IN_BODY, .type = DUDA_TEXT, TO(text)},
            {.name = "ab", .in = DUDA_IN_BODY, .type = DUDA_FLAG, TO(flag)},
            {.name = "a.c", .in = DUDA_IN_BODY, .type = DUDA_NUMBER, TO(number)},
            {0}}),
        NULL);
    /* bounds */
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .min = 2, .max = 1), "min is above");
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .min = 2), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .min = -2), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_NUMBER, TO(number), .min = (double)NAN), "min is above");
    ROW("GET", "/", QUERY(.type = DUDA_FLAG, .max = 1), "no bounds");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .max = 1.5), "whole numbers");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .min = -1, .max = 3), "whole numbers");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .max = MK_DUDA_TEXT_MAX), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .max = MK_DUDA_TEXT_MAX + 1), "whole numbers");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .max = MK_DUDA_TEXT_MATCHED + 1, .pattern = "a"),
        "with a pattern");
    ROW("GET", "/", QUERY(.type = DUDA_LIST, .items = &text_item, .max = MK_DUDA_LIST_MAX + 1),
        "whole numbers");
    /* patterns and choices */
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = "[a-z]+"), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = "(a"), "malformed");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = "(a)\\1"), "back-reference");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = "a\\\\1"), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = "a\\"), "back-reference");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .pattern = long_pattern), "longer than 256");
    ROW("GET", "/", QUERY(.type = DUDA_FLAG, .pattern = "a"), "of texts alone");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .choices = "a b"), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .choices = " "), "no choices");
    ROW("GET", "/", QUERY(.type = DUDA_FLAG, .choices = "a"), "of texts alone");
    /* presets */
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .preset = "1"), NULL);
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .preset = "x"), "preset does not fit");
    ROW("GET", "/", QUERY(.type = DUDA_INTEGER, TO(integer), .preset = "1", .is_required = 1),
        "may be absent");
    ROW("GET", "/", QUERY(.type = DUDA_TEXT, .preset = "c", .choices = "a b"), "does not fit");
    /* places */
    ROW("GET", "/:q", ONE_ROW(.name = "q", .in = DUDA_IN_PATH, .type = DUDA_TEXT), NULL);
    ROW("GET", "/a/*q", ONE_ROW(.name = "q", .in = DUDA_IN_PATH, .type = DUDA_TEXT), NULL);
    ROW("GET", "/:qq/a:q", ONE_ROW(.name = "q", .in = DUDA_IN_PATH, .type = DUDA_TEXT),
        "no variable");
    ROW("GET", "/:q",
        ONE_ROW(.name = "q", .in = DUDA_IN_PATH, .type = DUDA_LIST, .items = &text_item),
        "not of paths");
    ROW("POST GET", "/", BODY(.name = "a", .type = DUDA_TEXT), "GET or HEAD");
    ROW(NULL, "/", BODY(.name = "a", .type = DUDA_TEXT), "all methods");
    ROW("POST", "/", BODY(.name = "a..b", .type = DUDA_TEXT), "no path");
    ROW("POST", "/", BODY(.name = ".a", .type = DUDA_TEXT), "no path");
    ROW("POST", "/", BODY(.name = "a.", .type = DUDA_TEXT), "no path");
    ROW("POST", "/", BODY(.name = "a.b.c.d.e.f.g.h", .type = DUDA_TEXT), NULL);
    ROW("POST", "/", BODY(.name = "a.b.c.d.e.f.g.h.i", .type = DUDA_TEXT), "no path");
    ROW("POST", "/",
        ((const struct duda_input[]){{.name = "a", .in = DUDA_IN_BODY, .type = DUDA_TEXT, TO(text)},
                                     {.name = "b", .in = DUDA_IN_FORM, .type = DUDA_FLAG, TO(flag)},
                                     {0}}),
        "not both");
    /* lists */
    ROW("POST", "/", BODY(.name = "a", .type = DUDA_LIST), "has items");
    ROW("POST", "/", BODY(.name = "a", .type = DUDA_TEXT, .items = &text_item), "has items");
    ROW("POST", "/", BODY(.name = "a", .type = DUDA_LIST, .items = &text_item), NULL);
    ROW("POST", "/", BODY(.name = "a", .type = DUDA_LIST, .items = &text_item, .preset = "x"),
        "lists");
    ROW("POST", "/",
        BODY(.name = "a", .type = DUDA_LIST,
             .items = &(const struct duda_input){.type = DUDA_LIST, .items = &text_item}),
        "values of a list");
    ROW("POST", "/",
        BODY(.name = "a", .type = DUDA_LIST, .item_size = sizeof(struct values),
             .items = ONE_ROW(.name = "b", .type = DUDA_TEXT)),
        NULL);
    ROW("POST", "/",
        BODY(.name = "a", .type = DUDA_LIST, .item_size = 2,
             .items = ONE_ROW(.name = "b", .type = DUDA_TEXT)),
        "its member");
    ROW("POST", "/",
        BODY(.name = "a", .type = DUDA_LIST, .item_size = sizeof(struct values),
             .items = ONE_ROW(.name = "b", .in = DUDA_IN_QUERY, .type = DUDA_TEXT)),
        "in the body");
    ROW("GET", "/",
        QUERY(.type = DUDA_LIST, .item_size = sizeof(struct values),
              .items = ONE_ROW(.name = "b", .type = DUDA_TEXT)),
        "in the body");
}

static void bounds_tables(void **state)
{
    struct duda_input rows[MK_DUDA_INPUT_ROWS + 2] = {{0}}, lists[MK_DUDA_INPUT_LISTS + 1][2];
    char names[MK_DUDA_INPUT_ROWS + 1][8];
    struct duda_inputs said = {.size = sizeof(int) * (MK_DUDA_INPUT_ROWS + 1), .rows = rows};

    (void)state;
    for (unsigned i = 0; i <= MK_DUDA_INPUT_ROWS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%u", i);
        rows[i] = (struct duda_input){
            .name = names[i], .in = DUDA_IN_QUERY, .type = DUDA_FLAG, .to = i * sizeof(int)};
    }
    assert_null(schema_of(&said, "GET", "/"));
    drop_schema();
    rows[MK_DUDA_INPUT_ROWS] = (struct duda_input){0};
    assert_non_null(schema_of(&said, "GET", "/"));
    drop_schema();
    said.size = MK_DUDA_INPUT_SIZE + 1;
    assert_null(schema_of(&said, "GET", "/"));
    drop_schema();
    memset(lists, 0, sizeof(lists));
    for (unsigned i = 0; i <= MK_DUDA_INPUT_LISTS; i++)
        lists[i][0] = (struct duda_input){.name = "a",
                                          .in = DUDA_IN_BODY,
                                          .type = DUDA_LIST,
                                          .items = i > 0 ? lists[i - 1] : &text_item,
                                          .item_size = i > 0 ? sizeof(struct duda_list) : 0};
    said = (struct duda_inputs){.size = sizeof(struct duda_list), .rows = lists[3]};
    assert_non_null(schema_of(&said, "PUT", "/"));
    drop_schema();
    said.rows = ONE_ROW(.name = "a", .in = DUDA_IN_BODY, .type = DUDA_LIST, .items = lists[3],
                        .item_size = sizeof(struct duda_list));
    assert_null(schema_of(&said, "PUT", "/"));
    assert_non_null(strstr(room.why, "too deep"));
    drop_schema();
}

/* ---- values ---- */

static struct mk_str none(void *arg, enum duda_in in, const char *name, unsigned n)
{
    (void)arg;
    (void)in;
    (void)name;
    (void)n;
    return (struct mk_str){NULL, 0};
}

/* Texts that blanks separate, "-" an empty one, all of the name "q". */
static struct mk_str one_of(void *arg, enum duda_in in, const char *name, unsigned n)
{
    struct mk_str *text = arg;
    const char *p = text->p, *end = text->p + text->len;

    (void)in;
    (void)name;
    while (p && n-- > 0) {
        p = memchr(p, '|', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    if (!p)
        return (struct mk_str){NULL, 0};
    return (struct mk_str){p, (size_t)((const char *)memchr(p, '|', (size_t)(end - p))
                                           ? (const char *)memchr(p, '|', (size_t)(end - p)) - p
                                           : end - p)};
}

static void checks_texts(void **state)
{
    static const struct {
        struct duda_input row; /* without its name, place and member */
        struct mk_str text;    /* p NULL: absent */
        const char *fault;     /* NULL: none */
    } rows[] = {
        {{.type = DUDA_TEXT}, {NULL, 0}, NULL},
        {{.type = DUDA_TEXT, .is_required = 1}, {NULL, 0}, "is missing"},
        {{.type = DUDA_TEXT, .is_required = 1}, MK_STR_INIT(""), NULL},
        {{.type = DUDA_TEXT, .min = 1}, MK_STR_INIT(""), "must have at least 1 characters"},
        {{.type = DUDA_TEXT, .max = 2}, MK_STR_INIT("\xc3\xa9\xc3\xa9"), NULL},
        {{.type = DUDA_TEXT, .max = 2}, MK_STR_INIT("abc"), "must have at most 2 characters"},
        {{.type = DUDA_TEXT}, MK_STR_INIT("\xc3"), "must be UTF-8"},
        {{.type = DUDA_TEXT}, MK_STR_INIT("a\0b"), "must be a text without NUL"},
        {{.type = DUDA_TEXT}, MK_STR_INIT("a|b"), "is given more than once"},
        {{.type = DUDA_TEXT, .pattern = "a|bc"}, MK_STR_INIT("bc"), NULL},
        {{.type = DUDA_TEXT, .pattern = "[a-b]"},
         MK_STR_INIT("ab"),
         "must match the pattern [a-b]"},
        {{.type = DUDA_TEXT, .pattern = "[a-b]"},
         MK_STR_INIT("a\n"),
         "must match the pattern [a-b]"},
        {{.type = DUDA_TEXT, .choices = "red blue"}, MK_STR_INIT("blue"), NULL},
        {{.type = DUDA_TEXT, .choices = "red blue"},
         MK_STR_INIT("red blue"),
         "must be one of: red blue"},
        {{.type = DUDA_TEXT, .choices = "red blue"}, MK_STR_INIT(""), NULL},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("-9223372036854775808"), NULL},
        {{.type = DUDA_INTEGER},
         MK_STR_INIT("9223372036854775808"),
         "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("+1"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT(" 1"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("1-"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("-"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("1.0"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER}, MK_STR_INIT("0x10"), "must be a whole number of 64 bits"},
        {{.type = DUDA_INTEGER, .min = 1, .max = 5}, MK_STR_INIT("0"), "must be at least 1"},
        {{.type = DUDA_INTEGER, .min = 1, .max = 5}, MK_STR_INIT("6"), "must be at most 5"},
        {{.type = DUDA_INTEGER, .min = 1, .max = 5}, MK_STR_INIT("5"), NULL},
        {{.type = DUDA_INTEGER, .min = -5}, MK_STR_INIT("1"), "must be at most 0"},
        {{.type = DUDA_INTEGER, .is_required = 1}, MK_STR_INIT(""), "is missing"},
        {{.type = DUDA_NUMBER}, MK_STR_INIT("-1.5e3"), NULL},
        {{.type = DUDA_NUMBER}, MK_STR_INIT("1e999"), "must be a number"},
        {{.type = DUDA_NUMBER}, MK_STR_INIT("nan"), "must be a number"},
        {{.type = DUDA_NUMBER}, MK_STR_INIT("1,5"), "must be a number"},
        {{.type = DUDA_NUMBER, .max = 1.5}, MK_STR_INIT("1.75"), "must be at most 1.5"},
        {{.type = DUDA_FLAG}, MK_STR_INIT("on"), NULL},
        {{.type = DUDA_FLAG}, MK_STR_INIT("yes"), "must be true or false"},
        {{.type = DUDA_LIST, .items = &text_item}, {NULL, 0}, NULL},
        {{.type = DUDA_LIST, .items = &text_item, .is_required = 1}, {NULL, 0}, "is missing"},
        {{.type = DUDA_LIST, .items = &text_item, .max = 2}, MK_STR_INIT("a|b"), NULL},
        {{.type = DUDA_LIST, .items = &text_item, .max = 2},
         MK_STR_INIT("a|b|c"),
         "must have at most 2 values"},
        {{.type = DUDA_LIST, .items = &number_item},
         MK_STR_INIT("1|x"),
         "must be a whole number of 64 bits"},
        {{.type = DUDA_LIST, .items = &number_item}, MK_STR_INIT("1|10"), "must be at most 9"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct duda_input table[2] = {rows[i].row};
        const struct duda_inputs said = {.size = sizeof(struct values), .rows = table};
        struct mk_str text = rows[i].text;
        const struct mk_duda_source source = {.get = one_of, .arg = &text};
        struct mk_duda_values *v = mk_duda_values_new();
        const struct mk_duda_schema *schema;

        table[0].name = "q";
        table[0].in = DUDA_IN_QUERY;
        schema = schema_of(&said, "GET", "/");
        assert_non_null(schema);
        assert_int_equal(mk_duda_inputs_read(schema, &source, v), 0);
        if (v->nfaults != (rows[i].fault ? 1 : 0))
            fail_msg("row %zu: %s", i, v->nfaults ? v->faults[0].detail : "no fault");
        if (rows[i].fault)
            assert_string_equal(v->faults[0].detail, rows[i].fault);
        mk_duda_values_free(v);
        drop_schema();
    }
}

static void gives_values(void **state)
{
    static const struct duda_input rows[] = {
        {.name = "text", .in = DUDA_IN_QUERY, .type = DUDA_TEXT, TO(text), .preset = "none"},
        {.name = "integer", .in = DUDA_IN_HEADER, .type = DUDA_INTEGER, TO(integer)},
        {.name = "number", .in = DUDA_IN_PATH, .type = DUDA_NUMBER, TO(number)},
        {.name = "flag", .in = DUDA_IN_QUERY, .type = DUDA_FLAG, TO(flag), .preset = "true"},
        {.name = "list", .in = DUDA_IN_QUERY, .type = DUDA_LIST, TO(list), .items = &number_item},
        {0}};
    static const struct duda_inputs said = {.size = sizeof(struct values), .rows = rows};
    const struct mk_duda_schema *schema = schema_of(&said, "GET", "/:number");
    struct mk_duda_values *v = mk_duda_values_new();
    struct mk_str text = MK_STR("7");
    const struct values *values;

    (void)state;
    assert_non_null(schema);
    assert_int_equal(
        mk_duda_inputs_read(schema, &(struct mk_duda_source){.get = one_of, .arg = &text}, v), 0);
    values = v->data;
    assert_int_equal(v->nfaults, 1); /* 7 is no flag */
    assert_string_equal(values->text, "7");
    assert_true(values->integer == 7 && values->number == 7);
    assert_int_equal(values->list.count, 1);
    assert_true(*(const int64_t *)values->list.items == 7);
    mk_duda_values_free(v);
    v = mk_duda_values_new();
    assert_int_equal(mk_duda_inputs_read(schema, &(struct mk_duda_source){.get = none}, v), 0);
    values = v->data;
    assert_int_equal(v->nfaults, 1); /* that of the path is missing */
    assert_string_equal(values->text, "none");
    assert_true(values->flag == 1 && v->given == 0 && values->list.count == 0);
    mk_duda_values_free(v);
    drop_schema();
}

/* ---- bodies ---- */

struct line {
    const char *what;
    int64_t count;
    struct duda_list tags;
};

struct order {
    const char *name, *city;
    double price;
    int is_gift;
    struct duda_list lines, numbers;
};

static const struct duda_input line_rows[] = {{.name = "what",
                                               .type = DUDA_TEXT,
                                               .to = offsetof(struct line, what),
                                               .is_required = 1,
                                               .min = 1},
                                              {.name = "count",
                                               .type = DUDA_INTEGER,
                                               .to = offsetof(struct line, count),
                                               .min = 1,
                                               .max = 9,
                                               .preset = "1"},
                                              {.name = "more.tags",
                                               .type = DUDA_LIST,
                                               .to = offsetof(struct line, tags),
                                               .items = &text_item},
                                              {0}};
static const struct duda_input order_rows[] = {
    {.name = "name",
     .in = DUDA_IN_BODY,
     .type = DUDA_TEXT,
     .to = offsetof(struct order, name),
     .is_required = 1},
    {.name = "address.city",
     .in = DUDA_IN_BODY,
     .type = DUDA_TEXT,
     .to = offsetof(struct order, city)},
    {.name = "price",
     .in = DUDA_IN_BODY,
     .type = DUDA_NUMBER,
     .to = offsetof(struct order, price),
     .max = 10},
    {.name = "gift", .in = DUDA_IN_BODY, .type = DUDA_FLAG, .to = offsetof(struct order, is_gift)},
    {.name = "lines",
     .in = DUDA_IN_BODY,
     .type = DUDA_LIST,
     .to = offsetof(struct order, lines),
     .max = 3,
     .items = line_rows,
     .item_size = sizeof(struct line)},
    {.name = "numbers",
     .in = DUDA_IN_BODY,
     .type = DUDA_LIST,
     .to = offsetof(struct order, numbers),
     .items = &number_item,
     .min = 0,
     .max = 3},
    {0}};
static const struct duda_inputs order_said = {.size = sizeof(struct order), .rows = order_rows};

static struct mk_duda_values *read_body(const char *text, json_t **tree, int *err)
{
    const struct mk_duda_schema *schema = schema_of(&order_said, "POST", "/");
    struct mk_duda_values *v = mk_duda_values_new();
    struct mk_duda_source source = {.get = none};

    assert_true(schema && v);
    *tree = json_parse_text(text, strlen(text), JSON_UNIQUE_KEYS, NULL);
    assert_non_null(*tree);
    source.body = *tree;
    *err = mk_duda_inputs_read(schema, &source, v);
    drop_schema();
    return v;
}

static void checks_bodies(void **state)
{
    static const struct {
        const char *text, *faults; /* "name: detail; ..." */
    } rows[] = {
        {"{\"name\":\"Ann\"}", ""},
        {"{}", "name: is missing; "},
        {"[]", ": must be an object; "},
        {"null", ": must be an object; "},
        {"{\"name\":null}", "name: must be a text; "},
        {"{\"name\":1}", "name: must be a text; "},
        {"{\"Name\":\"x\"}", "Name: is not known; name: is missing; "},
        {"{\"name\":\"x\",\"address.city\":\"y\"}", "address.city: is not known; "},
        {"{\"name\":\"x\",\"address\":\"y\"}", "address: must be an object; "},
        {"{\"name\":\"x\",\"address\":{\"town\":\"y\"}}", "address.town: is not known; "},
        {"{\"name\":\"x\",\"address\":{\"city\":{}}}", "address.city: must be a text; "},
        {"{\"name\":\"x\",\"address\":{\"city\":\"y\"}}", ""},
        {"{\"name\":\"x\",\"\":1}", ": is not known; "},
        {"{\"name\":\"x\",\"price\":11}", "price: must be at most 10; "},
        {"{\"name\":\"x\",\"price\":\"1\"}", "price: must be a number; "},
        {"{\"name\":\"x\",\"gift\":1}", "gift: must be true or false; "},
        {"{\"name\":\"x\",\"lines\":{}}", "lines: must be a list; "},
        {"{\"name\":\"x\",\"lines\":[1]}", "lines[0]: must be an object; "},
        {"{\"name\":\"x\",\"lines\":[{\"what\":\"a\"},{\"count\":0}]}",
         "lines[1].count: must be at least 1; lines[1].what: is missing; "},
        {"{\"name\":\"x\",\"lines\":[{\"what\":\"a\",\"more\":{\"tags\":[\"b\",\"long\",3]}}]}",
         "lines[0].more.tags[1]: must have at most 3 characters; "
         "lines[0].more.tags[2]: must be a text; "},
        {"{\"name\":\"x\",\"lines\":[{},{},{},{}]}", "lines: must have at most 3 items; "},
        {"{\"name\":\"x\",\"numbers\":[1,2.5]}", "numbers[1]: must be a whole number of 64 bits; "},
        {"{\"name\":\"x\",\"numbers\":[1,2.0,3]}", ""},
    };
    char said[512];

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        json_t *tree;
        int err;
        struct mk_duda_values *v = read_body(rows[i].text, &tree, &err);

        assert_int_equal(err, 0);
        said[0] = '\0';
        for (unsigned n = 0; n < v->nfaults; n++)
            (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s: %s; ",
                           v->faults[n].name, v->faults[n].detail);
        assert_string_equal(said, rows[i].faults);
        mk_duda_values_free(v);
        json_delete(tree);
    }
}

static void gives_bodies(void **state)
{
    json_t *tree;
    int err;
    struct mk_duda_values *v = read_body(
        "{\"name\":\"Ann\",\"address\":{\"city\":\"Rom\"},\"price\":2.5,\"gift\":true,\"lines\":["
        "{\"what\":\"a\",\"count\":3,\"more\":{\"tags\":[\"x\",\"y\"]}},{\"what\":\"b\"}],"
        "\"numbers\":[4,5]}",
        &tree, &err);
    const struct order *order = v->data;
    const struct line *lines = order->lines.items;

    (void)state;
    assert_true(err == 0 && v->nfaults == 0 && v->given == 0x3f);
    assert_string_equal(order->name, "Ann");
    assert_string_equal(order->city, "Rom");
    assert_true(order->price == 2.5 && order->is_gift == 1 && order->lines.count == 2);
    assert_true(lines[0].count == 3 && lines[0].tags.count == 2 && lines[1].tags.count == 0);
    assert_string_equal(((const char *const *)lines[0].tags.items)[1], "y");
    assert_string_equal(lines[1].what, "b");
    assert_true(lines[1].count == 1 && order->numbers.count == 2);
    assert_true(((const int64_t *)order->numbers.items)[1] == 5);
    mk_duda_values_free(v);
    json_delete(tree);
}

static void names_a_bounded_number_of_faults(void **state)
{
    char text[4096] = "{";
    json_t *tree;
    int err;
    struct mk_duda_values *v;

    (void)state;
    for (unsigned i = 0; i < 2 * MK_DUDA_FAULTS_MAX; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "\"k%u\":1,", i);
    strcat(text, "\"name\":\"x\"}");
    v = read_body(text, &tree, &err);
    assert_true(err == 0 && v->nfaults == MK_DUDA_FAULTS_MAX);
    mk_duda_values_free(v);
    json_delete(tree);
}

static void names_long_keys_in_part(void **state)
{
    char text[2048] = "{\"name\":\"x\",\"lines\":[{\"what\":\"w\",\"";
    json_t *tree;
    int err;
    struct mk_duda_values *v;

    (void)state;
    memset(text + strlen(text), 'k', 1000);
    strcat(text, "\":1}]}");
    v = read_body(text, &tree, &err);
    assert_true(err == 0 && v->nfaults == 1);
    assert_int_equal(strlen(v->faults[0].name), MK_DUDA_FAULT_NAME - 1);
    mk_duda_values_free(v);
    json_delete(tree);
}

static void bounds_the_memory_of_a_request(void **state)
{
    struct mk_duda_values *v = mk_duda_values_new();
    unsigned n = 0;

    (void)state;
    while (mk_duda_values_alloc(v, 1 << 16))
        n++;
    assert_true(n == MK_DUDA_VALUES_MAX >> 16 && v->is_full);
    mk_duda_values_free(v);
}

static void survives_failing_allocations_of_tables(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 8; n++) {
        allocations = n;
        if (!schema_of(&order_said, "POST", "/"))
            assert_non_null(strstr(room.why, "no memory"));
        allocations = UINT32_MAX;
        drop_schema();
    }
}

/* ---- bounds of texts ---- */

static void bounds_json(void **state)
{
    static const struct json_bounds bounds = {2, 4};
    struct json_fault fault;
    json_t *tree;

    (void)state;
    tree = json_parse_within("[[1,2]]", 7, 0, &bounds, &fault);
    assert_non_null(tree);
    json_delete(tree);
    assert_null(json_parse_within("[[1,2,3]]", 9, 0, &bounds, &fault));
    assert_string_equal(fault.reason, "too many values");
    assert_int_equal(fault.column, 7);
    assert_null(json_parse_within("[[[]]]", 6, 0, &bounds, &fault));
    assert_string_equal(fault.reason, "nested too deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(checks_tables, set_up),
        cmocka_unit_test_setup(bounds_tables, set_up),
        cmocka_unit_test_setup(checks_texts, set_up),
        cmocka_unit_test_setup(gives_values, set_up),
        cmocka_unit_test_setup(checks_bodies, set_up),
        cmocka_unit_test_setup(gives_bodies, set_up),
        cmocka_unit_test_setup(names_a_bounded_number_of_faults, set_up),
        cmocka_unit_test_setup(names_long_keys_in_part, set_up),
        cmocka_unit_test_setup(bounds_the_memory_of_a_request, set_up),
        cmocka_unit_test_setup(survives_failing_allocations_of_tables, set_up),
        cmocka_unit_test_setup(bounds_json, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
