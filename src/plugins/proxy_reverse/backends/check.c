/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include "links/link.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Active checks: the first worker asks each backend of an entry with HealthCheck for a path, over a
 * connection of its own each time, and only looks at the status. One request a backend is under way at
 * most, within one time for all of it.
 */

enum {
    HEAD_ROOM = 16 << 10, /* at first; MaxAnswerHead at most */
    REQUEST_ROOM = 256,   /* for what is in each request */
    FIRST_MS = 100,       /* the first ones come soon, one after the other */
};

struct check {
    struct proxy_checks *checks;
    struct proxy_backend *backend;
    const struct proxy_settings *set;
    struct mk_upstream *upstream; /* nobody else's, and nothing is kept in it */
    struct mk_alarm *alarm;
    struct proxy_link link; /* while asked */
    char *request;
    size_t request_len, sent;
    char *head; /* while asked */
    size_t room, got;
    size_t at, judged, parsed; /* of got: past interim heads; looked at; when it was last parsed */
};

struct proxy_checks {
    struct mk_worker *worker;
    struct proxy_calls *calls;
    struct proxy_reign *reign;
    unsigned n;
    struct check items[];
};

/* ---- one check ---- */

static void end_check(struct check *c)
{
    proxy_link_put(&c->link, false);
    free(c->head);
    c->head = NULL;
}

static void decide(struct check *c, bool is_good)
{
    end_check(c);
    proxy_backend_checked(c->backend, is_good);
    mk_alarm_set(c->alarm, (unsigned)c->set->check_ms);
}

static bool is_wanted(const struct proxy_settings *set, unsigned status)
{
    return set->check_status ? status == set->check_status : status >= 200 && status < 400;
}

/* Does a line without anything end in what has come since the last time? */
static bool has_end(const struct check *c)
{
    for (size_t i = c->judged > 0 ? c->judged : 1; i < c->got; i++) {
        if (c->head[i] == '\n' &&
            (c->head[i - 1] == '\n' || (i > 1 && c->head[i - 1] == '\r' && c->head[i - 2] == '\n')))
            return true;
    }
    return false;
}

/* A head that comes byte by byte is not parsed from its start for each of them. */
static bool is_worth_parsing(struct check *c, size_t most)
{
    bool is_twice = c->got / 2 >= c->parsed;
    bool is_worth = is_twice || c->got >= most || has_end(c);

    c->judged = c->got;
    if (is_worth)
        c->parsed = c->got;
    return is_worth;
}

/* @return 1: decided; 0: more is to come. */
static int judge_check(struct check *c)
{
    struct mk_response_head head = {.lenient = c->set->is_lenient};
    size_t most = (size_t)c->set->max_answer_head;

    if (!is_worth_parsing(c, most))
        return 0;

    for (;;) {
        ssize_t len =
            mk_response_parse(&head, MK_RESPONSE_HTTP, c->head + c->at, c->got - c->at, most);

        if (len == MK_E_AGAIN && c->got < most)
            return 0;
        if (len < 0) {
            decide(c, false);
            return 1;
        }
        if (head.status >= 200 || head.status == 101) {
            decide(c, is_wanted(c->set, head.status));
            return 1;
        }
        c->at += (size_t)len; /* an interim response: bounded by the room for all heads */
        head = (struct mk_response_head){.lenient = c->set->is_lenient};
    }
}

/* @return whether there is room for more. */
static bool make_room(struct check *c)
{
    size_t most = (size_t)c->set->max_answer_head, room = c->room * 4 < most ? c->room * 4 : most;
    char *head;

    if (c->got < c->room)
        return true;
    head = realloc(c->head, room);
    if (!head)
        return false;
    c->head = head;
    c->room = room;
    return true;
}

static void receive_check(struct check *c)
{
    for (;;) {
        ssize_t n = make_room(c) ? proxy_link_read(&c->link, c->head + c->got, c->room - c->got)
                                 : MK_E_NOMEM;

        if (n == MK_E_AGAIN)
            return;
        if (n <= 0) {
            decide(c, false);
            return;
        }
        c->got += (size_t)n;
        if (judge_check(c))
            return;
    }
}

/* @return whether it goes on. */
static bool send_rest(struct check *c)
{
    struct iovec iov = {c->request + c->sent, c->request_len - c->sent};
    ssize_t n = iov.iov_len > 0 ? proxy_link_write(&c->link, &iov, 1) : 0;

    if (n >= 0)
        c->sent += (size_t)n;
    if (n >= 0 || n == MK_E_AGAIN)
        return true;
    decide(c, false);
    return false;
}

static void on_check_event(struct mk_stream *s, unsigned events, void *arg)
{
    struct check *c = arg;

    (void)s;
    if (events & MK_IO_TIMEOUT)
        decide(c, false);
    else if (send_rest(c))
        receive_check(c);
}

static void on_check_connected(void *arg, bool fresh, int error)
{
    struct check *c = arg;

    (void)fresh;
    c->head = error == 0 ? malloc(HEAD_ROOM) : NULL;
    if (error < 0) {
        decide(c, false);
    } else if (!c->head) {
        end_check(c); /* it is not the backend that has no memory */
        mk_alarm_set(c->alarm, (unsigned)c->set->check_ms);
    } else {
        c->room = HEAD_ROOM;
        c->got = c->sent = c->at = c->judged = c->parsed = 0;
        proxy_link_tell(&c->link, on_check_event, c);
        proxy_link_timeout(&c->link, (unsigned)c->set->read_ms);
    }
}

