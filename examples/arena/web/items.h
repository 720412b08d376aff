/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARENA_ITEMS_H
#define ARENA_ITEMS_H

#include <monkey/web.h>

enum { ITEMS_MAX = 50, ITEM_TAGS = 8 };

struct item {
    int64_t id, price, quantity, score, count;
    struct mk_str name, category;
    struct mk_str tags[ITEM_TAGS];
    size_t ntags;
    bool active;
};

struct items {
    char *text; /* what the items' texts point to */
    struct item all[ITEMS_MAX];
    size_t count;
};

/**
 * Read a file of a line for each item: id, name, category, price, quantity, active, tags with commas between, score and count of
 * the rating, with tabs between.
 * @return 0; -1: it cannot be read, a line is malformed, or there are more than ITEMS_MAX.
 */
int items_read(struct items *items, const char *path);
void items_free(struct items *items);

/** @param factor  of the total */
void item_write(struct mk_json *j, const struct item *item, int64_t factor);

#endif
