/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARENA_H
#define ARENA_H

#include "webservice.h"
#include "packages/json/json.h"

enum { ITEM_TAGS = 8 };

struct item {
    long id, price, quantity, score, count;
    int is_active;
    char *name, *category, *tags[ITEM_TAGS];
    int ntags;
};

/** Read the items of a file, which last as long as the service. @return 0 or -1 */
int items_load(const char *path);
/** Routes of items.c and store.c. */
void items_routes(void);
void store_routes(void);
/** Connect to the database of DATABASE_URL, if there is one; in duda_main(). @return 0 or -1 */
int store_open(void);

#endif
