/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_BUF_H
#define MK_BASE_BUF_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * A growable byte buffer with a ceiling. A failed append marks the buffer and later appends do
 * nothing, so a writer may check once at the end.
 */
struct mk_buf {
    char *p;
    size_t len, cap, max;
    int error; /* 0, MK_E_NOMEM or MK_E_LIMIT: the first that happened */
};

/** An empty buffer that may grow to max bytes; allocates nothing yet. */
void mk_buf_init(struct mk_buf *b, size_t max);
void mk_buf_fini(struct mk_buf *b);

/** @return 0, or b->error. */
int mk_buf_append(struct mk_buf *b, const void *data, size_t len);
int mk_buf_append_str(struct mk_buf *b, struct mk_str s);
int mk_buf_printf(struct mk_buf *b, const char *fmt, ...) MK_PRINTF(2, 3);

/**
 * Room for len more bytes, for the caller to fill and then add to b->len.
 * @return where to write, or NULL with b->error set.
 */
char *mk_buf_reserve(struct mk_buf *b, size_t len);

/** What is in it, borrowed until the next change. */
static inline struct mk_str mk_buf_str(const struct mk_buf *b)
{
    return (struct mk_str){b->p, b->len};
}

#endif
