/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_TABLE_H
#define MK_DUDA_SERVICE_TABLE_H

#include "service/request.h"

/*
 * The requests that live on a worker. Services keep pointers to requests that may be over, so a pointer is looked up before
 * anything of it is read; and the memory of one that is over is used last again, so that an old pointer seldom
 * names another client's request.
 */
struct mk_duda_table;

struct mk_duda_table *mk_duda_table_new(void);
void mk_duda_table_free(struct mk_duda_table *t);

/** @return a zeroed request in the table; NULL without memory. */
struct mk_duda_request *mk_duda_table_add(struct mk_duda_table *t);
/** Take it out: it is not found any more. */
void mk_duda_table_remove(struct mk_duda_table *t, struct mk_duda_request *rq);
/** Give its memory back, after it was taken out. */
void mk_duda_table_drop(struct mk_duda_table *t, struct mk_duda_request *rq);

/** @param dr  anything. @return whether it is in the table. */
bool mk_duda_table_has(struct mk_duda_table *t, const duda_request_t *dr);
/** @return whether a request in the table has this socket. */
bool mk_duda_table_has_socket(const struct mk_duda_table *t, int socket);

#endif
