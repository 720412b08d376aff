/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_TABLE_H
#define MK_DUDA_SERVICE_TABLE_H

#include "service/request.h"

/*
 * The requests that live on a worker. Services keep pointers to requests that may be over, so a pointer is looked up before
 * anything of it is read; and the memory of one that is over is used last again, so that an old pointer seldom
 * names another client's request.
 */
enum { MK_DUDA_TABLE_BUCKETS = 256 };

/** table.c's own, but that the request that was made or found last is found in place. */
struct mk_duda_table {
    const duda_request_t *recent; /* its service asks several times; NULL: none */
    struct mk_duda_request *buckets[MK_DUDA_TABLE_BUCKETS];
    struct mk_duda_request *dropped, **last; /* first-in, first-out */
    unsigned ndropped;
};

struct mk_duda_table *mk_duda_table_new(void);
void mk_duda_table_free(struct mk_duda_table *t);

/** @return a zeroed request in the table; NULL without memory. */
struct mk_duda_request *mk_duda_table_add(struct mk_duda_table *t);
/** Take it out: it is not found any more. */
void mk_duda_table_remove(struct mk_duda_table *t, struct mk_duda_request *rq);
/** Give its memory back, after it was taken out. */
void mk_duda_table_drop(struct mk_duda_table *t, struct mk_duda_request *rq);

/** mk_duda_table_has, of one that is not the recent one. */
bool mk_duda_table_finds(struct mk_duda_table *t, const duda_request_t *dr);
/** @param dr  anything. @return whether it is in the table. */
static inline bool mk_duda_table_has(struct mk_duda_table *t, const duda_request_t *dr)
{
    return dr && (t->recent == dr || mk_duda_table_finds(t, dr));
}
/** @return whether a request in the table has this socket. */
bool mk_duda_table_has_socket(const struct mk_duda_table *t, int socket);

#endif
