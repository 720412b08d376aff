/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <monkey/web.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Items of a database, table items. */

enum { JSON_MAX = 256 << 10, PRICE_MAX = 1000000000, LIMIT_MAX = 50 };

/* Columns of the query, in its order. */
enum kind { NUMBER, TEXT, FLAG, RAW };

static const struct {
    struct mk_str name;
    enum kind kind;
} columns[] = {
    {MK_STR_INIT("id"), NUMBER},       {MK_STR_INIT("name"), TEXT},
    {MK_STR_INIT("category"), TEXT},   {MK_STR_INIT("price"), NUMBER},
    {MK_STR_INIT("quantity"), NUMBER}, {MK_STR_INIT("active"), FLAG},
    {MK_STR_INIT("tags"), RAW},
};

enum { NCOLUMNS = sizeof(columns) / sizeof(columns[0]), SCORE = NCOLUMNS, COUNT };

static const char query[] =
    "SELECT id, name, category, price, quantity, active, tags, rating_score,"
    " rating_count FROM items WHERE price BETWEEN $1 AND $2 LIMIT $3";

static void write_number(struct mk_json *j, struct mk_str text)
{
    int64_t n = 0;

    (void)!mk_text_int(text, &n);
    mk_json_int(j, n);
}

static void write_value(struct mk_json *j, enum kind kind, struct mk_str text)
{
    switch (kind) {
    case NUMBER:
        write_number(j, text);
        break;
    case TEXT:
        mk_json_text(j, text);
        break;
    case FLAG:
        mk_json_bool(j, text.len > 0 && text.p[0] == 't');
        break;
    case RAW:
        mk_json_raw(j, text);
        break;
    }
}

static void write_item(struct mk_json *j, const struct mk_postgresql_answer *answer, size_t row)
{
    mk_json_object(j);
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        mk_json_key(j, columns[i].name);
        write_value(j, columns[i].kind, mk_postgresql_value(answer, row, i));
    }
    mk_json_key(j, MK_STR("rating"));
    mk_json_object(j);
    mk_json_key(j, MK_STR("score"));
    write_number(j, mk_postgresql_value(answer, row, SCORE));
    mk_json_key(j, MK_STR("count"));
    write_number(j, mk_postgresql_value(answer, row, COUNT));
    mk_json_close(j);
    mk_json_close(j);
}

/* @param answer  NULL: no items. */
static enum mk_verdict show(struct mk_request *r, const struct mk_postgresql_answer *answer)
{
    const size_t n = answer ? answer->nrows : 0;
    struct mk_json j;

    mk_json_begin_reply(&j, r, JSON_MAX);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("items"));
    mk_json_array(&j);
    for (size_t i = 0; i < n; i++)
        write_item(&j, answer, i);
    mk_json_close(&j);
    mk_json_key(&j, MK_STR("count"));
    mk_json_int(&j, (int64_t)n);
    mk_json_close(&j);
    return mk_reply_json(r, 200, &j);
}

static enum mk_verdict on_items(struct mk_request *r, const struct mk_postgresql_answer *answer,
                                void *arg)
{
    (void)arg;
    return answer->result < 0 ? mk_reply_failure(r, answer->result) : show(r, answer);
}

/* A number of the query, or its default. @return 0; MK_E_BAD: it is none, or not within its bounds. */
static int read_number(struct mk_request *r, struct mk_str name, int64_t least, int64_t most,
                       int64_t *n)
{
    return mk_query_int(r, name, n) < 0 || *n < least || *n > most ? MK_E_BAD : 0;
}

enum mk_verdict store_list(struct mk_request *r, void *database)
{
    int64_t numbers[] = {10, 50, LIMIT_MAX};
    char texts[3][24];
    struct mk_str values[3];
    int err;

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    if (read_number(r, MK_STR("min"), -PRICE_MAX, PRICE_MAX, &numbers[0]) < 0 ||
        read_number(r, MK_STR("max"), -PRICE_MAX, PRICE_MAX, &numbers[1]) < 0 ||
        read_number(r, MK_STR("limit"), 1, LIMIT_MAX, &numbers[2]) < 0)
        return mk_reply_refusal(r, MK_E_BAD);
    if (!database)
        return show(r, NULL);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%" PRId64, numbers[i]);
        values[i] = mk_str_from(texts[i]);
    }
    err = mk_postgresql_ask(database, r, query, values, 3, on_items, NULL);
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

struct mk_postgresql *store_open(void)
{
    const char *most = getenv("DATABASE_MAX_CONN"), *why = "no memory";
    const struct mk_postgresql_options options = {
        .size = sizeof(options),
        .url = getenv("DATABASE_URL"),
        .connections = most ? (unsigned)strtoul(most, NULL, 10) : 0,
    };
    struct mk_postgresql *database;

    if (!options.url)
        return NULL;
    if (mk_postgresql_new(&database, &options, &why) == 0)
        return database;
    (void)fprintf(stderr, "arena: DATABASE_URL: %s\n", why);
    return NULL;
}
