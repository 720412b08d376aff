/* SPDX-License-Identifier: Apache-2.0 */
#include "../../web/web_scene.h"

#include <monkey/sqlite.h>

#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#define NUMBER_OF(rows) (sizeof(rows) / sizeof((rows)[0]))

static atomic_int fails_in; /* the number of the allocation of any thread that fails; 0: none */

static bool memory_fails(void)
{
    return atomic_load(&fails_in) > 0 && atomic_fetch_sub(&fails_in, 1) == 1;
}

#define WRAPS_REALLOC
#include "../../wrapped_memory.h"

/* ---- a program with a database ---- */

struct scene {
    char folder[32], path[64];
    struct mk_sqlite *database;
    struct mk_server *server;
    /* what a request asks for */
    const struct mk_sqlite_statement *statements;
    size_t n;
    mk_sqlite_fn fn;
    int err; /* of the last call */
};

static enum mk_verdict say(struct mk_request *r, const struct mk_sqlite_answer *answer, void *arg)
{
    const char *text;

    (void)arg;
    assert_int_equal(answer->size, sizeof(*answer));
    assert_non_null(answer->text);
    text = answer->result < 0 ? mk_request_printf(r, "%d %d", answer->result, answer->code)
                              : mk_request_printf(r, "%zu rows of %u, %lld changed", answer->nrows,
                                                  answer->ncolumns, (long long)answer->changes);
    return text ? mk_reply_bytes(r, 200, "text/plain", mk_str_from(text))
                : mk_reply_failure(r, MK_E_NOMEM);
}

static enum mk_verdict ask(struct mk_request *r, void *arg)
{
    struct scene *scene = arg;

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    scene->err = mk_sqlite_ask(scene->database, r, scene->statements, scene->n, scene->fn, scene);
    return scene->err < 0 ? mk_reply_failure(r, scene->err) : MK_VERDICT_LATER;
}

static void open_scene(struct scene *scene, const struct mk_sqlite_options *options)
{
    struct mk_sqlite_options own = options ? *options : (struct mk_sqlite_options){0};
    const char *why = "";

    *scene = (struct scene){.folder = "sqlite-XXXXXX"};
    assert_non_null(mkdtemp(scene->folder));
    (void)snprintf(scene->path, sizeof(scene->path), "%s/file", scene->folder);
    own.size = sizeof(own);
    own.path = scene->path;
    if (mk_sqlite_new(&scene->database, &own, &why) != 0)
        fail_msg("%s", why);
    scene->server = web_serve_one("GET", "/", ask, scene);
}

static void close_scene(struct scene *scene)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[80];

    mk_server_free(scene->server);
    mk_sqlite_free(scene->database);
    for (size_t i = 0; i < NUMBER_OF(ends); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", scene->path, ends[i]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(scene->folder), 0);
}

static void expect_all(struct scene *scene, const struct mk_sqlite_statement *statements, size_t n,
                       const char *body)
{
    scene->statements = statements;
    scene->n = n;
    scene->fn = say;
    web_expect(scene->server, "/", 200, body);
    assert_int_equal(scene->err, 0);
}

static void expect(struct scene *scene, const char *sql, const char *body)
{
    const struct mk_sqlite_statement statement = {sql, NULL, 0};

    expect_all(scene, &statement, 1, body);
}

/* ---- tests ---- */

static enum mk_verdict look(struct mk_request *r, const struct mk_sqlite_answer *a, void *arg)
{
    static const char *const names[] = {"i", "r", "t", "b", "n", "e"};

