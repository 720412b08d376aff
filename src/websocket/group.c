/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <monkey/events.h>
#include <monkey/server.h>

#include <stdatomic.h>
#include <stdlib.h>

/* Members are listed by worker, and only that worker touches its list: the path of a message has no lock. */

struct ws_member {
    struct ws_member *next, **at; /* of the group on this worker */
    struct ws_member *next_of_ws;
    struct mk_ws_group *group;
    struct mk_ws *ws;
};

struct mk_ws_group {
    struct counted refs;
    struct mk_server_handle *server;
    unsigned nworkers;
    struct ws_member *members[];
};

struct message {
    struct counted refs; /* of the workers that have not sent it */
    struct mk_ws_group *group;
    struct mk_ws_handle *sender; /* does not get it; NULL: all do */
    struct ws_frame *frame;
    _Atomic(struct ws_frame *)
        packed; /* for connections without context takeover; NULL: nobody has needed it */
};

struct mk_ws_group *mk_ws_group_new(struct mk_server *server)
{
    const unsigned n = mk_server_workers(server);
    struct mk_ws_group *g = server ? calloc(1, sizeof(*g) + n * sizeof(struct ws_member *)) : NULL;

    if (!g)
        return NULL;
    g->server = mk_server_handle(server);
    if (!g->server) {
        free(g);
        return NULL;
    }
    counted_init(&g->refs, 1);
    g->nworkers = n;
    return g;
}

void mk_ws_group_free(struct mk_ws_group *g)
{
    if (!g || !counted_put(&g->refs))
        return;
    mk_server_handle_put(g->server);
    free(g);
}

static struct ws_member **find(struct mk_ws_group *g, struct mk_ws *ws)
{
    struct ws_member **at = &ws->groups;

    while (*at && (*at)->group != g)
        at = &(*at)->next_of_ws;
    return at;
}

int mk_ws_group_join(struct mk_ws_group *g, struct mk_ws *ws)
{
    struct ws_member **head, *m;

    if (!g || !ws)
        return MK_E_INVALID;
    head = &g->members[mk_worker_index(ws->worker)];
    if (*find(g, ws))
        return 0;
    m = malloc(sizeof(*m));
    if (!m)
        return MK_E_NOMEM;
    *m = (struct ws_member){*head, head, ws->groups, g, ws};
    if (m->next)
        m->next->at = &m->next;
    *head = m;
    ws->groups = m;
    counted_get(&g->refs);
    return 0;
}

static void leave(struct ws_member **at)
{
    struct ws_member *m = *at;

    *at = m->next_of_ws;
    *m->at = m->next;
    if (m->next)
        m->next->at = m->at;
    mk_ws_group_free(m->group);
    free(m);
}

void mk_ws_group_leave(struct mk_ws_group *g, struct mk_ws *ws)
{
    struct ws_member **at = g && ws ? find(g, ws) : NULL;

    if (at && *at)
        leave(at);
}

void ws_groups_end(struct mk_ws *ws)
{
    while (ws->groups)
        leave(&ws->groups);
}

static void put_message(struct message *message)
{
    if (!counted_put(&message->refs))
        return;
    if (atomic_load(&message->packed))
        ws_frame_put(atomic_load(&message->packed));
    ws_frame_put(message->frame);
    mk_ws_handle_put(message->sender);
    mk_ws_group_free(message->group);
    free(message);
}

/* @return with a reference; the message as it is if it cannot be compressed */
static struct ws_frame *pack(const struct ws_frame *frame, struct ws_pack *by)
{
    struct ws_frame *result = NULL;
    struct mk_str packed;

    if (ws_pack_message(by, ws_frame_payload(frame), &packed)) {
        result = ws_frame_packed(ws_frame_opcode(frame), packed);
        ws_pack_drop(packed);
    }
    return result;
}

/* Compressed once, by whoever comes first; two workers may do it at the same time. */
static struct ws_frame *packed_of(struct message *message, struct mk_ws *ws)
{
    struct ws_frame *there = atomic_load(&message->packed), *fresh;

    if (there)
        return there;
    fresh = pack(message->frame, ws->pack);
    if (!fresh) {
        counted_get(&message->frame->refs);
        fresh = message->frame;
    }
    if (atomic_compare_exchange_strong(&message->packed, &there, fresh))
        return fresh;
    ws_frame_put(fresh);
    return there;
}

static void send_to(struct mk_ws *ws, struct message *message)
{
    if (ws_is_packed(ws, ws_frame_payload(message->frame).len) && ws_pack_is_shareable(ws->pack))
        (void)ws_queue_send(ws, packed_of(message, ws));
    else
        (void)ws_queue_send_framed(ws, message->frame);
}

/* Nothing here calls the application, so the list stays as it is. */
static void send_to_members(struct mk_worker *w, void *arg)
{
    struct message *message = arg;

    for (struct ws_member *m = message->group->members[mk_worker_index(w)]; m; m = m->next) {
        if (!message->sender || m->ws->handle != message->sender)
            send_to(m->ws, message);
    }
    put_message(message);
}

/* @param sender  taken, also on failure */
static int send_message(struct mk_ws_group *g, struct mk_ws_handle *sender, enum mk_ws_kind kind,
                        struct mk_str text)
{
    struct ws_frame *frame = ws_frame_new(kind == MK_WS_TEXT ? WS_TEXT : WS_BINARY, text);
    struct message *m = frame ? malloc(sizeof(*m)) : NULL;
    int err;

    if (!m) {
        if (frame)
            ws_frame_put(frame);
        mk_ws_handle_put(sender);
        return MK_E_NOMEM;
    }
    counted_get(&g->refs);
    counted_init(&m->refs, g->nworkers);
    m->group = g;
    m->sender = sender;
    m->frame = frame;
    atomic_init(&m->packed, NULL);
    err = mk_server_handle_each_worker(g->server, send_to_members, m);
    if (err < 0) {
        counted_init(&m->refs, 1);
        put_message(m);
    }
    return err;
}

int mk_ws_group_send(struct mk_ws_group *g, enum mk_ws_kind kind, struct mk_str message)
{
    return g ? send_message(g, NULL, kind, message) : MK_E_INVALID;
}

int mk_ws_group_send_others(struct mk_ws_group *g, struct mk_ws *ws, enum mk_ws_kind kind,
                            struct mk_str message)
{
    struct mk_ws_handle *sender;

    if (!g || !ws)
        return MK_E_INVALID;
    sender = mk_ws_handle(ws);
    return sender ? send_message(g, sender, kind, message) : MK_E_NOMEM;
}
