/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/postgresql.h>

#include "data/crew/crew.h"
#include "data/postgresql/pg.h"
#include "data/sql/program.h"
#include "data/sql/rows.h"

#include <stdlib.h>
#include <string.h>

/* What programs see: a client, its pools on the workers of a server, and requests that wait for answers. */

enum {
    CONNECTIONS_USUAL = 16,
    CONNECTIONS_MOST = 1024,
    TIMEOUT_USUAL_MS = 5000,
    TIMEOUT_MOST_MS = 3600000,
    QUERIES_USUAL = 1024,
    ANSWER_USUAL = 8 << 20,
    VALUES_MOST = 65535
};

struct mk_postgresql {
    struct pg_target *target;
    size_t answer_max;
    struct crew_place crew; /* struct seat of each worker */
};

/* What a worker has. */
struct seat {
    struct program_home home;
    struct db_pool *pool; /* of the home */
};

struct mk_postgresql_rows {
    struct rows all;
};

struct wish {
    struct pg_query own; /* first */
    struct mk_later later;
    mk_postgresql_fn fn;
    void *arg;
    struct mk_postgresql_rows rows;
};

static struct wish *wish_of(struct pg_query *own)
{
    return (struct wish *)(void *)own;
}

/* ---- answers ---- */

struct told {
    const struct wish *wish;
    const struct mk_postgresql_answer *answer;
};

static enum mk_verdict call(struct mk_request *r, void *arg)
{
    const struct told *told = arg;

    return told->wish->fn(r, told->answer, told->wish->arg);
}

static int result_of(const struct db_query *q)
{
    if (!q->error)
        return 0;
    if (q->fault < 0)
        return q->fault;
    if (strcmp(q->state, "57014") == 0) /* query_canceled, by its time limit */
        return MK_E_TIMEOUT;
    return q->error == db_no_memory ? MK_E_NOMEM : MK_E_INVALID;
}

static void finish(struct db_query *base, void *request)
{
    struct wish *wish = (struct wish *)(void *)base;
    struct mk_postgresql_answer answer = {.size = sizeof(answer),
                                          .result = result_of(base),
                                          .text = base->error ? base->error : "done",
                                          .state = base->state,
                                          .rows = &wish->rows};
    struct told told = {wish, &answer};

    (void)request;
    if (!base->error) {
        answer.nrows = wish->rows.all.nrows;
        answer.ncolumns = wish->rows.all.ncolumns;
        answer.affected = wish->own.rows;
    }
    (void)mk_later_answer(&wish->later, call, &told);
}

static void keep(struct wish *wish, const char *text, size_t len)
{
    const enum rows_result result = rows_add(&wish->rows.all, text, len);

    if (result == ROWS_OK)
        return;
    wish->own.base.fault = result == ROWS_FULL ? MK_E_LIMIT : MK_E_NOMEM;
    db_query_fail(&wish->own.base, result == ROWS_FULL ? "the answer is too long" : db_no_memory,
                  NULL);
}

static void take_names(struct pg_query *own, void *request)
{
    struct wish *wish = wish_of(own);

    (void)request;
    rows_clear(&wish->rows.all);
    for (int i = 0; i < own->columns && !own->base.error; i++)
        keep(wish, own->fields[i], strlen(own->fields[i]));
    wish->rows.all.ncolumns = (unsigned)own->columns;
}

static void take_row(struct pg_query *own, void *request)
{
    struct wish *wish = wish_of(own);

    (void)request;
    for (int i = 0; i < own->columns && !own->base.error; i++)
        keep(wish, own->row[i], own->row[i] ? strlen(own->row[i]) : 0);
    wish->rows.all.nrows++;
}

struct mk_str mk_postgresql_name(const struct mk_postgresql_answer *answer, unsigned column)
{
    struct mk_str text = {NULL, 0};

    if (answer && column < answer->ncolumns)
        text.p = rows_text(&answer->rows->all, column, &text.len);
    return text;
}