    (void)arg;
    assert_int_equal(a->result, 0);
    assert_int_equal(a->code, 0);
    assert_int_equal(a->nrows, 1);
    assert_int_equal(a->ncolumns, NUMBER_OF(names));
    for (unsigned i = 0; i < NUMBER_OF(names); i++)
        assert_string_equal(mk_sqlite_name(a, i).p, names[i]);
    assert_null(mk_sqlite_name(a, 6).p);
    assert_int_equal(mk_sqlite_value(a, 0, 0).type, MK_SQLITE_INTEGER);
    assert_true(mk_sqlite_int(a, 0, 0) == INT64_MIN);
    assert_int_equal(mk_sqlite_value(a, 0, 1).type, MK_SQLITE_REAL);
    assert_true(mk_sqlite_value(a, 0, 1).real == 0.1 + 0.2);
    assert_int_equal(mk_sqlite_value(a, 0, 2).type, MK_SQLITE_TEXT);
    assert_int_equal(mk_sqlite_text(a, 0, 2).len, 3);
    assert_string_equal(mk_sqlite_text(a, 0, 2).p, "'a'");
    assert_int_equal(mk_sqlite_value(a, 0, 3).type, MK_SQLITE_BLOB);
    assert_int_equal(mk_sqlite_text(a, 0, 3).len, 300);
    assert_int_equal(mk_sqlite_text(a, 0, 3).p[1], 1);
    assert_int_equal(mk_sqlite_value(a, 0, 4).type, MK_SQLITE_NULL);
    assert_null(mk_sqlite_text(a, 0, 4).p);
    assert_int_equal(mk_sqlite_value(a, 0, 5).type, MK_SQLITE_TEXT);
    assert_int_equal(mk_sqlite_text(a, 0, 5).len, 0);
    assert_string_equal(mk_sqlite_text(a, 0, 5).p, "");
    assert_int_equal(mk_sqlite_int(a, 0, 2), 0);
    assert_int_equal(mk_sqlite_value(a, 1, 0).type, MK_SQLITE_NULL);
    assert_int_equal(mk_sqlite_value(a, 0, 6).type, MK_SQLITE_NULL);
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("as it was"));
}

static void values_come_back_as_they_are(void **state)
{
    char blob[300];
    const struct mk_sqlite_value values[] = {
        mk_sqlite_from_int(INT64_MIN),
        mk_sqlite_from_real(0.1 + 0.2),
        mk_sqlite_from_text(MK_STR("'a'")),
        mk_sqlite_from_blob((struct mk_str){blob, sizeof(blob)}),
        mk_sqlite_from_text((struct mk_str){NULL, 0}),
        mk_sqlite_from_text(MK_STR("")),
    };
    const struct mk_sqlite_statement statement = {
        "SELECT ? AS i, ? AS r, ? AS t, ? AS b, ? AS n, ? AS e", values, NUMBER_OF(values)};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < sizeof(blob); i++)
        blob[i] = (char)i;
    open_scene(&scene, NULL);
    scene.statements = &statement;
    scene.n = 1;
    scene.fn = look;
    for (int i = 0; i < 3; i++)
        web_expect(scene.server, "/", 200, "as it was");
    close_scene(&scene);
}

static void statements_change_the_file(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, NULL);
    expect(&scene, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
           "0 rows of 0, 0 changed");
    expect(&scene, "INSERT INTO t (name) VALUES ('a'), ('b');", "0 rows of 0, 2 changed");
    expect(&scene, "SELECT id, name FROM t WHERE id > 0 ORDER BY id ; \n",
           "2 rows of 2, 0 changed");
    expect(&scene, "SELECT id FROM t WHERE id > 9", "0 rows of 1, 0 changed");
    expect(&scene, "UPDATE t SET name = name || 'x'", "0 rows of 0, 2 changed");
    expect(&scene, "INSERT INTO t (name) VALUES ('ax')", "-13 2067"); /* SQLITE_CONSTRAINT_UNIQUE */
    expect(&scene, "DELETE FROM t RETURNING id", "2 rows of 1, 2 changed");
    close_scene(&scene);
}

static void what_is_no_single_statement_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "-- nothing",
        "SELECT",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE t",
        "SELECT ?",
        "BEGIN",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "SAVEPOINT a",
        "ATTACH 'other' AS other",
        "SELECT x FROM nowhere",
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, NULL);
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        const struct mk_sqlite_statement statement = {rows[i], NULL, 0};
        struct mk_answer *answer;

        scene.statements = &statement;
        scene.n = 1;
        scene.fn = say;
        answer = web_ask(scene.server, "GET", "/", NULL, NULL);
        if (answer->body.len < 4 || memcmp(answer->body.p, "-13 ", 4) != 0)
            fail_msg("%s: %.*s", rows[i], (int)answer->body.len, answer->body.p);
        mk_answer_free(answer);
    }
    expect(&scene, "CREATE TABLE t (id)", "0 rows of 0, 0 changed"); /* no transaction is open */
    close_scene(&scene);
}

