/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/group/group.h"
#include "websocket/ws_int.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Groups of kit/group; what is this file's is the message, which may be compressed. */

struct message {
    struct group_message base;
    struct mk_ws_handle *sender; /* does not get it; NULL: all do */
    struct ws_frame *frame;
    _Atomic(struct ws_frame *)
        packed; /* for connections without context takeover; NULL: nobody has needed it */
};

/* The names of the same objects, of which this file sees nothing else. */
static struct mk_ws_group *named(struct group *g)
{
    return (struct mk_ws_group *)(void *)g;
}

static struct group *of(struct mk_ws_group *g)
{
    return (struct group *)(void *)g;
}

struct mk_ws_group *mk_ws_group_new(struct mk_server *server)
{
    return named(group_new(server, 0));
}

void mk_ws_group_free(struct mk_ws_group *g)
{
    group_put(of(g));
}

int mk_ws_group_join(struct mk_ws_group *g, struct mk_ws *ws)
{
    return g && ws ? group_join(of(g), ws->worker, &ws->groups, ws) : MK_E_INVALID;
}

void mk_ws_group_leave(struct mk_ws_group *g, struct mk_ws *ws)
{
    if (g && ws)
        group_leave(of(g), &ws->groups);
}

void ws_groups_end(struct mk_ws *ws)
{
    group_leave_all(&ws->groups);
}

static void drop_message(struct group_message *base)
{
    struct message *message = (struct message *)base;

    if (atomic_load(&message->packed))
        ws_frame_put(atomic_load(&message->packed));
    ws_frame_put(message->frame);
    mk_ws_handle_put(message->sender);
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

/* Nothing here calls the application. */
static void send_to(void *connection, struct group_message *base)
{
    struct message *message = (struct message *)base;
    struct mk_ws *ws = connection;

    if (message->sender && ws->handle == message->sender)
        return;
    if (ws_is_packed(ws, ws_frame_payload(message->frame).len) && ws_pack_is_shareable(ws->pack))
        (void)ws_queue_send(ws, packed_of(message, ws));
    else
        (void)ws_queue_send_framed(ws, message->frame);
}

/* @param sender  taken, also on failure */
static int send_message(struct mk_ws_group *g, struct mk_ws_handle *sender, enum mk_ws_kind kind,
                        struct mk_str text)
{
    struct ws_frame *frame = ws_frame_new(kind == MK_WS_TEXT ? WS_TEXT : WS_BINARY, text);
    struct message *m = frame ? malloc(sizeof(*m)) : NULL;

    if (!m) {
        if (frame)
            ws_frame_put(frame);
        mk_ws_handle_put(sender);
        return MK_E_NOMEM;
    }
    m->base.weight = 0;
    m->base.give = send_to;
    m->base.drop = drop_message;
    m->sender = sender;
    m->frame = frame;
    atomic_init(&m->packed, NULL);
    return group_send(of(g), &m->base);
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
