/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"
#include "packages/postgresql/postgresql.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * Items of a database, table items: GET /async-db, and a resource /crud/items whose single items are kept for 200 ms. A
 * query parks its request, and its call-backs run on the same worker.
 */

enum {
    CACHE_BYTES = 16 << 20,
    FRESH_MS = 200,
    TEXT_MAX = 4096, /* of one item as JSON */
    COLUMNS = 9,
};

#define SELECT                                                                                     \
    "SELECT id, name, category, price, quantity, active, tags, rating_score, rating_count "        \
    "FROM items "

static duda_global_t pool;
static int has_store;
static duda_cache_t *cache_of_items;

static void refuse(duda_request_t *dr)
{
    response->problem(dr, 503, "The database does not answer", NULL);
}

/* ---- an item as JSON: numbers and tags are JSON already ---- */

static void write_raw(json_writer_t *w, const char *key, const char *text)
{
    json->write_key(w, key);
    json->write_raw(w, text, text ? strlen(text) : 0);
}

static void write_text(json_writer_t *w, const char *key, const char *text)
{
    json->write_key(w, key);
    json->write_string(w, text);
}

static void write_row(json_writer_t *w, char **values)
{
    json->write_object(w);
    write_raw(w, "id", values[0]);
    write_text(w, "name", values[1]);
    write_text(w, "category", values[2]);
    write_raw(w, "price", values[3]);
    write_raw(w, "quantity", values[4]);
    json->write_key(w, "active");
    json->write_bool(w, values[5] && values[5][0] == 't');
    write_raw(w, "tags", values[6]);
    json->write_key(w, "rating");
    json->write_object(w);
    write_raw(w, "score", values[7]);
    write_raw(w, "count", values[8]);
    json->write_close(w);
    json->write_close(w);
}

/* ---- lists ---- */

struct list {
    json_writer_t *w;
    long n, page, limit;
    const char *total; /* the name of the number of items */
};

static void on_list_row(void *priv, postgresql_query_t *q, int n, char **fields, char **values,
                        duda_request_t *dr)
{
    struct list *list = priv;

    if (n != COLUMNS)
        return;
    write_row(list->w, values);
    list->n++;
}

/* A writer whose text is not whole sends nothing. */
static void on_list_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    struct list *list = priv;
    const int has_failed = postgresql->error(q) != NULL;

    if (dr && !has_failed) {
        json->write_close(list->w);
        json->write_key(list->w, list->total);
        json->write_int64(list->w, list->n);
        if (list->page > 0) {
            json->write_key(list->w, "page");
            json->write_int64(list->w, list->page);
            json->write_key(list->w, "limit");
            json->write_int64(list->w, list->limit);
        }
        json->write_close(list->w);
    }
    if (json->writer_end(list->w) < 0 && dr)
        refuse(dr);
    mem->free(list);
}

static struct list *new_list(duda_request_t *dr, const char *total)
{
    struct list *list = mem->alloc_z(sizeof(*list));

    if (!list)
        return NULL;
    list->total = total;
    list->w = json->answer(dr, 200);
    json->write_object(list->w);
    json->write_key(list->w, "items");
    json->write_array(list->w);
    return list;
}

static void ask(duda_request_t *dr, struct list *list, const char *sql, int n,
                const char *const *values)
{
    if (list && has_store &&
        postgresql->run(&pool, dr, sql, n, values, on_list_row, on_list_end, list) == 0) {
        return;
    }
    if (list && !has_store) {
        json->write_close(list->w);
        json->write_key(list->w, list->total);
        json->write_int64(list->w, 0);
        json->write_close(list->w);
    }
    if (!list || json->writer_end(list->w) < 0)
        refuse(dr);
    mem->free(list);
}

/* The text of a number of the query that lies within bounds, or its default. @return NULL: it does not */
static const char *number_of(duda_request_t *dr, const char *name, long least, long most,
                             const char *otherwise)
{
    const char *text = query->get(dr, name);
    long n;

    if (!text)
        return otherwise;
    return query->get_number(dr, name, &n) == 0 && n >= least && n <= most ? text : NULL;
}

