/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A REST interface to a table in SQLite, and a page that uses it. The database blocks, so it works in tasks.
 *
 *     cc notes.c $(pkg-config --cflags --libs monkey-web sqlite3) -o notes && ./notes 127.0.0.1:8080 $PWD/pages notes.db
 *     curl -d 'Buy milk' http://127.0.0.1:8080/notes
 */

#define NOTE "json_object('id', id, 'text', text)"

/* In SQL, ?1 is the id of the path and ?2 the body of the request. */
static struct action {
    const char *method, *path, *sql;
    unsigned status;
} actions[] = {
    {"GET", "/notes",
     "SELECT json_group_array(json(note)) FROM (SELECT " NOTE " AS note FROM notes ORDER BY id)",
     200},
    {"POST", "/notes", "INSERT INTO notes(text) VALUES (?2) RETURNING " NOTE, 201},
    {"GET", "/notes/:id", "SELECT " NOTE " FROM notes WHERE id = ?1", 200},
    {"PUT", "/notes/:id", "UPDATE notes SET text = ?2 WHERE id = ?1 RETURNING " NOTE, 200},
    {"DELETE", "/notes/:id", "DELETE FROM notes WHERE id = ?1 RETURNING " NOTE, 200},
};

static sqlite3 *database;

struct query {
    const struct action *action;
    char *json; /* the result; NULL: none */
    int result; /* of SQLite */
    int id_len, text_len;
    char texts[]; /* id, text */
};

/* On a thread of the pool. */
static void ask(const struct mk_task *task, void *arg)
{
    struct query *q = arg;
    sqlite3_stmt *statement;

    (void)task;
    q->result = sqlite3_prepare_v2(database, q->action->sql, -1, &statement, NULL);
    if (q->result != SQLITE_OK)
        return;
    sqlite3_bind_text(statement, 1, q->texts, q->id_len, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, q->texts + q->id_len, q->text_len, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
        q->json = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
    q->result = sqlite3_finalize(statement);
}

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    const struct query *q = arg;

    if (q->result != SQLITE_OK) {
        mk_request_log(r, MK_LOG_ERROR, "SQLite: %s", sqlite3_errstr(q->result));
        return mk_reply_error(r, 500, NULL);
    }
    if (!q->json)
        return mk_reply_error(r, 404, NULL);
    return mk_reply_bytes(r, q->action->status, "application/json", mk_str_from(q->json));
}

static void end(void *arg)
{
    struct query *q = arg;

    sqlite3_free(q->json);
    free(q);
}

static struct query *new_query(const struct action *action, struct mk_str id, struct mk_str text)
{
    struct query *q = calloc(1, sizeof(*q) + id.len + text.len);

    if (!q)
        return NULL;
    q->action = action;
    q->id_len = (int)id.len;
    q->text_len = (int)text.len;
    if (id.len > 0)
        memcpy(q->texts, id.p, id.len);
    if (text.len > 0)
        memcpy(q->texts + id.len, text.p, text.len);
    return q;
}

static enum mk_verdict handle(struct mk_request *r, void *action)
{
    static const struct mk_task_calls calls = {
        .size = sizeof(calls), .work = ask, .answer = answer, .end = end};
    struct mk_str text;
    struct query *q;
    int err;

    if (mk_task_runs(r))
        return MK_VERDICT_LATER;
    err = mk_request_body(r, 4096, &text);
    if (err < 0)
        return mk_reply_refusal(r, err); /* waits for more, too */
    q = new_query(action, mk_path_value(r, MK_STR("id")), text);
    err = q ? mk_task_start(r, &calls, q) : MK_E_NOMEM;
    if (err < 0) {
        free(q);
        return mk_reply_refusal(r, err);
    }
    return MK_VERDICT_LATER;
}

static int open_database(const char *path)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;

    return sqlite3_open_v2(path, &database, flags, NULL) == SQLITE_OK &&
                   sqlite3_exec(database,
                                "CREATE TABLE IF NOT EXISTS notes(id INTEGER PRIMARY KEY, text "
                                "TEXT NOT NULL)",
                                NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : -1;
}

static int add_handlers(struct mk_config *config)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
        if (mk_config_handle(config, actions[i].method, actions[i].path, handle, &actions[i]) != 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 4 || open_database(argv[3]) != 0 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "notes") != 0 ||
        mk_config_set(config, "HOST", "DocumentRoot", argv[2], "notes") != 0 ||
        mk_config_set(config, "SERVER", "IndexFile", "notes.html", "notes") != 0 ||
        add_handlers(config) != 0 || mk_server_new(&server, config, NULL) != 0 ||
        mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0) {
        printf("http://127.0.0.1:%u/\n", mk_server_port(server, 0));
        (void)fflush(stdout);
        (void)getchar(); /* until the end of the input */
    }
    mk_server_free(server);
    sqlite3_close(database);
    return 0;
}
