/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "inputs/inputs.h"

/*
 * Any bytes as the inputs of a route: a JSON body, and before a line end the value of each other input. What is accepted holds
 * what the table asks for.
 */

static void *zeroed(const size_t size)
{
    return calloc(1, size);
}

static void *plain(const size_t size)
{
    return malloc(size);
}

static const struct duda_api_mem memory = {plain, zeroed, realloc, free};

static void *room_alloc(void *arg, size_t size)
{
    (void)arg;
    return calloc(1, size);
}

struct line {
    const char *what;
    int64_t count;
    struct duda_list tags;
};

struct values {
    const char *word, *name;
    int64_t page;
    double price;
    int flag;
    struct duda_list numbers, lines;
};

#define TO(member) .to = offsetof(struct values, member)
static const struct duda_input tag = {.type = DUDA_TEXT, .max = 3},
                               number = {.type = DUDA_NUMBER, .max = 9};
static const struct duda_input line_rows[] = {
    {.name = "what", .type = DUDA_TEXT, .to = offsetof(struct line, what), .is_required = 1},
    {.name = "n.count",
     .type = DUDA_INTEGER,
     .to = offsetof(struct line, count),
     .min = 1,
     .max = 9,
     .preset = "1"},
    {.name = "n.tags",
     .type = DUDA_LIST,
     .to = offsetof(struct line, tags),
     .items = &tag,
     .max = 4},
    {0}};
static const struct duda_input rows[] = {
    {.name = "word",
     .in = DUDA_IN_QUERY,
     .type = DUDA_TEXT,
     TO(word),
     .pattern = "[a-z]*|0x[0-9a-f]+",
     .max = 20},
    {.name = "page", .in = DUDA_IN_QUERY, .type = DUDA_INTEGER, TO(page), .min = -5, .max = 5},
    {.name = "flag", .in = DUDA_IN_QUERY, .type = DUDA_FLAG, TO(flag), .preset = "1"},
    {.name = "numbers",
     .in = DUDA_IN_QUERY,
     .type = DUDA_LIST,
     TO(numbers),
     .items = &number,
     .max = 3},
    {.name = "a.name", .in = DUDA_IN_BODY, .type = DUDA_TEXT, TO(name), .is_required = 1, .max = 8},
    {.name = "a.b.price", .in = DUDA_IN_BODY, .type = DUDA_NUMBER, TO(price), .max = 10},
    {.name = "lines",
     .in = DUDA_IN_BODY,
     .type = DUDA_LIST,
     TO(lines),
     .items = line_rows,
     .item_size = sizeof(struct line),
     .max = 5},
    {0}};
static const struct duda_inputs said = {.size = sizeof(struct values), .rows = rows};

static struct mk_str get(void *arg, enum duda_in in, const char *name, unsigned n)
{
    const struct mk_str *text = arg;

    require(in == DUDA_IN_QUERY);
    return n <= (unsigned)(name[0] == 'n') ? *text : (struct mk_str){NULL, 0};
}

static void check(const struct values *values)
{
    const struct line *lines = values->lines.items;

    require(values->page >= -5 && values->page <= 5 && (values->flag | 1) == 1);
    require(values->name && strlen(values->name) <= 8 * 4 && values->price <= 10);
    require(values->numbers.count <= 3 && values->lines.count <= 5);
    for (size_t i = 0; i < values->lines.count; i++) {
        require(lines[i].what && lines[i].count >= 1 && lines[i].count <= 9 &&
                lines[i].tags.count <= 4);
        for (size_t n = 0; n < lines[i].tags.count; n++)
            require(strlen(((const char *const *)lines[i].tags.items)[n]) <= 3 * 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_bounds bounds = {8, 1000};
    static const struct mk_duda_schema *schema;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t len = end ? (size_t)(end - data) : 0, left = end ? size - len - 1 : size;
    char *value = exact_copy(data, len), *body = exact_copy(end ? end + 1 : data, left);
    struct mk_str text = {value, len};
    struct mk_duda_source source = {.get = get, .arg = &text};
    struct mk_duda_values *v = mk_duda_values_new();
    json_t *tree;

    json_memory = &memory;
    if (!schema) {
        static struct mk_duda_schema_room room = {.alloc = room_alloc};

        schema = mk_duda_schema_new(&room, &said, "POST", "/");
        require(schema != NULL);
    }
    tree = json_parse_within(body, left, JSON_UNIQUE_KEYS, &bounds, NULL);
    source.body = tree;
    require(v && mk_duda_inputs_read(schema, &source, v) == 0);
    require(v->nfaults <= MK_DUDA_FAULTS_MAX);
    if (v->nfaults == 0)
        check(v->data);
    mk_duda_values_free(v);
    json_delete(tree);
    free(value);
    free(body);
    return 0;
}
