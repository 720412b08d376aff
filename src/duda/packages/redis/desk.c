/* SPDX-License-Identifier: Apache-2.0 */
#include "desk.h"

#include "remote/home.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- answers ---- */

/* Services were compiled with a struct of another name. */
#define SAME(member)                                                                               \
    _Static_assert(offsetof(redisReply, member) == offsetof(struct mk_redis_reply, member),        \
                   "an answer of services reads like ours")
SAME(type);
SAME(integer);
SAME(len);
SAME(str);
SAME(elements);
SAME(element);
_Static_assert(sizeof(redisReply) == sizeof(struct mk_redis_reply), "likewise");

const redisReply *redis_published(const struct mk_redis_reply *reply)
{
    return (const redisReply *)(const void *)reply;
}

struct told {
    const struct redis_wish *wish;
    struct redis_answer answer;
};

static void call_service(duda_request_t *dr, void *arg)
{
    const struct told *told = arg;

    if (told->wish->fn)
        told->wish->fn(dr, &told->answer, told->wish->arg);
}

static int result_of(int error)
{
    switch (error) {
    case 0:
        return REDIS_OK;
    case MK_E_INVALID:
        return REDIS_REFUSED;
    case MK_E_TIMEOUT:
        return REDIS_TIMEOUT;
    case MK_E_PEER:
        return REDIS_DOWN;
    case MK_E_EOF:
        return REDIS_LOST;
    case MK_E_BAD:
        return REDIS_MALFORMED;
    default:
        return REDIS_FULL;
    }
}

void redis_desk_tell(struct redis_pool *pool, struct redis_call *c,
                     const struct mk_redis_answer *answer)
{
    struct redis_wish *wish = (struct redis_wish *)(void *)c;
    struct told told = {wish,
                        {.result = result_of(answer->result),
                         .reply = redis_published(answer->reply),
                         .text = answer->text}};

    (void)pool;
    parking_leave(wish->parking, call_service, &told);
}

/* ---- commands ---- */

int redis_desk_run(struct redis_desk *desk, struct redis_wish *wish, unsigned ms,
                   duda_request_t *dr)
{
    int err = MK_E_BUSY;

    if (redis_pool_refuses(&wish->base))
        return REDIS_REFUSED;
    wish->parking = dr ? parking_enter(&desk->lot, dr) : NULL;
    if (!dr || wish->parking)
        err = redis_pool_run(&desk->base, &wish->base, ms);
    if (err < 0)
        parking_cancel(wish->parking);
    return result_of(err);
}

/* ---- life ---- */

struct redis_desk *redis_desk_new(struct redis_client *client)
{
    struct redis_desk *desk = calloc(1, sizeof(*desk));
    struct remote_home home;

    if (!desk)
        return NULL;
    desk->ear.desk = desk;
    if (remote_home_here(&home) == 0 && redis_pool_init(&desk->base, &client->base, &home) == 0)
        return desk;
    free(desk);
    return NULL;
}

void redis_desk_free(struct redis_desk *desk)
{
    redis_ear_end(&desk->ear);
    redis_pool_fini(&desk->base);
    parking_lot_end(&desk->lot);
    free(desk);
}