static void several_are_all_or_none(void **state)
{
    const struct mk_sqlite_value one = mk_sqlite_from_int(1);
    const struct mk_sqlite_statement all[] = {{"INSERT INTO t VALUES (?)", &one, 1},
                                              {"INSERT INTO t VALUES (2), (3)", NULL, 0},
                                              {"SELECT id FROM t", NULL, 0}},
                                     none[] = {{"INSERT INTO t VALUES (4)", NULL, 0},
                                               {"INSERT INTO t VALUES (?)", &one, 1}},
                                     late[] = {{"INSERT INTO t VALUES (5)", NULL, 0},
                                               {"INSERT INTO c VALUES (77)", NULL, 0}};
    struct scene scene;

    (void)state;
    open_scene(&scene, NULL);
    expect(&scene, "CREATE TABLE t (id INTEGER PRIMARY KEY)", "0 rows of 0, 0 changed");
    expect(&scene, "CREATE TABLE c (t INTEGER REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)",
           "0 rows of 0, 0 changed");
    expect_all(&scene, all, 3, "3 rows of 1, 2 changed");
    expect_all(&scene, none, 2, "-13 1555"); /* SQLITE_CONSTRAINT_PRIMARYKEY */
    expect(&scene, "SELECT id FROM t", "3 rows of 1, 0 changed");
    /* it is the COMMIT that fails */
    scene.statements = late;
    scene.n = 2;
    web_expect(scene.server, "/", 200, NULL);
    expect(&scene, "SELECT id FROM t", "3 rows of 1, 0 changed");
    expect(&scene, "SELECT t FROM c", "0 rows of 1, 0 changed");
    close_scene(&scene);
}

static void answers_are_bounded(void **state)
{
    const struct mk_sqlite_options options = {.answer_max = 1000};
    struct scene scene;

    (void)state;
    open_scene(&scene, &options);
    expect(&scene, "SELECT zeroblob(500)", "1 rows of 1, 0 changed");
    expect(&scene, "SELECT zeroblob(1000)", "-3 0");
    expect(&scene,
           "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
           "-3 0");
    close_scene(&scene);
}

static void another_writer_has_the_lock_for_long(void **state)
{
    const struct mk_sqlite_options options = {.busy_ms = 1};
    struct scene scene;
    sqlite3 *other;

    (void)state;
    open_scene(&scene, &options);
    expect(&scene, "CREATE TABLE t (id)", "0 rows of 0, 0 changed");
    assert_int_equal(sqlite3_open(scene.path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    expect(&scene, "INSERT INTO t VALUES (1)", "-11 5"); /* MK_E_BUSY, SQLITE_BUSY */
    expect(&scene, "SELECT id FROM t", "0 rows of 1, 0 changed");
    assert_int_equal(mk_sqlite_run(scene.database, "INSERT INTO t VALUES (1)", NULL), MK_E_BUSY);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    expect(&scene, "INSERT INTO t VALUES (1)", "0 rows of 0, 1 changed");
    close_scene(&scene);
}

static void asks_are_bounded(void **state)
{
    static const struct mk_sqlite_statement statement = {"SELECT 1", NULL, 0},
                                            broken = {NULL, NULL, 0},
                                            without = {"SELECT ?", NULL, 1};
    struct mk_sqlite_value value = {MK_SQLITE_TEXT, 0, 0, {NULL, 1}};
    const struct mk_sqlite_statement of_nothing = {"SELECT ?", &value, 1};
    struct mk_sqlite_statement many[MK_SQLITE_STATEMENTS + 1];
    const struct {
        const struct mk_sqlite_statement *statements;
        size_t n;
        int err;
    } rows[] = {
        {NULL, 1, MK_E_INVALID},
        {&statement, 0, MK_E_INVALID},
        {&broken, 1, MK_E_INVALID},
        {&without, 1, MK_E_INVALID},
        {&of_nothing, 1, MK_E_INVALID},
        {many, MK_SQLITE_STATEMENTS, 0},
        {many, MK_SQLITE_STATEMENTS + 1, MK_E_LIMIT},
    };
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(many); i++)
        many[i] = statement;
    open_scene(&scene, NULL);
    scene.fn = say;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        scene.statements = rows[i].statements;
        scene.n = rows[i].n;
        web_expect(scene.server, "/", rows[i].err < 0 ? 500 : 200, NULL);
        assert_int_equal(scene.err, rows[i].err);
    }
    value.bytes = (struct mk_str){"", MK_SQLITE_ASK_MAX}; /* it is not looked at */
    scene.statements = &of_nothing;
    scene.n = 1;
    web_expect(scene.server, "/", 500, NULL);
    assert_int_equal(scene.err, MK_E_LIMIT);
    scene.fn = NULL;
    scene.statements = &statement;
    web_expect(scene.server, "/", 500, NULL);
    assert_int_equal(scene.err, MK_E_INVALID);
    close_scene(&scene);
}

