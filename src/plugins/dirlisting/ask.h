/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_ASK_H
#define DIRLISTING_ASK_H

#include <monkey/types.h>

#include <stdbool.h>

/* What a client wants of a listing: its query, and its Accept. */

enum dirlisting_sort {
    DIRLISTING_BY_NAME,
    DIRLISTING_BY_TIME,
    DIRLISTING_BY_SIZE,
};

struct dirlisting_ask {
    enum dirlisting_sort sort;
    bool descending;
};

/** `sort=name|time|size` and `order=asc|desc`, by name and ascending when unsaid. What else a query says is not ours and is left out. */
struct dirlisting_ask dirlisting_ask_of(struct mk_str query);

/** "name", "time" or "size", as in the query. */
struct mk_str dirlisting_sort_name(enum dirlisting_sort sort);

/** How much a client wants one media type: the most specific range counts, RFC 9110 section 12.5.1. */
struct dirlisting_wish {
    unsigned specific; /* 0: not mentioned; 1: by `*` `/` `*`; 2: by its type; 3: by name */
    unsigned weight;   /* thousandths */
};

struct dirlisting_accept {
    struct dirlisting_wish html, json;
};

/** Take in one Accept line. Zeroed before the first; members that are malformed count as absent. */
void dirlisting_accept_add(struct dirlisting_accept *a, struct mk_str value);

/** Is JSON wanted more than HTML? When both weigh the same, what was named wins over what was only meant by a star. */
bool dirlisting_accept_json(const struct dirlisting_accept *a);

#endif
