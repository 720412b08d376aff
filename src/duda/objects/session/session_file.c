/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_file.h"

#include "objects/objects.h"

#include <dlfcn.h>
#include <stdbool.h>

/* What is used of SQLite, in the order in which it is looked up; its interface has been the same since 2004. */
struct library {
    int (*open_v2)(const char *path, void **db, int flags, const char *vfs);
    int (*close_v2)(void *db);
    int (*exec)(void *db, const char *sql, void *row, void *arg, char **error);
    int (*busy_timeout)(void *db, int ms);
    const char *(*errmsg)(void *db);
    int (*prepare_v2)(void *db, const char *sql, int len, void **statement, const char **rest);
    int (*finalize)(void *statement);
    int (*reset)(void *statement);
    int (*step)(void *statement);
    int (*bind_text)(void *statement, int n, const char *text, int len, void (*end)(void *));
    int (*bind_int64)(void *statement, int n, int64_t value);
    const unsigned char *(*column_text)(void *statement, int column);
    int64_t (*column_int64)(void *statement, int column);
};

static const char *const names[] = {
    "sqlite3_open_v2",      "sqlite3_close_v2",   "sqlite3_exec",       "sqlite3_busy_timeout",
    "sqlite3_errmsg",       "sqlite3_prepare_v2", "sqlite3_finalize",   "sqlite3_reset",
    "sqlite3_step",         "sqlite3_bind_text",  "sqlite3_bind_int64", "sqlite3_column_text",
    "sqlite3_column_int64",
};

enum { CALLS = sizeof(names) / sizeof(names[0]), OPEN_READWRITE = 2, ROW = 100, DONE = 101 };

_Static_assert(sizeof(struct library) == CALLS * sizeof(void *), "a name for each call");

static const char *const queries[] = {
    "INSERT OR REPLACE INTO value VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM value WHERE scope = ? AND id = ? AND name = ?",
    "UPDATE OR REPLACE value SET id = ?3 WHERE scope = ?1 AND id = ?2",
    "DELETE FROM value WHERE scope = ? AND ? >= iif(expires = 0, used + ?, expires)",
    "SELECT id, name, value, expires, used FROM value WHERE scope = ? ORDER BY used",
};

enum query { PUT, REMOVE, RENAME, FORGET, EACH, QUERIES };

struct mk_duda_session_file {
    union {
        struct library calls;
        void *addresses[CALLS];
    } sqlite;
    void *library, *db;
    void *statements[QUERIES];
    char scope[];
};

static bool find_calls(struct mk_duda_session_file *file)
{
    file->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < CALLS && file->library; i++) {
        file->sqlite.addresses[i] = dlsym(file->library, names[i]);
        if (!file->sqlite.addresses[i])
            return false;
    }
    return file->library != NULL;
}

/* The session of a browser is worth a password while it lasts, so the file is made before SQLite makes it for all. */
static bool open_private(struct mk_duda_session_file *file, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return false;
    (void)close(fd);
    return file->sqlite.calls.open_v2(path, &file->db, OPEN_READWRITE, NULL) == 0;
}

static bool set_up(struct mk_duda_session_file *file)
{
    const struct library *sqlite = &file->sqlite.calls;

    (void)sqlite->busy_timeout(file->db, 2000);
    if (sqlite->exec(file->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;"
                     "CREATE TABLE IF NOT EXISTS value (scope TEXT, id TEXT, name TEXT, value TEXT,"
                     " expires INTEGER, used INTEGER, PRIMARY KEY (scope, id, name))"
                     " WITHOUT ROWID",
                     NULL, NULL, NULL) != 0)
        return false;
    for (int i = 0; i < QUERIES; i++) {
        if (sqlite->prepare_v2(file->db, queries[i], -1, &file->statements[i], NULL) != 0)
            return false;
    }
    return true;
}