static void what_cannot_be_opened_says_why(void **state)
{
    static const struct {
        struct mk_sqlite_options options;
        int err;
    } rows[] = {
        {{.path = NULL}, MK_E_INVALID},
        {{.path = ""}, MK_E_INVALID},
        {{.path = ":memory:"}, MK_E_INVALID},
        {{.path = "FILE:a"}, MK_E_INVALID},
        {{.path = "/nowhere/at/all"}, MK_E_PEER},
        {{.path = "/"}, MK_E_PEER},
        {{.path = "a", .busy_ms = 60001}, MK_E_LIMIT},
        {{.path = "a", .threads = 33}, MK_E_LIMIT},
    };
    struct mk_sqlite *database = NULL;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct mk_sqlite_options options = rows[i].options;
        const char *why = NULL;

        options.size = sizeof(options);
        assert_int_equal(mk_sqlite_new(&database, &options, &why), rows[i].err);
        assert_non_null(why);
        assert_null(database);
        assert_int_equal(mk_sqlite_new(&database, &options, NULL), rows[i].err);
    }
    assert_int_equal(mk_sqlite_new(&database, NULL, NULL), MK_E_INVALID);
    assert_int_equal(mk_sqlite_new(NULL, &rows[0].options, NULL), MK_E_INVALID);
    mk_sqlite_free(NULL);
}

static void statements_run_on_the_own_thread(void **state)
{
    struct scene scene;
    const char *why = NULL;

    (void)state;
    open_scene(&scene, NULL);
    assert_int_equal(
        mk_sqlite_run(scene.database, "CREATE TABLE a (id); INSERT INTO a VALUES (1)", &why), 0);
    assert_int_equal(mk_sqlite_run(scene.database, "", NULL), 0);
    assert_null(why);
    assert_int_equal(mk_sqlite_run(scene.database, "BEGIN; SELECT x FROM nowhere", &why),
                     MK_E_INVALID);
    assert_non_null(why);
    assert_int_equal(mk_sqlite_run(scene.database, "CREATE TABLE a (id)", NULL), MK_E_INVALID);
    assert_int_equal(mk_sqlite_run(NULL, "SELECT 1", NULL), MK_E_INVALID);
    assert_int_equal(mk_sqlite_run(scene.database, NULL, NULL), MK_E_INVALID);
    expect(&scene, "INSERT INTO a VALUES (2)", "0 rows of 0, 1 changed");
    expect(&scene, "SELECT id FROM a", "2 rows of 1, 0 changed");
    close_scene(&scene);
}

/* NULL for what a call needs. */
static enum mk_verdict ask_nothing(struct mk_request *r, void *database)
{
    static const struct mk_sqlite_statement statement = {"SELECT 1", NULL, 0};

    assert_int_equal(mk_sqlite_ask(NULL, r, &statement, 1, say, NULL), MK_E_INVALID);
    assert_int_equal(mk_sqlite_ask(database, NULL, &statement, 1, say, NULL), MK_E_INVALID);
    assert_int_equal(mk_sqlite_value(NULL, 0, 0).type, MK_SQLITE_NULL);
    assert_null(mk_sqlite_text(NULL, 0, 0).p);
    assert_null(mk_sqlite_name(NULL, 0).p);
    assert_int_equal(mk_sqlite_int(NULL, 0, 0), 0);
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("goes on"));
}

