/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/postgresql.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * postgresql_asker SOCKET URL WORKERS TIMEOUT_MS CONNECTIONS QUERIES: a program whose handlers ask PostgreSQL whatever their
 * query says, for tests. Answers of 64 KB at most.
 * GET /ask?q=SQL[&v=VALUE]   the answer is its result, state, size and first row
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

static enum mk_verdict wait(struct mk_request *r, int err)
{
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static enum mk_verdict show_again(struct mk_request *r, const struct mk_postgresql_answer *answer,
                                  void *database)
{
    return wait(r, answer->result < 0 ? answer->result : ask(database, r, show));
}

static enum mk_verdict on_ask(struct mk_request *r, void *database)
{
    return mk_later_waits(r) ? MK_VERDICT_LATER : wait(r, ask(database, r, show));
}

static enum mk_verdict on_both(struct mk_request *r, void *database)
{
    const int err = ask(database, r, show);

    return wait(r, err < 0 ? err : ask(database, r, show));
}

static enum mk_verdict on_chain(struct mk_request *r, void *database)
{
    return wait(r, ask(database, r, show_again));
}

static enum mk_verdict on_nul(struct mk_request *r, void *database)
{
    const struct mk_str value = {"a\0b", 3};

    return wait(r, mk_postgresql_ask(database, r, "SELECT $1::text", &value, 1, show, NULL));
}

static enum mk_verdict on_alive(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("alive"));
}

static int serve(struct mk_postgresql *database, char **argv)
{
    const struct {
        const char *path;
        mk_handle_fn fn;
    } routes[] = {{"/ask", on_ask},
                  {"/both", on_both},
                  {"/chain", on_chain},
                  {"/nul", on_nul},
                  {"/alive", on_alive}};
    struct mk_config *config;
    struct mk_server *server;
    int err = mk_config_new(&config, NULL);

    if (err == 0)
        err = mk_config_set(config, "SERVER", "Listen", argv[1], "asker");
    if (err == 0)
        err = mk_config_set(config, "SERVER", "Workers", argv[3], "asker");
    for (size_t i = 0; err == 0 && i < sizeof(routes) / sizeof(routes[0]); i++)
        err = mk_config_handle(config, "GET", routes[i].path, routes[i].fn, database);
    if (err != 0 || mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_stop(server, 0);
    err = mk_server_wait(server, -1);
    mk_postgresql_free(database);
    mk_server_free(server);
    return err != 0;
}

int main(int argc, char **argv)
{
    struct mk_postgresql_options options = {.size = sizeof(options), .answer_max = 64 << 10};
    struct mk_postgresql *database;
    const char *why = "";

    if (argc != 7)
        return 2;
    options.url = argv[2];
    options.timeout_ms = (unsigned)atoi(argv[4]);
    options.connections = (unsigned)atoi(argv[5]);
    options.queries = (unsigned)atoi(argv[6]);
    if (mk_postgresql_new(&database, &options, &why) != 0) {
        (void)fprintf(stderr, "asker: %s\n", why);
        return 1;
    }
    return serve(database, argv);
}
