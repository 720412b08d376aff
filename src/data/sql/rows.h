/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_SQL_ROWS_H
#define MK_DATA_SQL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* Rows of an answer, gathered one by one. Pure. */

struct rows {
    char *bytes; /* texts with terminators: names, then values */
    size_t len, room, max;
    size_t *ends; /* of the names and values, behind the terminator */
    size_t ncells, cells_room;
    unsigned ncolumns;
    size_t nrows;
};

/* An end with this bit is that of a null. */
#define ROWS_NULL (~(~(size_t)0 >> 1))

enum rows_result { ROWS_FULL = -2, ROWS_NOMEM = -1, ROWS_OK = 0 };

/** @param max  bytes. @param rows  zeroed */
void rows_init(struct rows *rows, size_t max);
void rows_fini(struct rows *rows);

/** Add a name of a column, before all rows; a value NULL is null. */
enum rows_result rows_add(struct rows *rows, const char *text, size_t len);
/** Forget all of it: another result begins. */
void rows_clear(struct rows *rows);

/** @param cell  0: the first name. @return terminated; NULL: it is null, or there is none */
const char *rows_text(const struct rows *rows, size_t cell, size_t *len);

#endif