static void nothing_is_refused(void **state)
{
    struct scene scene;
    struct mk_server *server;

    (void)state;
    open_scene(&scene, NULL);
    server = web_serve_one("GET", "/", ask_nothing, scene.database);
    web_expect(server, "/", 200, "goes on");
    mk_server_free(server);
    close_scene(&scene);
}

/* Statement n of so many that never end by themselves. */
static const struct mk_sqlite_statement endless = {
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", NULL,
    0};

static enum mk_verdict ask_for_a_moment(struct mk_request *r, void *arg)
{
    mk_request_timeout(r, 100);
    return ask(r, arg);
}

static void what_takes_too_long_is_interrupted(void **state)
{
    static const struct mk_sqlite_statement write[] = {{"INSERT INTO t VALUES (1)", NULL, 0},
                                                       endless};
    const struct mk_sqlite_options options = {.threads = 1};
    struct mk_server *server;
    struct scene scene;

    (void)state;
    open_scene(&scene, &options);
    expect(&scene, "CREATE TABLE t (id)", "0 rows of 0, 0 changed");
    server = web_serve_one("GET", "/", ask_for_a_moment, &scene);
    scene.statements = &endless;
    scene.n = 1;
    web_is(web_ask(server, "GET", "/", NULL, NULL), 500, NULL);
    scene.statements = write;
    scene.n = 2;
    web_is(web_ask(server, "GET", "/", NULL, NULL), 500, NULL);
    expect(&scene, "SELECT id FROM t", "0 rows of 1, 0 changed");
    scene.statements = &endless;
    scene.n = 1;
    web_is(web_ask(server, "GET", "/", NULL, NULL), 500, NULL);
    mk_server_free(server); /* waits for its threads */
    close_scene(&scene);
}

/* The n-th allocation fails, for each n: an answer says so, or that nothing was changed. */
static void without_memory_it_says_so(void **state)
{
    static const struct mk_sqlite_statement statements[] = {
        {"INSERT INTO t VALUES (zeroblob(400))", NULL, 0}, {"SELECT id FROM t", NULL, 0}};
    struct scene scene;
    unsigned refused = 0;

    (void)state;
    open_scene(&scene, NULL);
    expect(&scene, "CREATE TABLE t (id)", "0 rows of 0, 0 changed");
    expect_all(&scene, statements, 2, NULL);
    for (int n = 1; n < 40; n++) {
        struct mk_answer *answer = NULL;
        const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};

        scene.statements = statements;
        scene.n = 2;
        scene.fn = say;
        scene.err = 0;
        atomic_store(&fails_in, n);
        (void)!mk_server_ask_wait(scene.server, &question, &answer);
        atomic_store(&fails_in, 0);
        refused += answer && answer->status != 200;
        mk_answer_free(answer);
    }
    assert_true(refused > 0);
    expect(&scene, "SELECT count(*) FROM t", "1 rows of 1, 0 changed");
    close_scene(&scene);
}

static void without_memory_nothing_is_opened(void **state)
{
    char folder[] = "sqlite-XXXXXX", path[64];
    struct mk_sqlite_options options = {.size = sizeof(options), .path = path};
    struct mk_sqlite *database = NULL;
    int n = 0, err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    do {
        atomic_store(&fails_in, ++n);
        err = mk_sqlite_new(&database, &options, NULL);
        atomic_store(&fails_in, 0);
        assert_true(err == 0 || err == MK_E_NOMEM || err == MK_E_PEER);
    } while (err < 0);
    assert_true(n > 2);
    mk_sqlite_free(database);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_are),
        cmocka_unit_test(statements_change_the_file),
        cmocka_unit_test(what_is_no_single_statement_is_refused),
        cmocka_unit_test(several_are_all_or_none),
        cmocka_unit_test(answers_are_bounded),
        cmocka_unit_test(another_writer_has_the_lock_for_long),
        cmocka_unit_test(asks_are_bounded),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(statements_run_on_the_own_thread),
        cmocka_unit_test(nothing_is_refused),
        cmocka_unit_test(what_takes_too_long_is_interrupted),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(without_memory_nothing_is_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
