/* SPDX-License-Identifier: Apache-2.0 */
#include "connection.h"

#include "kit/clock/clock.h"

#include <sys/uio.h>

enum { ROUNDS_MAX = 16, ROOM = 16384 }; /* of one event, so that others have their turn */

/* ---- the end ---- */

static void take_out(struct memc_connection *c)
{
    struct memc_connection **at = &c->server->connections;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->server->nconnections--;
}

/* What a command without an answer gets. */
struct fate {
    int result;
    const char *text;
    int64_t now_ms;
    bool is_unsent; /* another server may have it */
};

static void settle(struct memc_pool *pool, struct memc_command *command, const struct fate *f)
{
    struct memcached_answer answer = {.result = f->result, .text = f->text};

    if (command->deadline_ms <= f->now_ms) {
        answer.result = MEMCACHED_TIMEOUT;
        answer.text = "no answer within the time limit";
    } else if (f->is_unsent && command->kind != MEMC_PROBE) {
        if (memc_pool_route(pool, command) == 0)
            return;
        answer.result = MEMCACHED_DOWN;
        answer.text = "no server can be reached";
    }
    memc_pool_answer(pool, command, &answer);
}

/* Their functions may open connections and send commands, so this one is gone by then. */
static void settle_all(struct memc_pool *pool, struct memc_command *first,
                       const struct memc_command *unsent, struct fate f)
{
    for (struct memc_command *command = first, *next; command; command = next) {
        next = command->next;
        f.is_unsent |= command == unsent;
        settle(pool, command, &f);
        f.result = MEMCACHED_LOST;
    }
}

/*
 * Close it. The first command gets this result, the others MEMCACHED_LOST; what was not sent goes to another server.
 * A server whose connection ended without commands was restarted, perhaps, and is not left out.
 */
static void fail(struct memc_connection *c, int result, const char *text, bool is_servers_fault)
{
    struct memc_server *s = c->server;
    struct memc_command *first = c->first, *unsent = c->unsent;
    const bool is_probe = c->is_probe;

    if (unsent && c->sent > 0) /* cut off */
        unsent = unsent->next;
    take_out(c);
    (void)event->delete (c->fd);
    (void)close(c->fd);
    memc_reader_fini(&c->reader);
    free(c);
    if (is_servers_fault)
        memc_server_failed(s, is_probe);
    settle_all(s->pool, first, unsent,
               (struct fate){.result = result, .text = text, .now_ms = clock_now_ms()});
}

void memc_connection_free(struct memc_connection *c)
{
    for (struct memc_command *command = c->first, *next; command; command = next) {
        next = command->next;
        free(command);
    }
    memc_reader_fini(&c->reader);
    free(c);
}

void memc_connection_expire(struct memc_connection *c, int64_t now_ms)
{
    const struct memc_command *command = c->first;

    while (command && command->deadline_ms > now_ms)
        command = command->next;
    if (command)
        fail(c, MEMCACHED_LOST, "the server answers too slowly", true);
}

/* ---- sending ---- */

static size_t gather(const struct memc_connection *c, struct iovec *pieces)
{
    size_t n = 0, skip = c->sent;

    for (struct memc_command *command = c->unsent; command && n < MEMC_PIECES_MAX;
         command = command->next) {
        pieces[n++] = (struct iovec){command->bytes + skip, command->len - skip};
        skip = 0;
    }
    return n;
}

static void count_sent(struct memc_connection *c, size_t n)
{
    c->sent += n;
    while (c->unsent && c->sent >= c->unsent->len) {
        c->sent -= c->unsent->len;
        c->unsent = c->unsent->next;
    }
}

/* An error is left to the loop, which reports it as an event of its own. */
static void flush(struct memc_connection *c)
{
    struct iovec pieces[MEMC_PIECES_MAX];

    while (c->unsent) {
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = gather(c, pieces)};
        const ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        count_sent(c, (size_t)n);
    }
    if (c->is_writing == (c->unsent != NULL))
        return;
    c->is_writing = c->unsent != NULL;
    (void)event->mode(c->fd, c->is_writing ? DUDA_EVENT_RW : DUDA_EVENT_READ,
                      DUDA_EVENT_LEVEL_TRIGGERED);
}

void memc_connection_send(struct memc_connection *c, struct memc_command *command)
{
    command->next = NULL;
    if (c->last)
        c->last->next = command;
    else
        c->first = command;
    c->last = command;
    c->ncommands++;
    if (!c->unsent) {
        c->unsent = command;
        c->sent = 0;
    }
    if (c->state == MEMC_CONNECTION_READY)
        flush(c);
}

/* ---- answers ---- */

