/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "server/backend/stream.h"
#include "server/worker/worker.h"
#include "upstream/resolve.h"
#include "upstream/upstream_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

enum { ASK_AGAIN_MS = 1000 }; /* for a second look-up of a name whose addresses refuse */

/*
 * From a permit to a connection: name, addresses, dial. One after the other, all within connect_ms, of which each address
 * has a share: one that says nothing does not take the time of those behind it, and is asked last for a while. If no address
 * can be connected to, the backend may have moved, and its name is looked up once more.
 */

static void dial_next(struct mk_upstream_wait *wait);
static void resolve(struct mk_upstream_wait *wait);

static bool is_same(const struct mk_address *a, const struct mk_address *b)
{
    return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

static int64_t now_of(const struct mk_upstream_wait *wait)
{
    return wait->lane->worker->loop.clock.mono_ms;
}

static void remember_silent(struct mk_upstream_wait *wait, const struct mk_address *address)
{
    wait->lane->silent = *address;
    wait->lane->silent_ms = now_of(wait) + MK_RESOLVE_FRESH_MS;
}

static void put_silent_last(struct mk_upstream_wait *wait)
{
    struct mk_address *list = wait->addresses;
    const struct mk_lane *lane = wait->lane;
    int last = wait->naddresses - 1;

    if (now_of(wait) >= lane->silent_ms)
        return;
    for (int i = 0; i < last; i++) {
        if (!is_same(&list[i], &lane->silent))
            continue;
        memmove(&list[i], &list[i + 1], (size_t)(last - i) * sizeof(*list));
        list[last] = lane->silent;
        return;
    }
}

static void note_failure(struct mk_upstream_wait *wait, const struct mk_address *address, int error)
{
    wait->lane->failed = *address;
    wait->lane->failed_errno = error;
    wait->lane->failed_protocol = false;
}

static void on_dialled(struct mk_stream *s, unsigned events, void *arg)
{
    struct mk_upstream_wait *wait = arg;

    if (!(events & (MK_IO_ERROR | MK_IO_TIMEOUT))) {
        mk_wait_connected(wait);
        return;
    }
    note_failure(wait, &wait->addresses[wait->next - 1], mk_stream_error(s));
    wait->lane->failed_protocol = s->unagreed;
    if (events & MK_IO_TIMEOUT)
        remember_silent(wait, &wait->addresses[wait->next - 1]);
    mk_stream_close(s);
    wait->kept->stream = NULL;
    dial_next(wait);
}

/* @return ms until the deadline, 0 or less behind it; INT64_MAX: there is none. */
static int64_t time_left(const struct mk_upstream_wait *wait)
{
    return wait->deadline_ms ? wait->deadline_ms - now_of(wait) : INT64_MAX;
}

/* @return the same for a timer: at least 1; 0: there is none. */
static unsigned timer_left(const struct mk_upstream_wait *wait)
{
    int64_t left = time_left(wait);

    return left == INT64_MAX ? 0 : left > 0 ? (unsigned)left : 1;
}

/* @return ms; 0: no bound but that of the wait. */
static unsigned share_of_time(const struct mk_upstream_wait *wait)
{
    int64_t left = time_left(wait);
    int others = wait->naddresses - wait->next;

    return left != INT64_MAX && others > 0 && left > others ? (unsigned)(left / (others + 1)) : 0;
}

static int dial(struct mk_upstream_wait *wait, const struct mk_address *address)
{
    const struct mk_upstream *u = wait->lane->upstream;
    struct mk_stream **stream = &wait->kept->stream;
    const struct mk_dial to = {
        .size = sizeof(to),
        .addr = (const struct sockaddr *)&address->addr,
        .addr_len = address->len,
        .transport = u->transport,
        .name = u->name,
        .timeout_ms = share_of_time(wait),
        .protocol = u->protocol,
    };
    int err = mk_stream_dial(stream, wait->lane->worker, &to, on_dialled, wait);

    if (err == MK_E_PEER)
        note_failure(wait, address, errno);
    if (err < 0)
        *stream = NULL;
    else
        (*stream)->owner = wait->kept;
    return err;
}

/*
 * A Unix socket whose queue is full refuses at once (EAGAIN) and tells nobody when there is room: a burst of clients
 * would be turned away where over TCP it would wait. So it is tried again while there is time to connect.
 */
static void pause_dialling(struct mk_upstream_wait *wait)
{
    wait->next = 0;
    mk_wait_go(wait, MK_WAIT_PAUSING);
    mk_wait_set_timer(wait, MK_TICK_MS);
}

/*
 * Others may have had the name looked up meanwhile; the addresses that are known are not dialled once more. A resolver that is
 * slow must not delay the next backend for long.
 */
static void ask_again(struct mk_upstream_wait *wait)
{
    unsigned left_ms = timer_left(wait);

    mk_resolve_doubt(wait->lane->worker, wait->lane->upstream->host);
    wait->asked_again = true;
    mk_wait_set_timer(wait, left_ms > 0 && left_ms < ASK_AGAIN_MS ? left_ms : ASK_AGAIN_MS);
    mk_wait_go(wait, MK_WAIT_RESOLVING);
    resolve(wait);
}

/* Who has no IPv6 is told as if all ports were taken: only where no address does otherwise may time help. */
static void dial_next(struct mk_upstream_wait *wait)
{
    int last = MK_E_BUSY, err = wait->next == 0 ? MK_E_BUSY : MK_E_PEER;

    while ((last == MK_E_BUSY || last == MK_E_PEER) && wait->next < wait->naddresses) {
        last = dial(wait, &wait->addresses[wait->next++]);
        if (last != MK_E_BUSY)
            err = last;
    }
    if (err == MK_E_BUSY && wait->deadline_ms > now_of(wait))
        pause_dialling(wait);
    else if (err == MK_E_PEER && !wait->asked_again)
        ask_again(wait);
    else if (err < 0)
        mk_wait_fail(wait, err);
    else
        mk_wait_go(wait, MK_WAIT_DIALLING);
}

void mk_wait_redial(struct mk_upstream_wait *wait)
{
    if (time_left(wait) <= 0) {
        mk_wait_fail(wait, MK_E_TIMEOUT);
        return;
    }
    mk_wait_set_timer(wait, timer_left(wait));
    dial_next(wait);
}

static bool has_others(const struct mk_upstream_wait *wait, const struct mk_address *addresses,
                       int count)
{
    int known = 0;

    for (int i = 0; i < count; i++) {
        int at = 0;

        while (at < wait->naddresses && !is_same(&wait->addresses[at], &addresses[i]))
            at++;
        known += at < wait->naddresses;
    }
    return known < count;
}

static void on_resolved(void *arg, const struct mk_address *addresses, int count)
{
    struct mk_upstream_wait *wait = arg;
    size_t size = count > 0 ? (size_t)count * sizeof(*addresses) : 0;

    if (wait->state == MK_WAIT_LEFT) {
        mk_wait_forget(wait);
        return;
    }
    if (count <= 0) {
        mk_wait_fail(wait, wait->asked_again ? MK_E_PEER : count < 0 ? count : MK_E_NOENT);
        return;
    }
    if (!has_others(wait, addresses, count)) {
        mk_wait_fail(wait, MK_E_PEER);
        return;
    }
    mk_heap_free(wait->addresses);
    wait->next = wait->naddresses = 0;
    wait->addresses = mk_heap_alloc(size);
    if (!wait->addresses) {
        mk_wait_fail(wait, MK_E_NOMEM);
        return;
    }
    memcpy(wait->addresses, addresses, size);
    wait->naddresses = count;
    put_silent_last(wait);
    if (wait->asked_again)
        mk_wait_set_timer(wait, timer_left(wait));
    dial_next(wait);
}

static void resolve(struct mk_upstream_wait *wait)
{
    const struct mk_upstream *u = wait->lane->upstream;
    int err = mk_resolve(wait->lane->worker, u->host, u->port, on_resolved, wait);

    if (err < 0)
        mk_wait_fail(wait, err);
}

static struct mk_kept *new_kept(struct mk_lane *lane)
{
    struct mk_kept *kept = mk_heap_zalloc(1, sizeof(*kept));

    if (!kept)
        return NULL;
    kept->lane = lane;
    mk_list_init(&kept->link);
    mk_upstream_get(lane->upstream);
    return kept;
}

void mk_wait_connect(struct mk_upstream_wait *wait)
{
    struct mk_lane *lane = wait->lane;

    wait->kept = new_kept(lane);
    if (!wait->kept) {
        mk_wait_fail(wait, MK_E_NOMEM);
        return;
    }
    mk_wait_go(wait, MK_WAIT_RESOLVING);
    lane->failed_errno = 0;
    wait->deadline_ms = lane->upstream->connect_ms ? now_of(wait) + lane->upstream->connect_ms : 0;
    mk_wait_set_timer(wait, lane->upstream->connect_ms);
    resolve(wait);
}

/* ---- for people ---- */

static bool is_unix(const struct mk_upstream *u)
{
    return strncmp(u->host, "unix:", 5) == 0;
}

/* "/run/app", "127.0.0.1:80", "[::1]:80" or, of a name, "app:80 (10.0.0.1)". */
static void name_address(const struct mk_upstream *u, const struct mk_lane *lane, char *text,
                         size_t size)
{
    const struct sockaddr *sa = (const struct sockaddr *)&lane->failed.addr;
    bool has_colon = strchr(u->host, ':');
    char ip[INET6_ADDRSTRLEN] = "";

    if (is_unix(u)) {
        (void)snprintf(text, size, "%s", u->host + 5);
        return;
    }
    if (lane->failed_errno && sa->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, ip,
                        sizeof(ip));
    else if (lane->failed_errno && sa->sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, ip,
                        sizeof(ip));
    if (strcmp(ip, u->host) == 0)
        ip[0] = '\0';
    (void)snprintf(text, size, "%s%s%s:%u%s%s%s", has_colon ? "[" : "", u->host,
                   has_colon ? "]" : "", u->port, *ip ? " (" : "", ip, *ip ? ")" : "");
}

/* @return what happened, for errors that lane->failed_errno tells more of. */
static const char *why_not(const struct mk_lane *lane, int error)
{
    if (error == MK_E_TIMEOUT || lane->failed_errno == ETIMEDOUT)
        return "no connection in time";
    if (error == MK_E_NOENT)
        return "the name does not exist";
    if (error == MK_E_AGAIN)
        return "the name cannot be looked up now";
    if (error != MK_E_PEER || lane->failed_errno == 0)
        return mk_error_text(error);
    if (lane->failed_errno == EPROTO)
        return "the TLS handshake failed";
    return strerror(lane->failed_errno);
}

void mk_upstream_why(struct mk_upstream *u, const struct mk_worker *w, int error, char *text,
                     size_t size)
{
    const struct mk_lane *lane = &u->lanes[w->index];
    char address[MK_ADDR_TEXT + INET6_ADDRSTRLEN];

    if (error == MK_E_BUSY) {
        (void)snprintf(text, size, "no connection is free");
        return;
    }
    name_address(u, lane, address, sizeof(address));
    if (error == MK_E_PEER && lane->failed_errno == EPROTO && lane->failed_protocol)
        (void)snprintf(text, size, "%s: the backend does not speak %s (ALPN)", address,
                       u->protocol);
    else
        (void)snprintf(text, size, "%s: %s", address, why_not(lane, error));
}
