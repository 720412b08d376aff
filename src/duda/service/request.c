/* SPDX-License-Identifier: Apache-2.0 */
#include "service/request.h"

#include "inputs/fields.h"
#include "kit/text/words.h"
#include "service/table.h"

#include <stdlib.h>

/* Objects whose calls have a dr find it here, so that an old or foreign one harms nobody. */
void mk_duda_request_trace(const void *of, const struct states *table, unsigned was, unsigned is)
{
    const struct mk_duda_request *rq = of;

    mk_server_log(rq->service->server, MK_LOG_TRACE, "duda state of=%s was=%s is=%s callback=%s",
                  table->of, table->rows[was].name, table->rows[is].name,
                  rq->callback ? rq->callback : "-");
}

static __attribute__((noinline)) struct mk_duda_request *
look_up(const struct mk_duda_here *here, duda_request_t *dr, const char *call)
{
    if (here->worker && mk_duda_table_has(here->worker->requests, dr))
        return mk_duda_request_of(dr);
    if (here->service)
        mk_duda_log(here->service, MK_LOG_WARN, "%s(): the request %s", call,
                    dr ? "is over, or another worker's" : "is NULL");
    return NULL;
}

struct mk_duda_request *mk_duda_request_check(duda_request_t *dr, const char *call)
{
    const struct mk_duda_here *here = mk_duda_here();

    return dr && here->worker && here->worker->requests->recent == dr ? mk_duda_request_of(dr)
                                                                      : look_up(here, dr, call);
}

void mk_duda_request_hold(struct mk_duda_request *rq, size_t answer)
{
    mk_request_hold(rq->r, rq->body.size + (rq->fields ? rq->fields->bytes : 0) + answer);
}

static bool is_of_type(const struct mk_duda_request *rq, struct mk_str type)
{
    return text_begins(mk_request_header(rq->r, MK_STR("Content-Type")), type);
}

bool mk_duda_request_is_urlencoded(const struct mk_duda_request *rq)
{
    return is_of_type(rq, MK_STR("application/x-www-form-urlencoded"));
}

bool mk_duda_request_is_multipart(const struct mk_duda_request *rq)
{
    return is_of_type(rq, MK_STR("multipart/form-data"));
}

void mk_duda_request_rest(struct mk_duda_request *rq)
{
    rq->has_waited = true;
    mk_request_timeout(rq->r, rq->service->wait_ms);
    mk_request_ends_on_hangup(rq->r, true);
}

void mk_duda_request_wake(struct mk_duda_request *rq)
{
    if (rq->r && !mk_duda_request_waits(rq) && rq->nasked == 0)
        mk_request_ends_on_hangup(rq->r, false);
}

int mk_duda_request_gc(struct mk_duda_request *rq, void (*end)(void *arg), void *arg)
{
    struct mk_duda_garbage *g = malloc(sizeof(*g));

    if (!g)
        return -1;
    *g = (struct mk_duda_garbage){rq->garbage, end, arg};
    rq->garbage = g;
    return 0;
}

char *mk_duda_request_copy(struct mk_duda_request *rq, struct mk_str text)
{
    char *copy = malloc(text.len + 1);

    if (copy && rq && mk_duda_request_gc(rq, free, copy) < 0) {
        free(copy);
        copy = NULL;
    }
    if (!copy) {
        if (rq)
            rq->out.lacks_memory = true;
        return NULL;
    }
    if (text.len > 0)
        memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    return copy;
}
