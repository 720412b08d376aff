/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_FIFO_H
#define MK_PY_FIFO_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes between two threads, in the order in which they came; zeroed at first. The caller locks. */
struct mk_py_piece;
struct mk_py_fifo {
    struct mk_py_piece *first, *last;
    size_t len; /* bytes in it */
};

/** Add a copy of bytes. @return false without memory: nothing was added. */
bool mk_py_fifo_push(struct mk_py_fifo *f, const char *bytes, size_t len);
/** Take at most len bytes from the front. @return bytes taken; 0: it is empty. */
size_t mk_py_fifo_pull(struct mk_py_fifo *f, char *dst, size_t len);
/**
 * Look at all bytes if they lie in one piece.
 * @return borrowed until they are pulled; NULL: it is empty or has several pieces.
 */
const char *mk_py_fifo_whole(const struct mk_py_fifo *f);
void mk_py_fifo_clear(struct mk_py_fifo *f);

#endif
