/* SPDX-License-Identifier: Apache-2.0 */
#include "service/request.h"

#include "kit/clock/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call-back that keeps its worker for longer is reported, as a handler of a program is: monkey/web/router.h. */
enum { HELD_MS = 500 };

static __thread struct mk_duda_here here;

/* The call into a service from outside that runs on this thread, with all that it calls in turn. */
static __thread struct {
    int64_t begun_ms;
    const char
        *callback; /* of the last request that it was for, as long as the service; NULL: of none */
} turn;

static void begin_turn(const char *callback)
{
    if (!here.service) {
        turn.begun_ms = clock_tick_ms();
        turn.callback = NULL;
    }
    if (callback)
        turn.callback = callback;
}

static void end_turn(void)
{
    const int64_t held_ms = here.worker ? clock_tick_ms() - turn.begun_ms : 0;

    if (held_ms > HELD_MS)
        mk_duda_log(here.service, MK_LOG_WARN, "call-back %s blocked its worker ms=%lld",
                    turn.callback ? turn.callback : "of no request", (long long)held_ms);
}

const struct mk_duda_here *mk_duda_here(void)
{
    return &here;
}

struct mk_duda_here mk_duda_enter(struct mk_duda_service *service, struct mk_duda_worker *worker)
{
    struct mk_duda_here before = here;

    begin_turn(NULL);
    here = (struct mk_duda_here){service, worker, NULL};
    return before;
}

struct mk_duda_here mk_duda_enter_request(const struct mk_duda_request *rq)
{
    struct mk_duda_here before = here;

    begin_turn(rq->callback);
    here = (struct mk_duda_here){rq->service, rq->worker, rq};
    return before;
}

void mk_duda_leave(struct mk_duda_here before)
{
    if (!before.service && here.service)
        end_turn();
    here = before;
}

/* ---- memory ---- */

struct mk_duda_block {
    struct mk_duda_block *next;
    max_align_t bytes[];
};

void *mk_duda_alloc(struct mk_duda_service *s, size_t size)
{
    struct mk_duda_block *block = calloc(1, sizeof(*block) + size);

    if (!block)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block->bytes;
}

void mk_duda_free_blocks(struct mk_duda_block *blocks)
{
    while (blocks) {
        struct mk_duda_block *next = blocks->next;

        free(blocks);
        blocks = next;
    }
}

char *mk_duda_copy(struct mk_duda_service *s, const char *text, size_t len)
{
    char *copy = mk_duda_alloc(s, len + 1);

    return copy ? memcpy(copy, text, len) : NULL;
}

/* ---- what is said of it ---- */

void mk_duda_log(const struct mk_duda_service *s, enum mk_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    mk_server_log(s->server, level, "duda: service '%s': %s", s->spec.name, text);
}

int mk_duda_refuse(struct mk_duda_service *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(s->why, sizeof(s->why), fmt, ap);
    va_end(ap);
    return -1;
}

bool mk_duda_is_set_up(const struct mk_duda_service *s, const char *call)
{
    if (s->state == MK_DUDA_NEW)
        return true;
    mk_duda_log(s, MK_LOG_WARN, "%s() works in duda_main() only", call);
    return false;
}