static const char *text_of(const struct memc_reader *r)
{
    switch (r->result) {
    case MEMCACHED_OK:
        return "done";
    case MEMCACHED_MISS:
        return "no such key";
    case MEMCACHED_NOT_STORED:
        return "not stored";
    default:
        return r->line;
    }
}

static struct memc_command *pop(struct memc_connection *c)
{
    struct memc_command *command = c->first;

    c->first = command->next;
    if (!c->first)
        c->last = NULL;
    if (c->unsent == command) {
        c->unsent = command->next;
        c->sent = 0;
    }
    c->ncommands--;
    return command;
}

/*
 * The answer to the first command is complete. Where a value was cut short, or the server may read it as commands, what
 * follows would mean something else.
 * @return 0; -1: the connection is closed
 */
static int answer_first(struct memc_connection *c)
{
    struct memc_reader reader = c->reader;
    const bool is_confused =
        c->unsent == c->first || (reader.is_unknown && reader.kind == MEMC_STORE);
    struct memc_command *command = pop(c);
    struct memc_pool *pool = c->server->pool;
    const struct memcached_answer answer = {.result = reader.result,
                                            .value = reader.value,
                                            .len = reader.value_got,
                                            .number = reader.number,
                                            .text = text_of(&reader)};

    c->is_answering = false;
    c->reader.value = NULL;
    if (c->is_probe) {
        c->is_probe = false;
        memc_server_is_back(c->server);
    }
    if (is_confused)
        fail(c, MEMCACHED_LOST, "the connection ended after a refusal", false);
    memc_pool_answer(pool, command, &answer);
    memc_reader_fini(&reader);
    return is_confused ? -1 : 0;
}

/* @return 0; -1: the connection is closed */
static int take_bytes(struct memc_connection *c, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n;

        if (!c->first || (c->first == c->unsent && c->sent == 0)) {
            fail(c, MEMCACHED_MALFORMED, "an answer without a command", true);
            return -1;
        }
        if (!c->is_answering)
            memc_reader_begin(&c->reader, c->first->kind, c->first->bytes + c->first->key_at,
                              c->first->key_len, c->server->pool->client->value_max);
        c->is_answering = true;
        n = memc_reader_feed(&c->reader, bytes, len);
        if (n < 0) {
            fail(c, MEMCACHED_MALFORMED, c->reader.why, true);
            return -1;
        }
        bytes += n;
        len -= (size_t)n;
        if (c->reader.state == MEMC_READER_DONE && answer_first(c) < 0)
            return -1;
    }
    return 0;
}

/* ---- events ---- */

static int on_close(int fd, void *arg)
{
    struct memc_connection *c = arg;

    (void)fd;
    fail(c, MEMCACHED_LOST, "the server closed the connection",
         c->first != NULL || c->state == MEMC_CONNECTION_CONNECTING);
    return DUDA_EVENT_OWNED;
}

static int on_read(int fd, void *arg)
{
    struct memc_connection *c = arg;
    char room[ROOM];

    for (int i = 0; i < ROUNDS_MAX; i++) {
        const ssize_t n = recv(fd, room, sizeof(room), MSG_DONTWAIT);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return DUDA_EVENT_OWNED;
        if (n <= 0)
            return on_close(fd, c);
        if (take_bytes(c, room, (size_t)n) < 0 || (size_t)n < sizeof(room))
            return DUDA_EVENT_OWNED;
    }
    return DUDA_EVENT_OWNED;
}

static int on_write(int fd, void *arg)
{
    struct memc_connection *c = arg;
    int err = 0;
    socklen_t len = sizeof(err);

    if (c->state == MEMC_CONNECTION_CONNECTING &&
        (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0 || err != 0))
        return on_close(fd, c);
    c->state = MEMC_CONNECTION_READY;
    flush(c);
    return DUDA_EVENT_OWNED;
}

/* ---- the beginning ---- */

struct memc_connection *memc_connection_open(struct memc_server *s)
{
    struct memc_connection *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->server = s;
    c->is_writing = true;
    c->fd = address_connect(s->place);
    if (c->fd < 0 || event->add(c->fd, DUDA_EVENT_RW, DUDA_EVENT_LEVEL_TRIGGERED, on_read, on_write,
                                on_close, on_close, on_close, c) < 0) {
        if (c->fd >= 0)
            (void)close(c->fd);
        free(c);
        return NULL;
    }
    c->next = s->connections;
    s->connections = c;
    s->nconnections++;
    return c;
}

bool memc_connection_is_usable(const struct memc_connection *c)
{
    char byte;

    return c->first || c->state == MEMC_CONNECTION_CONNECTING ||
           (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN);
}
