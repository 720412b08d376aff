/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/database.h"

#include <stdlib.h>
#include <string.h>

/* Statements that a connection has prepared, in a list without gaps. */

static struct db_kept *end_of(struct db_conn *c)
{
    struct db_kept *k = c->kept;

    while (k < c->kept + DB_KEPT_MAX && k->sql)
        k++;
    return k;
}

struct db_kept *db_kept_find(struct db_conn *c, const char *sql)
{
    for (struct db_kept *k = c->kept; k < end_of(c); k++) {
        if (strcmp(k->sql, sql) == 0)
            return k;
    }
    return NULL;
}

struct db_kept *db_kept_add(struct db_conn *c, const char *sql)
{
    struct db_kept *k = end_of(c);

    if (k == c->kept + DB_KEPT_MAX)
        return NULL;
    k->sql = strdup(sql);
    k->serial = ++c->serial;
    k->handle = NULL;
    return k->sql ? k : NULL;
}

/* The last takes its place. */
void db_kept_forget(struct db_conn *c, const char *sql)
{
    struct db_kept *k = db_kept_find(c, sql), *last = end_of(c) - 1;

    if (!k)
        return;
    free(k->sql);
    *k = *last;
    last->sql = NULL;
}
