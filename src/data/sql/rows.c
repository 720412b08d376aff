/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/rows.h"

#include <stdlib.h>
#include <string.h>

void rows_init(struct rows *rows, size_t max)
{
    rows->max = max;
}

void rows_fini(struct rows *rows)
{
    free(rows->bytes);
    free(rows->ends);
}

void rows_clear(struct rows *rows)
{
    rows->len = rows->ncells = rows->nrows = 0;
    rows->ncolumns = 0;
}

/* Where a cell counts as one more word, so that nulls have a bound, too. */
static bool is_above(const struct rows *rows, size_t more)
{
    return more > rows->max || rows->len + (rows->ncells + 1) * sizeof(size_t) > rows->max - more;
}

static int grow_bytes(struct rows *rows, size_t need)
{
    const size_t room = need < 2 * rows->room ? 2 * rows->room : need + 256;
    char *bytes = need > rows->room ? realloc(rows->bytes, room) : rows->bytes;

    if (!bytes)
        return need > 0 ? -1 : 0;
    if (need > rows->room)
        rows->room = room;
    rows->bytes = bytes;
    return 0;
}

static int grow_cells(struct rows *rows)
{
    const size_t room = rows->cells_room ? 2 * rows->cells_room : 32;
    size_t *ends;

    if (rows->ncells < rows->cells_room)
        return 0;
    ends = realloc(rows->ends, room * sizeof(*ends));
    if (!ends)
        return -1;
    rows->ends = ends;
    rows->cells_room = room;
    return 0;
}

enum rows_result rows_add(struct rows *rows, const char *text, size_t len)
{
    const size_t more = text ? len + 1 : 0;

    if (is_above(rows, more))
        return ROWS_FULL;
    if (grow_bytes(rows, rows->len + more) < 0 || grow_cells(rows) < 0)
        return ROWS_NOMEM;
    if (text) {
        memcpy(rows->bytes + rows->len, text, len);
        rows->bytes[rows->len + len] = '\0';
        rows->len += more;
    }
    rows->ends[rows->ncells++] = text ? rows->len : rows->len | ROWS_NULL;
    return ROWS_OK;
}

const char *rows_text(const struct rows *rows, size_t cell, size_t *len)
{
    size_t begin;

    *len = 0;
    if (cell >= rows->ncells || rows->ends[cell] & ROWS_NULL)
        return NULL;
    begin = cell > 0 ? rows->ends[cell - 1] & ~ROWS_NULL : 0;
    *len = rows->ends[cell] - begin - 1;
    return rows->bytes + begin;
}
