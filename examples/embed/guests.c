/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/sqlite.h>
#include <monkey/web.h>

#include <stdio.h>

/*
 * A guest book in SQLite. POST / signs it with a form of name and text, GET / lists the last ten lines as JSON, and no
 * worker waits for the disk. GET /openapi.json says what they answer.
 *
 *     cc guests.c -o guests $(pkg-config --cflags --libs monkey-sqlite) && ./guests 127.0.0.1:8080 guests.db
 *     curl -d name=ann -d text=hello localhost:8080
 *     curl localhost:8080
 */

/* ---- reading ---- */

static enum mk_verdict show(struct mk_request *r, const struct mk_sqlite_answer *answer, void *arg)
{
    struct mk_json j;

    (void)arg;
    if (answer->result < 0)
        return mk_reply_failure(r, answer->result);
    mk_json_begin_reply(&j, r, 65536);
    mk_json_array(&j);
    for (size_t i = 0; i < answer->nrows; i++) {
        mk_json_object(&j);
        mk_json_key(&j, MK_STR("id"));
        mk_json_int(&j, mk_sqlite_int(answer, i, 0));
        mk_json_key(&j, MK_STR("name"));
        mk_json_text(&j, mk_sqlite_text(answer, i, 1));
        mk_json_key(&j, MK_STR("text"));
        mk_json_text(&j, mk_sqlite_text(answer, i, 2));
        mk_json_close(&j);
    }
    mk_json_close(&j);
    return mk_reply_json(r, 200, &j);
}

static enum mk_verdict list(struct mk_request *r, void *database)
{
    static const struct mk_sqlite_statement last = {
        "SELECT id, name, text FROM guests ORDER BY id DESC LIMIT 10", NULL, 0};
    int err;

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    err = mk_sqlite_ask(database, r, &last, 1, show, NULL);
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

/* ---- writing ---- */

static enum mk_verdict confirm(struct mk_request *r, const struct mk_sqlite_answer *answer,
                               void *arg)
{
    (void)arg;
    if (answer->result == MK_E_INVALID) /* a constraint */
        return mk_reply_problem(r, 422, "a name and a text of at most 200 characters are needed",
                                NULL);
    if (answer->result < 0)
        return mk_reply_failure(r, answer->result);
    return mk_reply_redirect(r, 303, MK_STR("/"));
}

static enum mk_verdict sign(struct mk_request *r, void *database)
{
    struct mk_sqlite_value values[2];
    const struct mk_sqlite_statement insert = {"INSERT INTO guests (name, text) VALUES (?, ?)",
                                               values, 2};
    struct mk_form *form;
    int err;

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    err = mk_form_read(r, NULL, &form);
    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    values[0] = mk_sqlite_from_text(mk_form_value(form, MK_STR("name")));
    values[1] = mk_sqlite_from_text(mk_form_value(form, MK_STR("text")));
    err = mk_sqlite_ask(database, r, &insert, 1, confirm, NULL);
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

/* ---- what they answer ---- */

static const struct mk_member line[] = {
    {.name = "id", .type = MK_MEMBER_INTEGER, .is_required = true},
    {.name = "name", .type = MK_MEMBER_TEXT, .is_required = true},
    {.name = "text", .type = MK_MEMBER_TEXT, .is_required = true},
    {0}};
static const struct mk_route_answer list_answers[] = {{.status = 200,
                                                       .type = "application/json",
                                                       .about = "The last ten lines",
                                                       .members = line,
                                                       .is_list = true},
                                                      {.status = 503, .about = "Try again later"},
                                                      {0}};
static const struct mk_route_answer sign_answers[] = {
    {.status = 303, .about = "The line was added"},
    {.status = 422, .type = "application/problem+json", .about = "Name or text is missing"},
    {.status = 503, .about = "Try again later"},
    {0}};

static int describe(struct mk_routes *routes, struct mk_openapi **document)
{
    int err = mk_routes_describe(routes, "GET", "/", "Read the book", list_answers);

    if (err == 0)
        err = mk_routes_describe(routes, "POST", "/", "Sign the book", sign_answers);
    return err == 0 ? mk_openapi_new(document, routes, "Guests", "1.0") : err;
}

/* ---- the server ---- */

static int serve(struct mk_sqlite *database, const char *address)
{
    struct mk_openapi *document;
    struct mk_config *config;
    struct mk_server *server;

    if (mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", address, "guests") != 0 ||
        mk_config_handle(config, "GET", "/", list, database) != 0 ||
        mk_config_handle(config, "POST", "/", sign, database) != 0 ||
        describe(mk_config_routes(config), &document) != 0 ||
        mk_config_handle(config, "GET", "/openapi.json", mk_reply_openapi, document) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_free(server);
    mk_openapi_free(document);
    mk_sqlite_free(database);
    return 0;
}

static const char table[] = "CREATE TABLE IF NOT EXISTS guests (id INTEGER PRIMARY KEY,"
                            " name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),"
                            " text TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 200))";

int main(int argc, char **argv)
{
    struct mk_sqlite_options options = {.size = sizeof(options)};
    struct mk_sqlite *database;
    const char *why = "";

    if (argc != 3)
        return 1;
    options.path = argv[2];
    if (mk_sqlite_new(&database, &options, &why) != 0 ||
        mk_sqlite_run(database, table, &why) != 0) {
        (void)fprintf(stderr, "guests: %s\n", why);
        return 1;
    }
    return serve(database, argv[1]);
}
