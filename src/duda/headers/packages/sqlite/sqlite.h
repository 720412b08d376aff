/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SQLITE_H
#define DUDA_PACKAGE_SQLITE_H
#include <sqlite3.h>
#include "duda_api.h"
typedef sqlite3 sqlite_db_t;
typedef sqlite3_stmt sqlite_handle_t;
struct sqlite_cb_data {
    duda_request_t *dr;
    void *data;
}; /* first argument of an exec() row callback */
struct duda_api_sqlite {
    sqlite3 *(*open)(const char *path); /* [M] exits the server on failure; sets synchronous=OFF */
    int (*dump)(sqlite3 *db, const char *query, sqlite3_stmt **handle); /* prepare */
    int (*step)(sqlite3_stmt *handle); /* SQLITE_ROW, 0 = no more rows, -1 */
    int (*get_int)(sqlite3_stmt *handle, int col);
    double (*get_double)(sqlite3_stmt *handle, int col);
    const unsigned char *(*get_text)(sqlite3_stmt *handle, int col);
    int (*done)(sqlite3_stmt *handle); /* mandatory after dump() */
    int (*exec)(duda_request_t *dr, sqlite3 *db, const char *query,
                int (*row)(void *cb_data, int n, char **values, char **names), void *data);
    int (*close)(sqlite3 *db);
};
typedef struct duda_api_sqlite sqlite_object_t;
DUDA_OBJ sqlite_object_t *sqlite;
#define SQLITE_FOREACH(handle) while (sqlite->step(handle) == SQLITE_ROW)
#define sqlite_foreach(handle) SQLITE_FOREACH(handle)
#endif