struct mk_str mk_postgresql_value(const struct mk_postgresql_answer *answer, size_t row,
                                  unsigned column)
{
    struct mk_str text = {NULL, 0};

    if (answer && row < answer->nrows && column < answer->ncolumns)
        text.p = rows_text(&answer->rows->all, (row + 1) * answer->ncolumns + column, &text.len);
    return text;
}

/* ---- the driver ---- */

static unsigned connect_soon(struct db_conn *c, const struct db_target *t)
{
    const struct program_home *home = (const struct program_home *)(const void *)c->home;
    const unsigned ms = pg_named_connect(c, home->worker);

    return ms > 0 && ms < t->limit_ms ? ms : t->limit_ms;
}

/* Nobody waits for a server that cannot be connected to. */
static void connected(struct db_conn *c, int status, void *request)
{
    (void)request;
    if (status < 0 && !c->was_ready)
        db_pool_give_up(c->pool);
}

static void disconnected(struct db_conn *c, int status, void *request)
{
    (void)c;
    (void)status;
    (void)request;
}

static void free_query(struct db_query *base)
{
    rows_fini(&((struct wish *)(void *)base)->rows.all);
    pg_free_query(base);
}

static const struct db_driver driver = {
    .conn_size = sizeof(struct pg_named),
    .pool_size = sizeof(struct db_pool),
    .query_size = sizeof(struct wish),
    .connect = connect_soon,
    .connect_on = pg_connect_on,
    .set_up = pg_set_up,
    .send = pg_send,
    .receive = pg_receive,
    .input = pg_input,
    .is_in_transaction = pg_is_in_transaction,
    .limit_text = pg_limit_text,
    .connected = connected,
    .disconnected = disconnected,
    .finish = finish,
    .free_conn = pg_named_free,
    .free_query = free_query,
};

/* ---- workers ---- */

static struct seat *new_seat(const struct mk_postgresql *database, struct mk_worker *w)
{
    struct seat *seat = calloc(1, sizeof(*seat));

    if (!seat)
        return NULL;
    program_home_init(&seat->home, w);
    seat->pool = db_pool_in(&seat->home.base, &driver, &database->target->base);
    if (seat->pool)
        return seat;
    free(seat);
    return NULL;
}

static void end_seat(void *of)
{
    struct seat *seat = of;

    program_home_fini(&seat->home);
    free(seat);
}

/* @return 0, MK_E_INVALID: the client is another server's; MK_E_NOMEM. */
static int find_pool(struct mk_postgresql *database, struct mk_worker *w, struct db_pool **pool)
{
    void **seat;
    const int err = crew_seat(&database->crew, w, &seat);

    if (err < 0)
        return err;
    if (!*seat)
        *seat = new_seat(database, w);
    if (!*seat)
        return MK_E_NOMEM;
    *pool = ((struct seat *)*seat)->pool;
    return 0;
}

/* ---- queries ---- */

static size_t length_of(struct mk_str value)
{
    return value.p ? value.len : 0;
}

/* Texts of the program have no terminators. @return a block with all of them; NULL: no memory */
static char *copy_values(const struct mk_str *values, size_t n, const char **texts)
{
    size_t size = 1;
    char *block, *at;

    for (size_t i = 0; i < n; i++)
        size += length_of(values[i]) + 1;
    block = at = malloc(size);
    for (size_t i = 0; block && i < n; i++) {
        const size_t len = length_of(values[i]);

        texts[i] = values[i].p ? at : NULL;
        if (values[i].p)
            memcpy(at, values[i].p, len);
        at[len] = '\0';
        at += len + 1;
    }
    return block;
}

static bool are_texts(const struct mk_str *values, size_t n)
{
    if (n > 0 && !values)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (values[i].p && memchr(values[i].p, '\0', values[i].len))
            return false;
    }
    return true;
}

/* @return 0; -1: no memory. */
static int set_values(struct db_query *q, const struct mk_str *values, size_t n)
{
    const char **texts = calloc(n + 1, sizeof(*texts));
    char *block = texts ? copy_values(values, n, texts) : NULL;
    const int result = block ? db_query_params(q, (int)n, texts, NULL, NULL) : -1;

    free(block);
    free((void *)texts);
    return result;
}

