/* SPDX-License-Identifier: Apache-2.0 */
#include "fifo.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_MIN = 512, PIECE_MAX = 64 << 10 };

struct mk_py_piece {
    struct mk_py_piece *next;
    size_t at, end, size; /* of bytes: the first, behind the last, the room */
    char bytes[];
};

/* Small answers have a piece as large as they are; a crowd of small bytes shares one. */
static struct mk_py_piece *add_piece(struct mk_py_fifo *f, size_t len)
{
    size_t size = f->first && len < PIECE_MAX ? PIECE_MAX : len > PIECE_MIN ? len : PIECE_MIN;
    struct mk_py_piece *piece = malloc(sizeof(*piece) + size);

    if (!piece)
        return NULL;
    *piece = (struct mk_py_piece){.size = size};
    if (f->first)
        f->last->next = piece;
    else
        f->first = piece;
    f->last = piece;
    return piece;
}

bool mk_py_fifo_push(struct mk_py_fifo *f, const char *bytes, size_t len)
{
    struct mk_py_piece *piece = f->last;

    if (len == 0)
        return true;
    if (!piece || piece->size - piece->end < len)
        piece = add_piece(f, len);
    if (!piece)
        return false;
    memcpy(piece->bytes + piece->end, bytes, len);
    piece->end += len;
    f->len += len;
    return true;
}

static void drop_first(struct mk_py_fifo *f)
{
    struct mk_py_piece *piece = f->first;

    f->first = piece->next;
    if (!f->first)
        f->last = NULL;
    free(piece);
}

size_t mk_py_fifo_pull(struct mk_py_fifo *f, char *dst, size_t len)
{
    size_t taken = 0;

    while (f->first && taken < len) {
        struct mk_py_piece *piece = f->first;
        size_t n = piece->end - piece->at;

        if (n > len - taken)
            n = len - taken;
        memcpy(dst + taken, piece->bytes + piece->at, n);
        piece->at += n;
        taken += n;
        if (piece->at == piece->end)
            drop_first(f);
    }
    f->len -= taken;
    return taken;
}

const char *mk_py_fifo_whole(const struct mk_py_fifo *f)
{
    return f->first && !f->first->next ? f->first->bytes + f->first->at : NULL;
}

void mk_py_fifo_clear(struct mk_py_fifo *f)
{
    while (f->first)
        drop_first(f);
    f->len = 0;
}
