/* SPDX-License-Identifier: Apache-2.0 */
#include "asker.h"

#include <monkey/postgresql.h>

/*
 * postgresql_asker SOCKET URL WORKERS TIMEOUT_MS CONNECTIONS QUERIES [SETTING ...]: a program whose handlers ask PostgreSQL whatever their
 * query says, for tests. Answers of 64 KB at most.
 * GET /ask?q=SQL[&v=VALUE]   the answer is its result, state, size and first row
 * GET /why?q=SQL             a query; the answer is its result and text, also if it has failed
 * GET /both?q=SQL            twice at once; the first answer is shown
 * GET /chain?q=SQL           a query, and the same once more in its callback
 * GET /nul?q=SQL             with a value that has a NUL byte
 */

static enum mk_verdict show(struct mk_request *r, const struct mk_postgresql_answer *answer,
                            void *arg)
{
    char *text;

    (void)arg;
    if (answer->result < 0 && answer->result != MK_E_INVALID)
        return mk_reply_failure(r, answer->result);
    text = mk_request_printf(r, "%d %s %zu %u %lld", answer->result, answer->state, answer->nrows,
                             answer->ncolumns, answer->affected);
    for (unsigned i = 0; text && i < answer->ncolumns; i++) {
        const struct mk_str name = mk_postgresql_name(answer, i);
        const struct mk_str value = mk_postgresql_value(answer, 0, i);

        text = mk_request_printf(r, "%s %s=%s", text, name.p, value.p ? value.p : "null");
    }
    return text ? mk_reply_bytes(r, 200, "text/plain", mk_str_from(text))
                : mk_reply_failure(r, MK_E_NOMEM);
}

static int ask(struct mk_postgresql *database, struct mk_request *r, mk_postgresql_fn fn)
{
    struct mk_str sql, value = {NULL, 0};
    const int err = mk_query_value(r, MK_STR("q"), &sql);
    const bool has_value = mk_query_value(r, MK_STR("v"), &value) == 1;
    const char *text = err == 1 ? mk_request_printf(r, "%.*s", (int)sql.len, sql.p) : NULL;

    return mk_postgresql_ask(database, r, text, &value, has_value, fn, database);
}

static enum mk_verdict explain(struct mk_request *r, const struct mk_postgresql_answer *answer,
                               void *arg)
{
    (void)arg;
    return asker_explain(r, answer->result, answer->text);
}

static enum mk_verdict show_again(struct mk_request *r, const struct mk_postgresql_answer *answer,
                                  void *database)
{
    return asker_wait(r, answer->result < 0 ? answer->result : ask(database, r, show));
}

static enum mk_verdict on_ask(struct mk_request *r, void *database)
{
    return mk_later_waits(r) ? MK_VERDICT_LATER : asker_wait(r, ask(database, r, show));
}

static enum mk_verdict on_why(struct mk_request *r, void *database)
{
    return asker_wait(r, ask(database, r, explain));
}

static enum mk_verdict on_both(struct mk_request *r, void *database)
{
    const int err = ask(database, r, show);

    return asker_wait(r, err < 0 ? err : ask(database, r, show));
}

static enum mk_verdict on_chain(struct mk_request *r, void *database)
{
    return asker_wait(r, ask(database, r, show_again));
}

static enum mk_verdict on_nul(struct mk_request *r, void *database)
{
    const struct mk_str value = {"a\0b", 3};

    return asker_wait(r, mk_postgresql_ask(database, r, "SELECT $1::text", &value, 1, show, NULL));
}

static int make(void **client, const char *url, char **own, const char **why)
{
    const struct mk_postgresql_options options = {.size = sizeof(options),
                                                  .url = url,
                                                  .timeout_ms = (unsigned)atoi(own[0]),
                                                  .connections = (unsigned)atoi(own[1]),
                                                  .queries = (unsigned)atoi(own[2]),
                                                  .answer_max = 64 << 10};
    struct mk_postgresql *database = NULL;
    const int err = mk_postgresql_new(&database, &options, why);

    *client = database;
    return err;
}

static void end(void *database)
{
    mk_postgresql_free(database);
}

int main(int argc, char **argv)
{
    static const struct asker_route routes[] = {{"/ask", on_ask},   {"/why", on_why},
                                                {"/both", on_both}, {"/chain", on_chain},
                                                {"/nul", on_nul},   {NULL, NULL}};
    const struct asker asker = {routes, 3, make, end};

    return asker_run(&asker, argc, argv);
}
