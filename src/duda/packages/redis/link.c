/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "data/remote/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char gone[] = "the server closed the connection";

/* ---- commands ---- */

struct redis_command *redis_command_new(char *bytes, size_t len)
{
    struct redis_command *c = calloc(1, sizeof(*c));

    if (!c) {
        redis_bytes_free(bytes);
        return NULL;
    }
    c->bytes = bytes;
    c->len = len;
    return c;
}

void redis_command_free(struct redis_command *c)
{
    if (!c)
        return;
    redis_bytes_free(c->bytes);
    free(c);
}

static void append(struct redis_queue *q, struct redis_command *c)
{
    c->next = NULL;
    *q->end = c;
    q->end = &c->next;
}

static struct redis_command *pop(struct redis_queue *q)
{
    struct redis_command *c = q->first;

    if (!c)
        return NULL;
    q->first = c->next;
    if (!q->first)
        q->end = &q->first;
    return c;
}

/* ---- the end ---- */

static void disconnect(struct redis_link *l)
{
    if (l->wait)
        mk_upstream_cancel(l->wait);
    if (l->s)
        mk_upstream_give(l->upstream, l->s, false);
    l->wait = NULL;
    l->s = NULL;
}

static void free_link(struct redis_link *l)
{
    struct redis_command *c;

    disconnect(l);
    mk_upstream_free(l->upstream);
    while ((c = pop(&l->commands)) || (c = pop(&l->held)))
        redis_command_free(c);
    redis_reader_free(l->reader);
    free(l);
}

/* What fails in an event is told at its end. */
static void fail(struct redis_link *l, enum redis_fault fault, const char *why)
{
    if (l->state == REDIS_LINK_LOST)
        return;
    l->state = REDIS_LINK_LOST;
    l->fault = fault;
    (void)snprintf(l->why, sizeof(l->why), "%s", why);
    disconnect(l);
}

static void tell(struct redis_link *l)
{
    struct redis_command *c;

    while (!l->is_closed && ((c = pop(&l->commands)) || (c = pop(&l->held)))) {
        if (c->ngreetings > 0)
            redis_command_free(c);
        else
            l->owner->on_answer(l, c, NULL);
    }
    if (!l->is_closed)
        l->owner->on_lost(l);
}

static void enter(struct redis_link *l)
{
    l->is_inside = true;
}

/* l may be gone afterwards. */
static void leave(struct redis_link *l)
{
    if (l->is_finishing && !l->commands.first && !l->held.first)
        fail(l, REDIS_NO_FAULT, "it was disconnected");
    if (l->state == REDIS_LINK_LOST)
        tell(l);
    l->is_inside = false;
    if (l->is_closed)
        redis_link_close(l);
}

void redis_link_close(struct redis_link *l)
{
    l->is_closed = true;
    if (!l->is_inside)
        free_link(l);
}

void redis_link_lose(struct redis_link *l, enum redis_fault fault, const char *why)
{
    const bool was_inside = l->is_inside;

    enter(l);
    fail(l, fault, why);
    if (!was_inside)
        leave(l);
}

void redis_link_finish(struct redis_link *l)
{
    l->is_finishing = true;
    if (l->is_inside)
        return;
    enter(l);
    leave(l);
}

void redis_link_look(struct redis_link *l)
{
    if (l->is_broken)
        redis_link_lose(l, REDIS_FAULT_EOF, gone);
}

int redis_link_fd(const struct redis_link *l)
{
    return l->s ? mk_stream_fd(l->s) : -1;
}

/* ---- sending ---- */

static int gather(const struct redis_link *l, struct iovec *pieces)
{
    size_t skip = l->sent;
    int n = 0;

    for (const struct redis_command *c = l->unsent; c && n < REDIS_PIECES_MAX; c = c->next) {
        pieces[n++] = (struct iovec){c->bytes + skip, c->len - skip};
        skip = 0;
    }
    return n;
}

static void count_sent(struct redis_link *l, size_t n)
{
    l->sent += n;
    while (l->unsent && l->sent >= l->unsent->len) {
        l->sent -= l->unsent->len;
        l->unsent = l->unsent->next;
    }
}