static void async_db(duda_request_t *dr)
{
    const char *values[] = {number_of(dr, "min", -1000000000, 1000000000, "10"),
                            number_of(dr, "max", -1000000000, 1000000000, "50"),
                            number_of(dr, "limit", 1, 50, "50")};

    if (values[0] && values[1] && values[2])
        ask(dr, new_list(dr, "count"), SELECT "WHERE price BETWEEN $1 AND $2 LIMIT $3", 3, values);
    else
        response->problem(dr, 400, "min, max and limit are numbers, limit from 1 to 50", NULL);
}

static void list_page(duda_request_t *dr)
{
    const char *category = query->get(dr, "category"),
               *page = number_of(dr, "page", 1, 1000000, "1"),
               *limit = number_of(dr, "limit", 1, 100, "20");
    char offset[24];
    const char *values[] = {category ? category : "", limit, offset};
    struct list *list;

    if (!page || !limit) {
        response->problem(dr, 400, "page and limit are numbers, limit from 1 to 100", NULL);
        return;
    }
    snprintf(offset, sizeof(offset), "%ld", (atol(page) - 1) * atol(limit));
    list = new_list(dr, "total");
    if (list) {
        list->page = atol(page);
        list->limit = atol(limit);
    }
    ask(dr, list, SELECT "WHERE $1 = '' OR category = $1 ORDER BY id LIMIT $2 OFFSET $3", 3,
        values);
}

/* ---- one item ---- */

struct text {
    size_t len;
    char bytes[TEXT_MAX];
};

struct one {
    struct text text;
    char key[24];
    int status; /* of the answer when it was found */
    int is_found;
};

static int add_text(void *user, const char *bytes, size_t len)
{
    struct text *text = user;

    if (len > sizeof(text->bytes) - text->len)
        return -1;
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    return 0;
}

static void answer_one(duda_request_t *dr, int status, const char *text, size_t len,
                       const char *from)
{
    response->http_status(dr, status);
    response->http_header(dr, "Content-Type: application/json");
    if (from)
        response->header(dr, "X-Cache", from);
    response->print(dr, (char *)text, (int)len);
    response->end(dr, NULL);
}

static void on_one_row(void *priv, postgresql_query_t *q, int n, char **fields, char **values,
                       duda_request_t *dr)
{
    struct one *one = priv;
    json_writer_t *w = n == COLUMNS ? json->writer_new(add_text, &one->text) : NULL;

    write_row(w, values);
    one->is_found = json->writer_end(w) == 0;
    snprintf(one->key, sizeof(one->key), "%s", values[0] ? values[0] : "");
}

static void on_one_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    struct one *one = priv;
    const int is_read = one->status == 0;

    if (one->is_found && is_read)
        cache->set_for(cache_of_items, one->key, one->text.bytes, one->text.len, FRESH_MS);
    else if (one->is_found)
        cache->drop(cache_of_items, one->key);
    if (dr) {
        if (strncmp(postgresql->state(q), "22", 2) == 0) /* a value is none of its column's type */
            response->problem(dr, 400, "A value is of another type", NULL);
        else if (postgresql->error(q))
            refuse(dr);
        else if (!one->is_found)
            response->problem(dr, 404, "There is no such item", NULL);
        else
            answer_one(dr, is_read ? 200 : one->status, one->text.bytes, one->text.len,
                       is_read ? "MISS" : NULL);
    }
    mem->free(one);
}

static void ask_one(duda_request_t *dr, int status, const char *sql, int n,
                    const char *const *values)
{
    struct one *one = has_store ? mem->alloc_z(sizeof(*one)) : NULL;

    if (one)
        one->status = status;
    if (one && postgresql->run(&pool, dr, sql, n, values, on_one_row, on_one_end, one) == 0) {
        return;
    }
    mem->free(one);
    refuse(dr);
}