static int run(struct db_pool *pool, struct db_query *q, struct mk_request *r)
{
    struct wish *wish = (struct wish *)(void *)q;
    const struct mk_later *later = &wish->later;
    struct mk_later copy;
    int err = mk_later_begin(&wish->later, r);

    if (err < 0) {
        db_query_free(q);
        return err;
    }
    copy = *later;
    if (db_pool_run(pool, q) == 0)
        return 0;
    mk_later_drop(&copy);
    return MK_E_BUSY;
}

int mk_postgresql_ask(struct mk_postgresql *database, struct mk_request *r, const char *sql,
                      const struct mk_str *values, size_t nvalues, mk_postgresql_fn fn, void *arg)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct db_pool *pool;
    struct db_query *q;
    struct wish *wish;
    int err;

    if (!database || !r || !sql || !fn || nvalues > VALUES_MOST || !are_texts(values, nvalues))
        return MK_E_INVALID;
    mk_request_facts(r, &facts);
    err = find_pool(database, facts.worker, &pool);
    if (err < 0)
        return err;
    if (db_pool_is_away(pool))
        return MK_E_PEER;
    q = db_pool_query(pool, r, PG_KEPT, sql, NULL);
    if (!q)
        return MK_E_NOMEM;
    wish = (struct wish *)(void *)q;
    wish->fn = fn;
    wish->arg = arg;
    wish->own.on_result = take_names;
    wish->own.on_row = take_row;
    rows_init(&wish->rows.all, database->answer_max);
    if (set_values(q, values, nvalues) == 0)
        return run(pool, q, r);
    db_query_free(q);
    return MK_E_NOMEM;
}

/* ---- life ---- */

static const char *check(const struct mk_postgresql_options *o)
{
    if (!o->url ||
        (strncmp(o->url, "postgresql://", 13) != 0 && strncmp(o->url, "postgres://", 11) != 0))
        return "the url begins with postgresql://";
    if (o->connections > CONNECTIONS_MOST)
        return "at most 1024 connections";
    if (o->timeout_ms > TIMEOUT_MOST_MS || (o->timeout_ms > 0 && o->timeout_ms < DB_LIMIT_LEAST_MS))
        return "a timeout has from 100 to 3600000 ms";
    return o->queries > DB_WAITING_MOST ? "at most 1048576 queries" : NULL;
}

/* @return what is wrong, for people; NULL: nothing */
static const char *set_bounds(struct mk_postgresql *database, const struct mk_postgresql_options *o)
{
    struct db_target *t = &database->target->base;
    const unsigned most = o->connections ? o->connections : CONNECTIONS_USUAL;

    if (db_target_init(t, 0, (int)most) < 0)
        return "at most 1024 connections";
    t->total_max = (int)most;
    t->limit_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_USUAL_MS;
    t->waiting_max = o->queries ? o->queries : QUERIES_USUAL;
    database->answer_max = o->answer_max ? o->answer_max : ANSWER_USUAL;
    return NULL;
}

static const char *set_up(struct mk_postgresql *database, const struct mk_postgresql_options *o)
{
    const char *keys[] = {"dbname", NULL}, *values[] = {o->url, NULL}, *wrong = check(o);

    crew_init(&database->crew);
    if (!wrong)
        database->target = pg_target_new(keys, values, 1, true, &wrong);
    return wrong ? wrong : set_bounds(database, o);
}

void mk_postgresql_free(struct mk_postgresql *database)
{
    if (!database)
        return;
    crew_fini(&database->crew, end_seat);
    pg_target_free(database->target);
    free(database);
}

int mk_postgresql_new(struct mk_postgresql **database, const struct mk_postgresql_options *options,
                      const char **why)
{
    struct mk_postgresql_options own = {0};
    const char *wrong;

    if (!database || !options)
        return MK_E_INVALID;
    memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
    *database = calloc(1, sizeof(**database));
    if (!*database)
        return MK_E_NOMEM;
    wrong = set_up(*database, &own);
    if (!wrong)
        return 0;
    mk_postgresql_free(*database);
    *database = NULL;
    if (why)
        *why = wrong;
    return wrong == db_no_memory ? MK_E_NOMEM : MK_E_INVALID;
}
