/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include <stdlib.h>
#include <string.h>

/* Rows as texts. Values of statements come into cells; those that are longer into room of their own. */

void ma_rows_free(struct mariadb_query *q)
{
    free((void *)q->fields);
    free(q->binds);
    free(q->spill);
    q->fields = q->row = NULL;
    q->binds = NULL;
    q->spill = NULL;
    q->spill_room = 0;
    q->columns = 0;
}

/* Names are borrowed from the result. */
static int set_fields(struct mariadb_query *q, MYSQL_RES *result)
{
    const unsigned n = mysql_num_fields(result);
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);

    ma_rows_free(q);
    q->fields = malloc((2 * (size_t)n + 1) * sizeof(char *));
    if (!q->fields)
        return -1;
    q->row = q->fields + n;
    q->columns = n;
    for (unsigned i = 0; i < n; i++)
        q->fields[i] = fields[i].name;
    return 0;
}

int ma_rows_of_text(struct mariadb_query *q, MYSQL_RES *result)
{
    return set_fields(q, result);
}

static void bind_cells(struct mariadb_query *q)
{
    for (unsigned i = 0; i < q->columns; i++)
        q->binds[i] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING,
                                   .buffer = q->cells + (size_t)i * MA_CELL,
                                   .buffer_length = MA_CELL - 1,
                                   .length = &q->lengths[i],
                                   .is_null = &q->nulls[i]};
}

/* Names have to outlive their result, which goes before the rows come. */
static char *copy_names(struct mariadb_query *q, char *to)
{
    for (unsigned i = 0; i < q->columns; i++) {
        char *end = stpcpy(to, q->fields[i]);

        q->fields[i] = to;
        to = end + 1;
    }
    return to;
}

int ma_rows_of_stmt(struct mariadb_query *q, MYSQL_STMT *stmt, MYSQL_RES *names)
{
    size_t n, names_size = 0;

    if (set_fields(q, names) < 0)
        return -1;
    n = q->columns;
    for (size_t i = 0; i < n; i++)
        names_size += strlen(q->fields[i]) + 1;
    q->binds = malloc(n * (sizeof(*q->binds) + sizeof(*q->lengths) + sizeof(*q->nulls) + MA_CELL) +
                      names_size + 1); /* a statement without columns has none of them */
    if (!q->binds)
        return -1;
    q->lengths = (unsigned long *)(void *)(q->binds + n);
    q->nulls = (my_bool *)(void *)(q->lengths + n);
    q->cells = (char *)(q->nulls + n);
    (void)copy_names(q, q->cells + n * MA_CELL);
    bind_cells(q);
    return mysql_stmt_bind_result(stmt, q->binds) ? -1 : 0;
}

void ma_rows_begin(struct mariadb_query *q)
{
    q->rows = 0;
    if (q->on_result && db_query_is_wanted(&q->base))
        q->on_result(q->base.priv, q, q->columns, q->fields, db_guest_request(q->base.guest));
}

static void tell_row(struct mariadb_query *q)
{
    duda_request_t *dr = db_guest_request(q->base.guest);

    q->is_in_row = true;
    if (q->on_own_row)
        q->on_own_row(q->base.priv, q, q->columns, q->fields, q->row, dr);
    else if (q->on_row)
        q->on_row(q->base.priv, q->columns, q->fields, q->row, dr);
    q->is_in_row = false;
}

void ma_row_of_text(struct mariadb_query *q, MYSQL_ROW row, const unsigned long *lengths)
{
    q->rows++;
    if (!db_query_is_wanted(&q->base))
        return;
    memcpy((void *)q->row, (const void *)row, q->columns * sizeof(*q->row));
    q->lengths = (unsigned long *)(uintptr_t)lengths;
    tell_row(q);
}

static size_t room_for_long(const struct mariadb_query *q)
{
    size_t size = 0;

    for (unsigned i = 0; i < q->columns; i++)
        size += !q->nulls[i] && q->lengths[i] >= MA_CELL ? q->lengths[i] + 1 : 0;
    return size;
}

static int make_room(struct mariadb_query *q, size_t size)
{
    char *more;

    if (size <= q->spill_room)
        return 0;
    more = realloc(q->spill, size);
    if (!more)
        return -1;
    q->spill = more;
    q->spill_room = size;
    return 0;
}

static int take_long(struct mariadb_query *q, MYSQL_STMT *stmt, unsigned column, char *to)
{
    MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                       .buffer = to,
                       .buffer_length = q->lengths[column],
                       .length = &bind.length_value};

    q->row[column] = to;
    to[q->lengths[column]] = '\0';
    return mysql_stmt_fetch_column(stmt, &bind, column, 0) ? -1 : 0;
}

int ma_row_of_stmt(struct mariadb_query *q, MYSQL_STMT *stmt)
{
    char *to;

    q->rows++;
    if (!db_query_is_wanted(&q->base))
        return 0;
    if (make_room(q, room_for_long(q)) < 0)
        return -1;
    to = q->spill;
    for (unsigned i = 0; i < q->columns; i++) {
        char *cell = q->cells + (size_t)i * MA_CELL;

        q->row[i] = q->nulls[i] ? NULL : cell;
        if (q->nulls[i])
            continue;
        if (q->lengths[i] < MA_CELL) {
            cell[q->lengths[i]] = '\0';
            continue;
        }
        if (take_long(q, stmt, i, to) < 0)
            return -1;
        to += q->lengths[i] + 1;
    }
    tell_row(q);
    return 0;
}
