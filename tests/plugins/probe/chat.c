/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdatomic.h>
#include <stdlib.h>

/*
 * A chat: who listens is parked on its worker, by ticket; what somebody says visits every worker, and answers all
 * who are still there. Each worker touches its own seats only. The room lives as long as somebody may come to it:
 * the configuration and the words that are on their way.
 */

enum { SEATS = 64 };

struct seats {
    unsigned ntickets;
    uint64_t tickets[SEATS];
};

struct room {
    atomic_uint references;
    unsigned nworkers;
    struct seats *seats[]; /* by worker; NULL: not open there */
};

/* What was said, until the last worker has heard it. */
struct words {
    struct room *room;
    struct mk_worker *home; /* of who said it */
    uint64_t ticket;
    atomic_uint left, told, gone;
    size_t len;
    char text[];
};

/* ---- the room ---- */

struct room *room_new(struct mk_server *server)
{
    unsigned nworkers = mk_server_workers(server);
    struct room *room = calloc(1, sizeof(*room) + nworkers * sizeof(struct seats *));

    if (room) {
        atomic_init(&room->references, 1);
        room->nworkers = nworkers;
    }
    return room;
}

void room_put(struct room *room)
{
    if (atomic_fetch_sub(&room->references, 1) == 1)
        free(room);
}

int room_open(struct room *room, struct mk_worker *w)
{
    struct seats **seats = &room->seats[mk_worker_index(w)];

    *seats = calloc(1, sizeof(**seats));
    return *seats ? 0 : MK_E_NOMEM;
}

void room_close(struct room *room, struct mk_worker *w)
{
    struct seats **seats = &room->seats[mk_worker_index(w)];

    free(*seats);
    *seats = NULL;
}

/* ---- who listens ---- */

/* The seats of those who left are free again. */
static void sweep(struct mk_worker *w, struct seats *seats)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < seats->ntickets; i++) {
        if (mk_worker_request(w, seats->tickets[i]))
            seats->tickets[kept++] = seats->tickets[i];
    }
    seats->ntickets = kept;
}

enum mk_verdict chat_listen(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route)
{
    const struct probe *probe = ctx->config;
    struct seats *seats = probe->room->seats[mk_worker_index(ctx->worker)];
    uint64_t ticket = mk_request_ticket(r);

    (void)route;
    if (seats->ntickets == SEATS)
        sweep(ctx->worker, seats);
    if (!ticket || seats->ntickets == SEATS)
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    seats->tickets[seats->ntickets++] = ticket;
    mk_request_timeout(r, 0);
    return MK_VERDICT_LATER;
}

/* ---- who says something ---- */

static void report(struct mk_worker *w, void *arg)
{
    struct words *words = arg;
    struct mk_request *r = mk_worker_request(w, words->ticket);
    char *text = r ? mk_request_printf(r, "told %u, gone %u", atomic_load(&words->told),
                                       atomic_load(&words->gone))
                   : NULL;

    if (r) {
        (void)mk_reply_bytes(r, 200, "text/plain", mk_str_from(text ? text : ""));
        mk_request_resume(r);
    }
    room_put(words->room);
    free(words);
}

static void tell(struct mk_worker *w, struct seats *seats, struct words *words)
{
    for (unsigned i = 0; i < seats->ntickets; i++) {
        struct mk_request *r = mk_worker_request(w, seats->tickets[i]);

        if (!r) {
            atomic_fetch_add(&words->gone, 1);
            continue;
        }
        (void)mk_reply_bytes(r, 200, "text/plain", (struct mk_str){words->text, words->len});
        mk_request_resume(r);
        atomic_fetch_add(&words->told, 1);
    }
    seats->ntickets = 0;
}

static void visit_worker(struct mk_worker *w, void *arg)
{
    struct words *words = arg;
    struct seats *seats = words->room->seats[mk_worker_index(w)];

    if (seats)
        tell(w, seats, words);
    if (atomic_fetch_sub(&words->left, 1) == 1 && mk_worker_post(words->home, report, words) < 0) {
        room_put(words->room);
        free(words);
    }
}

static struct words *write_down(struct mk_request *r, struct room *room, struct mk_worker *home)
{
    struct mk_request_facts f = {.size = sizeof(f)};
    struct words *words;

    mk_request_facts(r, &f);
    words = calloc(1, sizeof(*words) + f.query.len);
    if (!words)
        return NULL;
    words->room = room;
    words->home = home;
    words->ticket = mk_request_ticket(r);
    words->len = f.query.len;
    if (f.query.len > 0)
        memcpy(words->text, f.query.p, f.query.len);
    atomic_init(&words->left, room->nworkers);
    atomic_fetch_add(&room->references, 1);
    return words;
}

enum mk_verdict chat_say(struct mk_request *r, const struct mk_context *ctx,
                         const struct probe_route *route)
{
    const struct probe *probe = ctx->config;
    struct words *words = write_down(r, probe->room, ctx->worker);

    (void)route;
    if (!words)
        return mk_reply_error(r, 503, NULL);
    if (mk_server_each_worker(ctx->server, visit_worker, words) == 0)
        return MK_VERDICT_LATER;
    room_put(words->room);
    free(words);
    return mk_reply_error(r, 503, NULL);
}