static int is_kept(duda_request_t *dr, const char *key)
{
    size_t len;
    char *text = cache->get(cache_of_items, key, &len);

    if (text)
        answer_one(dr, 200, text, len, "HIT");
    mem->free(text);
    return text != NULL;
}

static void show(duda_request_t *dr)
{
    const char *id = param->get(dr, "id");

    if (!is_kept(dr, id))
        ask_one(dr, 0, SELECT "WHERE id = $1", 1, &id);
}

/* ---- changes ---- */

#define RETURNING                                                                                  \
    " RETURNING id, name, category, price, quantity, active, tags, rating_score, rating_count"

enum { MEMBERS = 4 };

/* A member as the text of a parameter, freed with the request; NULL: it is none. */
static const char *member(duda_request_t *dr, const json_t *body, const char *name)
{
    const json_t *item = json->get_object_item((json_t *)body, name);
    char *text;

    if (!item || item->type == cJSON_NULL)
        return NULL;
    if (item->type == cJSON_String)
        return item->valuestring;
    text = json->print_unformatted_gc(dr, (json_t *)item);
    return text;
}

/* @param values  from the second on: name, category, price, quantity */
static int read_item(duda_request_t *dr, const json_t *body, const char **values)
{
    static const char *const names[MEMBERS] = {"name", "category", "price", "quantity"};

    for (int i = 0; i < MEMBERS; i++) {
        values[i + 1] = member(dr, body, names[i]);
        if (!values[i + 1]) {
            response->problem(dr, 400, "name, category, price and quantity are needed", NULL);
            return -1;
        }
    }
    return 0;
}

static void create(duda_request_t *dr)
{
    const json_t *body = request->json_body(dr);
    const char *values[1 + MEMBERS];

    if (!body || read_item(dr, body, values) < 0)
        return;
    values[0] = member(dr, body, "id");
    if (values[0])
        ask_one(dr, 201,
                "INSERT INTO items (id, name, category, price, quantity, active, tags, "
                "rating_score, rating_count) "
                "VALUES ($1, $2, $3, $4, $5, true, '[]', 0, 0) ON CONFLICT (id) DO UPDATE SET "
                "name = $2, category = $3, price = $4, quantity = $5" RETURNING,
                1 + MEMBERS, values);
    else
        response->problem(dr, 400, "An id is needed", NULL);
}

static void change(duda_request_t *dr)
{
    const json_t *body = request->json_body(dr);
    const char *values[1 + MEMBERS];

    if (!body || read_item(dr, body, values) < 0)
        return;
    values[0] = param->get(dr, "id");
    ask_one(dr, 200,
            "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = "
            "$1" RETURNING,
            1 + MEMBERS, values);
}

/* ---- setup ---- */

static void crud_routes(void)
{
    router->get("/items", list_page);
    router->post("/items", create);
    router->get("/items/:id<uint>", show);
    router->put("/items/:id<uint>", change);
}

void store_routes(void)
{
    router->get("/async-db", async_db);
    router->group("/crud", crud_routes);
}

/* Each worker has a pool of its own. */
static int connections_of_a_worker(void)
{
    const char *most = getenv("DATABASE_MAX_CONN");
    const long workers = sysconf(_SC_NPROCESSORS_ONLN);
    const long n = (most ? atol(most) : 32) / (workers > 0 ? workers : 1);

    return n > 0 ? (int)n : 1;
}

int store_open(void)
{
    const char *uri = getenv("DATABASE_URL");

    cache_of_items = cache->create(CACHE_BYTES, 1);
    if (!cache_of_items)
        return -1;
    if (!uri || !uri[0])
        return 0;
    duda_load_package(postgresql, "postgresql"); /* its libraries take 3 MB */
    has_store = 1;
    return postgresql->create_pool_uri(&pool, 1, connections_of_a_worker(), uri);
}