static void close_file(void *of)
{
    struct mk_duda_session_file *file = of;

    for (int i = 0; i < QUERIES; i++) {
        if (file->statements[i])
            (void)file->sqlite.calls.finalize(file->statements[i]);
    }
    if (file->db)
        (void)file->sqlite.calls.close_v2(file->db);
    if (file->library)
        (void)dlclose(file->library);
    free(file);
}

struct mk_duda_session_file *mk_duda_session_file_open(const char *path, const char *scope,
                                                       char *why, size_t size)
{
    struct mk_duda_session_file *file = calloc(1, sizeof(*file) + strlen(scope) + 1);
    bool is_open = false, has_calls = file && find_calls(file);

    (void)snprintf(why, size, "%s", file ? "there is no libsqlite3.so.0" : "no memory");
    if (has_calls) {
        memcpy(file->scope, scope, strlen(scope));
        is_open = open_private(file, path);
        (void)snprintf(why, size, "%s", strerror(errno));
    }
    if (is_open && set_up(file))
        return file;
    if (is_open)
        (void)snprintf(why, size, "%s", file->sqlite.calls.errmsg(file->db));
    if (file)
        close_file(file);
    return NULL;
}

/* Texts are borrowed: they live until the statement is reset. */
static void bind_to(struct mk_duda_session_file *file, enum query query, int n, const char *text)
{
    (void)file->sqlite.calls.bind_text(file->statements[query], n, text, -1, NULL);
}

/* @return a statement of this service and identity, to be run */
static void *begin(struct mk_duda_session_file *file, enum query query, const char *id)
{
    bind_to(file, query, 1, file->scope);
    if (id)
        bind_to(file, query, 2, id);
    return file->statements[query];
}

static int run(struct mk_duda_session_file *file, enum query query)
{
    int result = file->sqlite.calls.step(file->statements[query]) == DONE ? 0 : -1;

    (void)file->sqlite.calls.reset(file->statements[query]);
    return result;
}

static int put(void *of, const char *id, const char *name, const char *value, int64_t expires,
               int64_t used)
{
    struct mk_duda_session_file *file = of;
    void *statement = begin(file, PUT, id);

    bind_to(file, PUT, 3, name);
    bind_to(file, PUT, 4, value);
    (void)file->sqlite.calls.bind_int64(statement, 5, expires);
    (void)file->sqlite.calls.bind_int64(statement, 6, used);
    return run(file, PUT);
}

static void remove_value(void *file, const char *id, const char *name)
{
    (void)begin(file, REMOVE, id);
    bind_to(file, REMOVE, 3, name);
    (void)run(file, REMOVE);
}

static void rename_all(void *file, const char *from, const char *to)
{
    (void)begin(file, RENAME, from);
    bind_to(file, RENAME, 3, to);
    (void)run(file, RENAME);
}

static void forget(void *of, int64_t idle_s, int64_t now)
{
    struct mk_duda_session_file *file = of;
    void *statement = begin(file, FORGET, NULL);

    (void)file->sqlite.calls.bind_int64(statement, 2, now);
    (void)file->sqlite.calls.bind_int64(statement, 3, idle_s);
    (void)run(file, FORGET);
}

static void each(void *of, sessions_row_fn row, void *arg)
{
    struct mk_duda_session_file *file = of;
    const struct library *sqlite = &file->sqlite.calls;
    void *statement = begin(file, EACH, NULL);

    while (sqlite->step(statement) == ROW) {
        const char *texts[3];

        for (int i = 0; i < 3; i++)
            texts[i] = (const char *)sqlite->column_text(statement, i);
        if (texts[0] && texts[1] && texts[2])
            row(arg, texts[0], texts[1], texts[2], sqlite->column_int64(statement, 3),
                sqlite->column_int64(statement, 4));
    }
    (void)sqlite->reset(statement);
}

const struct sessions_file mk_duda_session_file = {
    .each = each,
    .put = put,
    .remove = remove_value,
    .rename = rename_all,
    .forget = forget,
    .close = close_file,
};