/* Calls share a connection from one check to the next. */
static int take_link(struct check *c)
{
    const struct proxy_call_way way = {.upstream = c->upstream, .is_secure = c->set->is_secure};

    return proxy_link_take(&c->link, c->set->is_h2 ? c->checks->calls : NULL, c->checks->worker,
                           &way, !c->set->is_h2, on_check_connected, c);
}

static void on_check_alarm(struct mk_alarm *alarm, void *arg)
{
    struct check *c = arg;

    /* If it is over for good, the requests of before are all that there is to wait for. */
    if (c->checks->reign->is_over || take_link(c) < 0)
        mk_alarm_set(alarm, (unsigned)c->set->check_ms);
}

/* ---- all of them ---- */

/* What a backend that expects the PROXY protocol wants to read first: nobody's address. */
static size_t put_check_protocol(char *dst, int protocol)
{
    static const char v1[] = "PROXY UNKNOWN\r\n";
    static const char v2[] = "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"; /* LOCAL */

    if (protocol == PROXY_PROTOCOL_V1) {
        memcpy(dst, v1, sizeof(v1) - 1);
        return sizeof(v1) - 1;
    }
    if (protocol == PROXY_PROTOCOL_V2) {
        memcpy(dst, v2, sizeof(v2) - 1);
        return sizeof(v2) - 1;
    }
    return 0;
}

static bool write_request(struct check *c)
{
    struct mk_str host =
        c->set->host == PROXY_HOST_TEXT ? c->set->host_text : c->backend->authority;
    size_t room = strlen(c->set->check_path) + host.len + REQUEST_ROOM, len;

    c->request = malloc(room);
    if (!c->request)
        return false;
    len = put_check_protocol(c->request, c->set->protocol);
    c->request_len =
        len +
        (size_t)snprintf(c->request + len, room - len,
                         "GET %s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: Monkey health check\r\n"
                         "Accept: */*\r\nConnection: close\r\n\r\n",
                         c->set->check_path, (int)host.len, host.p);
    return true;
}

static struct mk_upstream *own_upstream(struct mk_server *server, const struct check *c)
{
    struct mk_upstream_options options = {
        .size = sizeof(options),
        .host = c->backend->host,
        .port = c->backend->port,
        .transport = c->set->transport,
        .name = c->set->server_name ? c->set->server_name : c->backend->host,
        .connect_ms = (unsigned)c->set->connect_ms,
        .protocol = c->set->is_h2 && c->set->is_secure ? "h2" : NULL,
    };

    return mk_upstream_new(server, &options);
}

static bool begin_check(struct check *c, const struct mk_context *ctx, unsigned number)
{
    c->upstream = own_upstream(ctx->server, c);
    c->alarm = mk_alarm_new(ctx->worker, on_check_alarm, c);
    if (!c->upstream || !c->alarm || !write_request(c))
        return false;
    mk_alarm_set(c->alarm, FIRST_MS * (1 + number % 50));
    return true;
}

static unsigned count_backends(const struct proxy_config *config)
{
    unsigned n = 0;

    for (const struct proxy_entry *e = config->entries; e; e = e->next)
        n += e->set->check_path ? e->group->n : 0;
    return n;
}

static bool begin_entry(struct proxy_checks *checks, const struct mk_context *ctx,
                        const struct proxy_entry *e)
{
    for (unsigned i = 0; i < e->group->n; i++) {
        struct check *c = &checks->items[checks->n++];

        *c = (struct check){
            .checks = checks, .backend = proxy_backend_get(e->group->backends[i]), .set = e->set};
        if (!begin_check(c, ctx, i))
            return false;
    }
    return true;
}

int proxy_checks_start(const struct mk_context *ctx, struct proxy_calls *calls,
                       struct proxy_checks **checks)
{
    const struct proxy_config *config = ctx->config;
    unsigned n = count_backends(config);

    *checks = NULL;
    if (n == 0 || mk_worker_index(ctx->worker) != 0)
        return 0;
    *checks = calloc(1, sizeof(**checks) + n * sizeof((*checks)->items[0]));
    if (!*checks)
        return MK_E_NOMEM;
    (*checks)->worker = ctx->worker;
    (*checks)->calls = calls;
    (*checks)->reign = proxy_reign_get(config->reign);
    for (const struct proxy_entry *e = config->entries; e; e = e->next) {
        if (e->set->check_path && !begin_entry(*checks, ctx, e)) {
            proxy_checks_stop(*checks);
            *checks = NULL;
            return MK_E_NOMEM;
        }
    }
    return 0;
}

void proxy_checks_stop(struct proxy_checks *checks)
{
    for (unsigned i = 0; checks && i < checks->n; i++) {
        struct check *c = &checks->items[i];

        end_check(c);
        mk_alarm_free(c->alarm);
        mk_upstream_free(c->upstream);
        free(c->request);
        proxy_backend_put(c->backend);
    }
    if (checks)
        proxy_reign_put(checks->reign);
    free(checks);
}
