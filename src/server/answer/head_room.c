/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/reply.h"

#include "base/heap.h"
#include "base/limits.h"
#include "server/worker/worker.h"

/* Room for heads that are larger than the one that each protocol has ready: few answers of backends are. */

enum { TAIL = 128 }; /* what protocols write behind p->end */

/*
 * Several requests of a worker may have a head that is being written, begun from one callback. What was too small stays until
 * the head is complete: a filter may have borrowed a value in it.
 */
struct mk_head_room {
    struct mk_head_room *next; /* of the worker's, newest first */
    const struct mk_request *of;
    char bytes[];
};

bool mk_reply_has_large_room(const struct mk_reply *p)
{
    const struct mk_head_room *room = p->r->worker->head_room;

    while (room && p->start != room->bytes)
        room = room->next;
    return room;
}

void mk_head_room_free(const struct mk_request *r)
{
    struct mk_head_room **at = &r->worker->head_room;

    while (*at) {
        struct mk_head_room *room = *at;

        if (room->of != r) {
            at = &room->next;
            continue;
        }
        *at = room->next;
        mk_heap_free(room);
    }
}

static void on_request_end(void *arg)
{
    mk_head_room_free(arg);
}

static size_t size_for(size_t need)
{
    size_t size = 2 * (size_t)MK_LIMIT_ANSWER_ROOM;

    while (size < need)
        size *= 2;
    return size < MK_LIMIT_ANSWER_HEAD ? size : MK_LIMIT_ANSWER_HEAD;
}

int mk_reply_grow(struct mk_reply *p, size_t len)
{
    struct mk_worker *w = p->r->worker;
    size_t used = (size_t)(p->at - p->start), size;
    struct mk_head_room *room;

    if (len > MK_LIMIT_ANSWER_HEAD - TAIL || used > MK_LIMIT_ANSWER_HEAD - TAIL - len)
        return MK_E_LIMIT;
    if (!mk_reply_has_large_room(p) && mk_arena_on_free(&p->r->arena, on_request_end, p->r) < 0)
        return MK_E_NOMEM;
    size = size_for(used + len + TAIL);
    room = mk_heap_alloc(sizeof(*room) + size);
    if (!room)
        return MK_E_NOMEM;
    memcpy(room->bytes, p->start, used);
    room->of = p->r;
    room->next = w->head_room;
    w->head_room = room;
    p->start = room->bytes;
    p->at = p->start + used;
    p->end = p->start + size - TAIL;
    return 0;
}
