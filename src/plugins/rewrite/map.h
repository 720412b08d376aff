/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REWRITE_MAP_H
#define REWRITE_MAP_H

#include <monkey/types.h>

/*
 * A file of moved addresses: lines `/old /new` and perhaps a status, found in constant time. An old address is a path,
 * percent-encoded or not, and perhaps a query; one with a query matches only requests with it.
 */

enum {
    MAP_FILE_MAX = 32 << 20, /* bytes */
    MAP_LINES_MAX = 1 << 20,
    MAP_ADDRESS_MAX = 8000, /* bytes of each address */
};

struct map_line {
    uint32_t from, to; /* offsets in the text */
    uint16_t from_len, to_len;
    uint32_t number; /* of the line */
    uint16_t status;
};

struct map {
    char *text;
    struct map_line *lines;
    uint32_t *slots; /* a line's index + 1; 0: free */
    uint32_t nlines, mask;
};

struct map_fault {
    uint32_t line;
    const char *why;    /* a sentence without full stop; static */
    uint32_t same_line; /* 0, or another line with the same address */
};

/** @return how many lines with addresses the text may have at most: for the arrays. */
uint32_t rewrite_map_count(struct mk_str text);
/** @return slots for so many lines: a power of two, at most half full. */
uint32_t rewrite_map_slots(uint32_t nlines);

/**
 * @param text   changed: addresses are decoded in place; borrowed
 * @param lines  room for rewrite_map_count
 * @param slots  zeroed, rewrite_map_slots(rewrite_map_count)
 * @return 0, or MK_E_INVALID with a fault.
 */
int rewrite_map_read(struct map *m, char *text, size_t len, struct map_line *lines, uint32_t *slots,
                     uint32_t nslots, struct map_fault *fault);

/** @param query  p NULL: none. @return the line of the old address; NULL: it is not there. */
const struct map_line *rewrite_map_find(const struct map *m, struct mk_str path,
                                        struct mk_str query);
/** @return the new address of a line. */
struct mk_str rewrite_map_target(const struct map *m, const struct map_line *line);

#endif
