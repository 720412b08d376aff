/* SPDX-License-Identifier: Apache-2.0 */
#include "service/table.h"

#include "kit/pure/zero.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = MK_DUDA_TABLE_BUCKETS,
    RESTING = 32 /* dropped requests that are not used again yet */
};

static unsigned bucket_of(const void *p)
{
    uintptr_t n = (uintptr_t)p / 64;

    return (unsigned)((n ^ (n >> 8)) % BUCKETS);
}

struct mk_duda_table *mk_duda_table_new(void)
{
    struct mk_duda_table *t = calloc(1, sizeof(*t));

    if (t)
        t->last = &t->dropped;
    return t;
}

static struct mk_duda_request *take_dropped(struct mk_duda_table *t)
{
    struct mk_duda_request *rq = t->dropped;

    t->dropped = rq->next;
    if (!t->dropped)
        t->last = &t->dropped;
    t->ndropped--;
    return rq;
}

void mk_duda_table_free(struct mk_duda_table *t)
{
    while (t && t->dropped)
        free(take_dropped(t));
    free(t);
}

struct mk_duda_request *mk_duda_table_add(struct mk_duda_table *t)
{
    struct mk_duda_request *rq, **bucket;

    rq = t->ndropped > RESTING ? take_dropped(t) : malloc(sizeof(*rq));
    if (!rq)
        return NULL;
    zero_by_call(rq, sizeof(*rq));
    bucket = &t->buckets[bucket_of(rq)];
    rq->next = *bucket;
    *bucket = rq;
    t->recent = &rq->dr;
    return rq;
}

void mk_duda_table_remove(struct mk_duda_table *t, struct mk_duda_request *rq)
{
    struct mk_duda_request **at = &t->buckets[bucket_of(rq)];

    if (t->recent == &rq->dr)
        t->recent = NULL;
    while (*at && *at != rq)
        at = &(*at)->next;
    if (*at)
        *at = rq->next;
}

void mk_duda_table_drop(struct mk_duda_table *t, struct mk_duda_request *rq)
{
    rq->next = NULL;
    *t->last = rq;
    t->last = &rq->next;
    t->ndropped++;
    while (t->ndropped > 2 * RESTING)
        free(take_dropped(t));
}

bool mk_duda_table_finds(struct mk_duda_table *t, const duda_request_t *dr)
{
    const struct mk_duda_request *rq = t->buckets[bucket_of(dr)];

    while (rq && &rq->dr != dr)
        rq = rq->next;
    if (rq)
        t->recent = dr;
    return rq;
}

bool mk_duda_table_has_socket(const struct mk_duda_table *t, int socket)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (const struct mk_duda_request *rq = t->buckets[i]; rq; rq = rq->next) {
            if (rq->dr.socket == socket)
                return socket >= 0;
        }
    }
    return false;
}