/* An error is left to the loop, which reports it as an event of its own. */
static void flush(struct redis_link *l)
{
    struct iovec pieces[REDIS_PIECES_MAX];

    while (l->unsent && l->s) {
        const ssize_t n = mk_stream_write(l->s, pieces, gather(l, pieces));

        if (n < 0)
            return;
        count_sent(l, (size_t)n);
    }
}

static void queue(struct redis_link *l, struct redis_command *c)
{
    append(&l->commands, c);
    if (l->unsent)
        return;
    l->unsent = c;
    l->sent = 0;
}

int redis_link_send(struct redis_link *l, struct redis_command *c)
{
    if (l->state == REDIS_LINK_LOST || l->is_finishing)
        return -1;
    if (l->state != REDIS_LINK_READY) {
        append(&l->held, c);
        return 0;
    }
    queue(l, c);
    flush(l);
    return 0;
}

int redis_link_greet(struct redis_link *l, const char *bytes, size_t len, unsigned n)
{
    char *copy = malloc(len);
    struct redis_command *c;

    if (!copy)
        return -1;
    memcpy(copy, bytes, len);
    c = redis_command_new(copy, len);
    if (!c)
        return -1;
    c->ngreetings = n;
    queue(l, c);
    return 0;
}

/* ---- connected ---- */

static void become_ready(struct redis_link *l)
{
    struct redis_command *c;

    l->state = REDIS_LINK_READY;
    l->was_ready = true;
    while ((c = pop(&l->held)))
        queue(l, c);
    if (l->owner->on_ready)
        l->owner->on_ready(l);
}

static void take_greeting(struct redis_link *l, const struct mk_redis_reply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        fail(l, REDIS_FAULT_OTHER, reply->str);
        return;
    }
    if (--l->commands.first->ngreetings > 0)
        return;
    redis_command_free(pop(&l->commands));
    become_ready(l);
}

/* ---- answers ---- */

static bool is_first_word(const struct mk_redis_reply *reply, const char *text)
{
    return reply->element[0]->type == REDIS_REPLY_STRING &&
           strcmp(reply->element[0]->str, text) == 0;
}

static bool is_message(const struct redis_link *l, const struct mk_redis_reply *reply)
{
    return l->nchannels > 0 && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 3 &&
           (is_first_word(reply, "message") || is_first_word(reply, "pmessage"));
}

static bool is_confirmation(const struct mk_redis_reply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
           reply->element[2]->type == REDIS_REPLY_INTEGER &&
           (is_first_word(reply, "subscribe") || is_first_word(reply, "unsubscribe") ||
            is_first_word(reply, "psubscribe") || is_first_word(reply, "punsubscribe"));
}

static void take_confirmation(struct redis_link *l, const struct mk_redis_reply *reply)
{
    l->nchannels = reply->element[2]->integer;
    if (--l->commands.first->confirmations == 0)
        redis_command_free(pop(&l->commands));
    l->owner->on_message(l, reply);
}

