/* SPDX-License-Identifier: Apache-2.0 */
#include "host/upgrade.h"

#include "service/answer.h"
#include "service/exchange.h"
#include "host/load.h"

#include <stdlib.h>

/* The service stays while one of its connections is open, whatever a reload brings: it is held, and so is its seat. */

static void copy_text(mk_pointer *text, char **room)
{
    char *copy = *room;

    if (!text->data)
        return;
    memcpy(copy, text->data, text->len);
    copy[text->len] = '\0';
    text->data = copy;
    *room += text->len + 1;
}

/* The request ends now, and its texts with it; dr stays. Without memory it has none. */
static void keep_texts(struct mk_duda_request *rq)
{
    struct session_request *sr = &rq->sr;
    mk_pointer *texts[12 + MAP_WS_MAX_PARAMS] = {
        &sr->method_p,          &sr->uri,        &sr->uri_processed, &sr->query_string,
        &sr->content_type,      &sr->connection, &sr->host,          &sr->host_port,
        &sr->if_modified_since, &sr->range,      &rq->dr.interface,  &rq->dr.method};
    size_t n = 12, size = 0;
    char *room;

    for (short int i = 0; i < rq->dr.n_params; i++)
        texts[n++] = &rq->dr.params[i];
    for (size_t i = 0; i < n; i++)
        size += texts[i]->data ? texts[i]->len + 1 : 0;
    room = malloc(size + 1);
    if (room && mk_duda_request_gc(rq, free, room) < 0) {
        free(room);
        room = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (room)
            copy_text(texts[i], &room);
        else
            *texts[i] = (mk_pointer){NULL, 0};
    }
    rq->multipart = NULL;
}

static int upgrade(duda_request_t *dr, int (*accept)(struct mk_request *r, void *arg), void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "handshake");
    bool is_taken;

    if (!rq || !rq->r || rq->state != MK_DUDA_REQUEST_CALLED)
        return -1;
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED); /* whatever it answers, the service does not */
    is_taken = accept(rq->r, arg) == 1;
    if (is_taken) {
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_TAKEN);
        keep_texts(rq);
        counted_get(&rq->service->refs);
        (void)mk_duda_seat_take(rq->service, rq->worker); /* it is taken: the request runs there */
    }
    rq->has_begun = true;
    mk_duda_answer_push(rq);
    return is_taken ? 0 : -1;
}

static void release(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_of(dr);
    struct mk_duda_service *s = rq->service;
    struct mk_duda_worker *w = rq->worker;

    mk_duda_request_over(rq);
    mk_duda_seat_leave(s, w);
    mk_duda_put(s);
}

static void run(duda_request_t *dr, void (*fn)(void *arg), void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_of(dr);
    struct mk_duda_here before = mk_duda_enter(rq->service, rq->worker);

    fn(arg);
    mk_duda_leave(before);
}

static void tell_backplane(struct web_service *ws, struct duda_backplane *where)
{
    const struct mk_duda_service *s = mk_duda_service_of(ws);

    *where = (struct duda_backplane){s->backplane_url, s->spec.site};
}

static int tell_place(struct duda_place *here)
{
    const struct mk_duda_here *now = mk_duda_here();

    *here = (struct duda_place){.tls = now->service ? now->service->tls : NULL};
    if (!now->service || !now->worker)
        return -1;
    here->seat = now->service->seats[now->worker->index];
    here->worker = now->worker->worker;
    return here->seat ? 0 : -1;
}

static void run_at(const struct duda_place *place, void (*fn)(void *arg), void *arg)
{
    const struct mk_duda_seat *seat = place->seat;
    struct mk_duda_here before = mk_duda_enter(seat->service, seat->worker);

    fn(arg);
    mk_duda_leave(before);
}

static unsigned *count_of(struct mk_duda_request *rq, enum duda_park kind)
{
    return kind == DUDA_PARK_STOPS ? &rq->nparked : &rq->nasked;
}

static int park(duda_request_t *dr, enum duda_park kind)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "a package");

    if (!rq || !rq->r || mk_duda_request_has_ended(rq))
        return -1;
    ++*count_of(rq, kind);
    mk_duda_request_rest(rq);
    return 0;
}

static void unpark(duda_request_t *dr, enum duda_park kind)
{
    struct mk_duda_request *rq = mk_duda_request_of(dr);

    if (*count_of(rq, kind) > 0)
        --*count_of(rq, kind);
    mk_duda_request_wake(rq);
}

const struct duda_host mk_duda_host = {.size = sizeof(mk_duda_host),
                                       .upgrade = upgrade,
                                       .release = release,
                                       .run = run,
                                       .backplane = tell_backplane,
                                       .place = tell_place,
                                       .run_at = run_at,
                                       .park = park,
                                       .unpark = unpark};
