/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/json/json.h"

DUDA_REGISTER("tests", "routes that describe their inputs");

struct search {
    const char *words, *color, *key;
    int64_t page, id;
    double price;
    int exact;
    struct duda_list tags;
};

static const struct duda_input tag = {.type = DUDA_TEXT, .min = 1, .max = 8};
static const struct duda_input search_rows[] = {
    {.name = "id",
     .in = DUDA_IN_PATH,
     .type = DUDA_INTEGER,
     .to = offsetof(struct search, id),
     .min = 1,
     .max = 99,
     .about = "Number of the shelf"},
    {.name = "q",
     .in = DUDA_IN_QUERY,
     .type = DUDA_TEXT,
     .to = offsetof(struct search, words),
     .is_required = 1,
     .min = 1,
     .max = 20,
     .about = "Words of the title"},
    {.name = "color",
     .in = DUDA_IN_QUERY,
     .type = DUDA_TEXT,
     .to = offsetof(struct search, color),
     .choices = "red blue"},
    {.name = "page",
     .in = DUDA_IN_QUERY,
     .type = DUDA_INTEGER,
     .to = offsetof(struct search, page),
     .min = 1,
     .max = 1000,
     .preset = "1"},
    {.name = "price",
     .in = DUDA_IN_QUERY,
     .type = DUDA_NUMBER,
     .to = offsetof(struct search, price)},
    {.name = "exact", .in = DUDA_IN_QUERY, .type = DUDA_FLAG, .to = offsetof(struct search, exact)},
    {.name = "tag",
     .in = DUDA_IN_QUERY,
     .type = DUDA_LIST,
     .to = offsetof(struct search, tags),
     .items = &tag,
     .max = 3},
    {.name = "X-Key",
     .in = DUDA_IN_HEADER,
     .type = DUDA_TEXT,
     .to = offsetof(struct search, key),
     .pattern = "[A-F0-9]{4}"},
    {0}};
static const struct duda_inputs search = {"Look for books of a shelf", sizeof(struct search),
                                          search_rows};

static void find(duda_request_t *dr)
{
    const struct search *s = input->values(dr);
    const char *const *tags = s->tags.items;

    response->http_status(dr, 200);
    response->printf(dr, "id=%lld q=%s color=%s page=%lld%s price=%g exact=%d key=%s",
                     (long long)s->id, s->words, s->color ? s->color : "-", (long long)s->page,
                     input->is_given(dr, "page") ? "" : " (preset)", s->price, s->exact,
                     s->key ? s->key : "-");
    for (size_t i = 0; i < s->tags.count; i++)
        response->printf(dr, " [%s]", tags[i]);
    response->end(dr, NULL);
}

struct line {
    const char *what;
    int64_t count;
};

struct order {
    const char *name, *city;
    struct duda_list lines;
};

static const struct duda_input line_rows[] = {
    {.name = "what", .type = DUDA_TEXT, .to = offsetof(struct line, what), .is_required = 1},
    {.name = "count",
     .type = DUDA_INTEGER,
     .to = offsetof(struct line, count),
     .min = 1,
     .max = 9,
     .preset = "1"},
    {0}};
static const struct duda_input order_rows[] = {{.name = "name",
                                                .in = DUDA_IN_BODY,
                                                .type = DUDA_TEXT,
                                                .to = offsetof(struct order, name),
                                                .is_required = 1,
                                                .max = 20},
                                               {.name = "address.city",
                                                .in = DUDA_IN_BODY,
                                                .type = DUDA_TEXT,
                                                .to = offsetof(struct order, city)},
                                               {.name = "lines",
                                                .in = DUDA_IN_BODY,
                                                .type = DUDA_LIST,
                                                .to = offsetof(struct order, lines),
                                                .is_required = 1,
                                                .max = 3,
                                                .items = line_rows,
                                                .item_size = sizeof(struct line)},
                                               {0}};
static const struct duda_inputs order = {"Order things", sizeof(struct order), order_rows};

static const struct order *kept;

/* Values last until the end call-back. */
static void after(duda_request_t *dr)
{
    if (input->values(dr) == kept)
        msg->info("order of %s is over", kept->name);
}

static void add_order(duda_request_t *dr)
{
    const struct order *o = input->values(dr);
    const struct line *lines = o->lines.items;

    kept = o;
    response->http_status(dr, 201);
    response->printf(dr, "%s of %s:", o->name, o->city ? o->city : "-");
    for (size_t i = 0; i < o->lines.count; i++)
        response->printf(dr, " %lldx%s", (long long)lines[i].count, lines[i].what);
    response->end(dr, after);
}

struct note {
    const char *text;
    int64_t stars;
    int keep;
};

static const struct duda_input note_rows[] = {
    {.name = "text",
     .in = DUDA_IN_FORM,
     .type = DUDA_TEXT,
     .to = offsetof(struct note, text),
     .is_required = 1,
     .min = 1},
    {.name = "stars",
     .in = DUDA_IN_FORM,
     .type = DUDA_INTEGER,
     .to = offsetof(struct note, stars),
     .min = 1,
     .max = 5},
    {.name = "keep", .in = DUDA_IN_FORM, .type = DUDA_FLAG, .to = offsetof(struct note, keep)},
    {0}};
static const struct duda_inputs note = {"Write a note", sizeof(struct note), note_rows};

static void add_note(duda_request_t *dr)
{
    const struct note *n = input->values(dr);

    response->send(dr, 200, "text/plain", "%s %lld %d", n->text, (long long)n->stars, n->keep);
}

static void gate(duda_request_t *dr)
{
    if (request->header(dr, "X-Refuse"))
        response->problem(dr, 403, "Refused", NULL);
}

static void tree(duda_request_t *dr)
{
    const json_t *body = request->json_body(dr);

    if (!body)
        return;
    response->http_status(dr, 200);
    for (const json_t *item = body->child; item; item = item->next)
        response->printf(dr, "[%s %d]", item->string ? item->string : "-", item->type);
    response->end(dr, NULL);
}

static void plain(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%s", input->values(dr) ? "values" : "none");
}

static void api(void)
{
    router->before(gate);
    router->describe("GET", "/shelves/:id/books", find, &search);
    router->describe("POST PUT", "/orders", add_order, &order);
    router->describe("POST", "/notes", add_note, &note);
    router->post("/tree", tree);
}

int duda_main()
{
    router->group("/api", api);
    router->get("/plain", plain);
    router->get("/plain/:id<uint>/*rest", plain);
    router->route(NULL, "/all", plain);
    input->publish("Shelves", "1.0");
    return 0;
}
