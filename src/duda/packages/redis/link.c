/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

static void unwatch(struct redis_link *l)
{
    if (l->fd < 0)
        return;
    (void)event->delete (l->fd);
    (void)close(l->fd);
    l->fd = -1;
}

void redis_link_abandon(struct redis_link *l)
{
    struct redis_command *c;

    while ((c = pop(&l->commands)) || (c = pop(&l->held)))
        redis_command_free(c);
    redis_reader_free(l->reader);
    redis_secure_free(l->secure);
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
    unwatch(l);
}

static void mark_unsent(struct redis_command *c)
{
    for (; c; c = c->next)
        c->is_unsent = true;
}

static void tell(struct redis_link *l)
{
    struct redis_command *c;

    mark_unsent(l->unsent);
    mark_unsent(l->held.first);
    while (!l->is_closed && ((c = pop(&l->commands)) || (c = pop(&l->held)))) {
        l->ncommands--;
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
    if (l->is_inside)
        return;
    unwatch(l);
    redis_link_abandon(l);
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

/* ---- sending ---- */

static size_t gather(const struct redis_link *l, struct iovec *pieces)
{
    size_t n = 0, skip = l->sent;

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

static void watch_for(struct redis_link *l, bool writing)
{
    if (l->is_writing == writing)
        return;
    l->is_writing = writing;
    (void)event->mode(l->fd, writing ? DUDA_EVENT_RW : DUDA_EVENT_READ, DUDA_EVENT_LEVEL_TRIGGERED);
}

/* Records of what fits, while not too many wait. @return -1: it has failed */
static int encrypt(struct redis_link *l)
{
    char *p;

    while (l->unsent && l->state >= REDIS_LINK_GREETING &&
           redis_secure_pending(l->secure, &p) < REDIS_RECORDS_MAX) {
        const size_t left = l->unsent->len - l->sent;
        const size_t n = left < REDIS_RECORD_MAX ? left : REDIS_RECORD_MAX;

        if (redis_secure_write(l->secure, l->unsent->bytes + l->sent, n) < 0)
            return -1;
        count_sent(l, n);
    }
    return 0;
}

static void flush_secure(struct redis_link *l)
{
    char *p;
    size_t len;
    ssize_t n = 1;

    while (n > 0) {
        if (encrypt(l) < 0) {
            fail(l, REDIS_FAULT_OTHER, redis_secure_why(l->secure));
            return;
        }
        len = redis_secure_pending(l->secure, &p);
        n = len > 0 ? send(l->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
        if (n > 0)
            redis_secure_sent(l->secure, (size_t)n);
    }
    watch_for(l, redis_secure_pending(l->secure, &p) > 0);
}

/* An error is left to the loop, which reports it as an event of its own. */
static void flush_plain(struct redis_link *l)
{
    struct iovec pieces[REDIS_PIECES_MAX];

    while (l->unsent) {
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = gather(l, pieces)};
        const ssize_t n = sendmsg(l->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        count_sent(l, (size_t)n);
    }
    watch_for(l, l->unsent != NULL);
}

static void flush(struct redis_link *l)
{
    if (l->secure)
        flush_secure(l);
    else
        flush_plain(l);
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
    l->ncommands++;
    if (l->state != REDIS_LINK_READY) {
        append(&l->held, c);
        return 0;
    }
    queue(l, c);
    flush(l);
    return 0;
}

void redis_link_greet(struct redis_link *l, struct redis_command *c)
{
    c->is_greeting = true;
    l->ngreetings++;
    l->ncommands++;
    queue(l, c);
}

/* ---- connected ---- */

static void become_ready(struct redis_link *l)
{
    struct redis_command *c;

    l->state = REDIS_LINK_READY;
    l->was_ready = true;
    while ((c = pop(&l->held))) {
        if (!c->is_over) {
            queue(l, c);
            continue;
        }
        l->ncommands--;
        redis_command_free(c);
    }
    if (l->owner->on_ready)
        l->owner->on_ready(l);
}

static void begin_greeting(struct redis_link *l)
{
    l->state = REDIS_LINK_GREETING;
    if (l->ngreetings == 0)
        become_ready(l);
}

static void shake(struct redis_link *l)
{
    const int result = redis_secure_shake(l->secure);

    if (result < 0)
        fail(l, REDIS_FAULT_OTHER, redis_secure_why(l->secure));
    else if (result > 0)
        begin_greeting(l);
}

static void take_greeting(struct redis_link *l, struct redis_command *c, const redisReply *reply)
{
    redis_command_free(c);
    if (reply->type == REDIS_REPLY_ERROR)
        fail(l, REDIS_FAULT_OTHER, reply->str);
    else if (--l->ngreetings == 0)
        become_ready(l);
}

/* ---- answers ---- */

static bool is_first_word(const redisReply *reply, const char *text)
{
    return reply->element[0]->type == REDIS_REPLY_STRING &&
           strcmp(reply->element[0]->str, text) == 0;
}

static bool is_message(const struct redis_link *l, const redisReply *reply)
{
    return l->nchannels > 0 && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 3 &&
           (is_first_word(reply, "message") || is_first_word(reply, "pmessage"));
}

static bool is_confirmation(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
           reply->element[2]->type == REDIS_REPLY_INTEGER &&
           (is_first_word(reply, "subscribe") || is_first_word(reply, "unsubscribe") ||
            is_first_word(reply, "psubscribe") || is_first_word(reply, "punsubscribe"));
}

static void take_answer(struct redis_link *l, const redisReply *reply)
{
    struct redis_command *c = pop(&l->commands);

    l->ncommands--;
    if (c->is_greeting)
        take_greeting(l, c, reply);
    else
        l->owner->on_answer(l, c, reply);
}

static void take_confirmation(struct redis_link *l, const redisReply *reply)
{
    l->nchannels = reply->element[2]->integer;
    if (--l->commands.first->confirmations == 0) {
        l->ncommands--;
        redis_command_free(pop(&l->commands));
    }
    l->owner->on_message(l, reply);
}

static void take(struct redis_link *l, const redisReply *reply)
{
    const struct redis_command *first = l->commands.first;

    if (is_message(l, reply))
        l->owner->on_message(l, reply);
    else if (!first || first == l->unsent)
        fail(l, REDIS_FAULT_PROTOCOL,
             reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer without a command");
    else if (first->confirmations == 0 || reply->type == REDIS_REPLY_ERROR)
        take_answer(l, reply);
    else if (is_confirmation(reply))
        take_confirmation(l, reply);
    else
        fail(l, REDIS_FAULT_PROTOCOL, "no confirmation of a channel");
}

static void take_bytes(struct redis_link *l, const char *bytes, size_t len)
{
    redisReply *reply = NULL;
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
    else if (l->state == REDIS_LINK_READY)
        flush(l);
}

static void take_records(struct redis_link *l, const char *bytes, size_t len)
{
    char room[REDIS_READ_ROOM];
    ssize_t n = 1;

    if (redis_secure_feed(l->secure, bytes, len) < 0) {
        fail(l, REDIS_FAULT_OTHER, redis_secure_why(l->secure));
        return;
    }
    if (l->state == REDIS_LINK_SECURING)
        shake(l);
    while (n > 0 && l->state != REDIS_LINK_LOST && l->state != REDIS_LINK_SECURING &&
           !l->is_closed) {
        n = redis_secure_read(l->secure, room, sizeof(room));
        if (n > 0)
            take_bytes(l, room, (size_t)n);
    }
    if (n < 0)
        fail(l, REDIS_FAULT_EOF, redis_secure_why(l->secure));
    else if (l->state != REDIS_LINK_LOST && !l->is_closed)
        flush(l);
}

/* ---- events ---- */

static int on_end(int fd, void *arg)
{
    struct redis_link *l = arg;
    int err = 0;
    socklen_t len = sizeof(err);

    enter(l);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 && err != 0)
        fail(l, REDIS_FAULT_IO, strerror(err));
    fail(l, REDIS_FAULT_EOF, "the server closed the connection");
    leave(l);
    return DUDA_EVENT_OWNED;
}

/* @return whether there may be more */
static bool read_some(struct redis_link *l)
{
    char room[REDIS_READ_ROOM];
    const ssize_t n = recv(l->fd, room, sizeof(room), MSG_DONTWAIT);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n < 0)
        fail(l, REDIS_FAULT_IO, strerror(errno));
    else if (n == 0)
        fail(l, REDIS_FAULT_EOF, "the server closed the connection");
    else if (l->secure)
        take_records(l, room, (size_t)n);
    else
        take_bytes(l, room, (size_t)n);
    return n == (ssize_t)sizeof(room);
}

static int on_read(int fd, void *arg)
{
    struct redis_link *l = arg;

    (void)fd;
    enter(l);
    for (int i = 0; i < REDIS_READS_MAX && l->state != REDIS_LINK_LOST && !l->is_closed; i++) {
        if (!read_some(l))
            break;
    }
    leave(l);
    return DUDA_EVENT_OWNED;
}

static int on_write(int fd, void *arg)
{
    struct redis_link *l = arg;

    (void)fd;
    enter(l);
    if (l->state == REDIS_LINK_CONNECTING && l->secure) {
        l->state = REDIS_LINK_SECURING;
        shake(l);
    } else if (l->state == REDIS_LINK_CONNECTING) {
        begin_greeting(l);
    }
    if (l->state != REDIS_LINK_LOST && !l->is_closed)
        flush(l);
    leave(l);
    return DUDA_EVENT_OWNED;
}

/* ---- the beginning ---- */

static int watch(struct redis_link *l)
{
    l->is_writing = true;
    if (event->add(l->fd, DUDA_EVENT_RW, DUDA_EVENT_LEVEL_TRIGGERED, on_read, on_write, on_end,
                   on_end, on_end, l) == 0)
        return 0;
    errno = ENOMEM;
    return -1;
}

static struct redis_link *new_link(const struct redis_owner *owner, void *of)
{
    struct redis_link *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->reader = redis_reader_new();
    if (!l->reader) {
        free(l);
        return NULL;
    }
    l->owner = owner;
    l->of = of;
    l->fd = -1;
    l->commands.end = &l->commands.first;
    l->held.end = &l->held.first;
    return l;
}

struct redis_link *redis_link_open(const struct address *a, struct redis_secure *secure,
                                   const struct redis_owner *owner, void *of)
{
    struct redis_link *l = new_link(owner, of);
    int why;

    if (!l) {
        redis_secure_free(secure);
        errno = ENOMEM;
        return NULL;
    }
    l->secure = secure;
    l->fd = address_connect(a);
    if (l->fd >= 0 && watch(l) == 0)
        return l;
    why = errno;
    if (l->fd >= 0)
        (void)close(l->fd);
    redis_link_abandon(l);
    errno = why;
    return NULL;
}