static void take(struct redis_link *l, const struct mk_redis_reply *reply)
{
    const struct redis_command *first = l->commands.first;

    if (is_message(l, reply))
        l->owner->on_message(l, reply);
    else if (!first || first == l->unsent)
        fail(l, REDIS_FAULT_PROTOCOL,
             reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer without a command");
    else if (first->ngreetings > 0)
        take_greeting(l, reply);
    else if (first->confirmations == 0 || reply->type == REDIS_REPLY_ERROR)
        l->owner->on_answer(l, pop(&l->commands), reply);
    else if (is_confirmation(reply))
        take_confirmation(l, reply);
    else
        fail(l, REDIS_FAULT_PROTOCOL, "no confirmation of a channel");
}

static void take_bytes(struct redis_link *l, const char *bytes, size_t len)
{
    struct mk_redis_reply *reply = NULL;
    int result = redis_reader_feed(l->reader, bytes, len);

    while (result == 0 && l->state != REDIS_LINK_LOST && !l->is_closed) {
        result = redis_reader_next(l->reader, &reply);
        if (!reply)
            break;
        take(l, reply);
        redis_reply_free(reply);
    }
    if (result < 0)
        fail(l, REDIS_FAULT_PROTOCOL, redis_reader_why(l->reader));
}

/* ---- events ---- */

/* @return whether there may be more */
static bool read_some(struct redis_link *l)
{
    char room[REDIS_READ_ROOM];
    const ssize_t n = mk_stream_read(l->s, room, sizeof(room));

    if (n == MK_E_AGAIN)
        return false;
    if (n > 0)
        take_bytes(l, room, (size_t)n);
    else
        fail(l, REDIS_FAULT_EOF, gone);
    return l->state != REDIS_LINK_LOST && !l->is_closed;
}

static void receive(struct redis_link *l)
{
    for (int i = 0; i < REDIS_READS_MAX; i++) {
        if (!read_some(l))
            return;
    }
    mk_stream_run_soon(l->s);
}

struct happening {
    struct redis_link *link;
    struct mk_stream *s;
    unsigned events;
    int error;
};

/* A server's end comes with an event before, so this is that of the worker, after which no function of a service is called. */
static void handle_event(void *arg)
{
    const struct happening *e = arg;
    struct redis_link *l = e->link;

    if (e->events & MK_IO_ERROR) {
        l->is_broken = true;
        return;
    }
    enter(l);
    receive(l);
    if (l->state != REDIS_LINK_LOST && !l->is_closed)
        flush(l);
    leave(l);
}

static void on_event(struct mk_stream *s, unsigned events, void *arg)
{
    struct redis_link *l = arg;
    struct happening e = {.link = l, .s = s, .events = events};

    duda_objects_given->host->run_at(&l->place, handle_event, &e);
}

/* ---- the beginning ---- */

/* What the server says of it behind the place. */
static void fail_to_connect(struct redis_link *l, int error)
{
    char why[256];
    const char *behind;

    mk_upstream_why(l->upstream, l->place.worker, error, why, sizeof(why));
    behind = strrchr(why, ':');
    fail(l, REDIS_FAULT_IO, behind && behind[1] == ' ' ? behind + 2 : why);
}

static void handle_connection(void *arg)
{
    const struct happening *e = arg;
    struct redis_link *l = e->link;

    enter(l);
    l->wait = NULL;
    l->s = e->s;
    if (!l->s) {
        fail_to_connect(l, e->error);
    } else {
        mk_stream_tell(l->s, on_event, l);
        l->state = REDIS_LINK_GREETING;
        if (!l->commands.first)
            become_ready(l);
    }
    if (l->state != REDIS_LINK_LOST && !l->is_closed)
        flush(l);
    leave(l);
}

static void on_connection(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct redis_link *l = arg;
    struct happening e = {.link = l, .s = s, .error = error};

    (void)fresh;
    duda_objects_given->host->run_at(&l->place, handle_connection, &e);
}

static int take_connection(struct redis_link *l, const struct remote_place *place, const char *name,
                           unsigned ms)
{
    struct mk_upstream_options options = remote_backend(place, name, l->place.tls);

    options.max_waiting = 1;
    options.connect_ms = ms;
    l->upstream = mk_upstream_new(mk_worker_server(l->place.worker), &options);
    if (!l->upstream)
        return -1;
    return mk_upstream_take(l->upstream, l->place.worker, true, on_connection, l, &l->wait);
}

struct redis_link *redis_link_open(const struct remote_place *place, const char *name, unsigned ms,
                                   const struct redis_owner *owner, void *of)
{
    struct redis_link *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->owner = owner;
    l->of = of;
    l->commands.end = &l->commands.first;
    l->held.end = &l->held.first;
    l->reader = redis_reader_new();
    if (l->reader && duda_objects_given->host->place(&l->place) == 0 &&
        take_connection(l, place, name, ms) == 0)
        return l;
    free_link(l);
    return NULL;
}
