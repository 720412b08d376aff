/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_READER_H
#define MK_DUDA_MEMCACHED_READER_H

#include "bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Answers of memcached's text protocol, read as they arrive: protocol.txt of its sources. */

/* What was asked decides which answers there may be. */
enum memc_kind {
    MEMC_STORE = 1,
    MEMC_GET = 2,
    MEMC_DELETE = 4,
    MEMC_NUMBER = 8,
    MEMC_TOUCH = 16,
    MEMC_PROBE = 32
};

#define MEMC_READER_STATES(X)                                                                      \
    X(FIRST, "the first line")                                                                     \
    X(VALUE, "bytes of a value")                                                                   \
    X(TAIL, "the line end after a value")                                                          \
    X(END, "the line END")                                                                         \
    X(DONE, "the answer is complete")

enum memc_reader_state {
#define MEMC_STATE(name, meaning) MEMC_READER_##name,
    MEMC_READER_STATES(MEMC_STATE)
#undef MEMC_STATE
};

struct memc_reader {
    enum memc_reader_state state;
    enum memc_kind kind;
    const char *key; /* of MEMC_GET, borrowed */
    size_t key_len, value_max;
    int result;      /* MEMCACHED_OK, _MISS, _NOT_STORED or _REFUSED when it is done */
    bool is_unknown; /* the server may not have understood the command: ERROR or CLIENT_ERROR */
    uint64_t number;
    char *value; /* terminated; owned; NULL: none */
    size_t value_len, value_got, value_room;
    const char *why;          /* after an error, in words */
    size_t line_len;          /* bytes in line */
    char line[MEMC_LINE_MAX]; /* after MEMCACHED_REFUSED the server's own words, terminated */
};

/** Begin an answer. @param key  borrowed until it is complete; what a value must be called */
void memc_reader_begin(struct memc_reader *r, enum memc_kind kind, const char *key, size_t key_len,
                       size_t value_max);

/**
 * Read the next bytes, until the answer is complete: state is MEMC_READER_DONE then.
 * @return bytes used, all of them unless the answer is complete; -1: it is no answer to this command, a line or value is
 *         longer than its bound, or there is no memory: why says it, and the reader must not be fed again
 */
ssize_t memc_reader_feed(struct memc_reader *r, const char *bytes, size_t len);

/** Free the value. The reader can begin again. */
void memc_reader_fini(struct memc_reader *r);

#endif
