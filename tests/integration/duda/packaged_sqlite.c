/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/sqlite/sqlite.h"

DUDA_REGISTER("tests", "sqlite of 2012");

static sqlite_db_t *db;

static void show(duda_request_t *dr, int status, const char *text)
{
    response->http_status(dr, status);
    response->printf(dr, "%s", text);
    response->end(dr, NULL);
}

static int row(void *cb_data, int n, char **values, char **names)
{
    struct sqlite_cb_data *first = cb_data;

    response->printf(first->dr, "%s%s=%s;", (char *)first->data, names[0], values[0]);
    return 0;
}

static void rows(duda_request_t *dr)
{
    sqlite_handle_t *handle;

    response->http_status(dr, 200);
    sqlite->exec(dr, db,
                 "DELETE FROM t; INSERT INTO t VALUES (1, 1.5, 'one'); INSERT INTO t VALUES (2, "
                 "2.5, 'two');",
                 NULL, NULL);
    sqlite->exec(dr, db, "SELECT n FROM t", row, "row ");
    if (sqlite->dump(db, "SELECT n, d, t FROM t ORDER BY n", &handle) == 0) {
        SQLITE_FOREACH(handle)
        response->printf(dr, " %d %g %s", sqlite->get_int(handle, 0), sqlite->get_double(handle, 1),
                         sqlite->get_text(handle, 2));
        response->printf(dr, " done %d", sqlite->done(handle));
        response->printf(dr, " %d", sqlite->done(handle)); /* refused, not a crash */
    }
    response->end(dr, NULL);
}

static void wrong(duda_request_t *dr)
{
    sqlite_handle_t *handle = (sqlite_handle_t *)dr;
    int is_refused = sqlite->dump(db, "SELECT x FROM nothing", &handle) == -1 && !handle;

    is_refused &= sqlite->dump(NULL, "SELECT 1", &handle) == -1 &&
                  sqlite->dump(db, NULL, &handle) == -1 && sqlite->dump(db, "SELECT 1", NULL) == -1;
    is_refused &= sqlite->step(NULL) == -1 && sqlite->done(NULL) == -1 &&
                  sqlite->get_int(NULL, 0) == 0 && sqlite->get_double(NULL, 0) == 0 &&
                  !sqlite->get_text(NULL, 0);
    is_refused &= sqlite->exec(dr, db, "no statement", NULL, NULL) == -1 &&
                  sqlite->exec(dr, NULL, "", NULL, NULL) == -1 && sqlite->close(NULL) == -1 &&
                  !sqlite->open(NULL) && !sqlite->open("/nothing/here/x.db");
    show(dr, 200, is_refused ? "all refused" : "accepted");
}

static void close_twice(duda_request_t *dr)
{
    sqlite_db_t *other = sqlite->open(":memory:");
    int first = sqlite->close(other), second = sqlite->close(other);

    show(dr, 200, first == 0 && second == -1 ? "closed once" : "wrong");
}

int duda_main()
{
    duda_load_package(sqlite, "sqlite");
    db = sqlite->open(DATABASE);
    if (sqlite->exec(NULL, db, "CREATE TABLE IF NOT EXISTS t (n INTEGER, d REAL, t TEXT)", NULL,
                     NULL) != 0)
        return 1;
    map->static_add_ref("/rows", rows);
    map->static_add_ref("/wrong", wrong);
    map->static_add_ref("/close", close_twice);
    return 0;
}
