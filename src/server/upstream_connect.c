/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "server/stream.h"
#include "server/upstream_int.h"
#include "server/worker.h"

/* From a permit to a connection: name, addresses, dial. One after the other, all within connect_ms. */

static void dial_next(struct mk_upstream_wait *wait);

static void on_dialled(struct mk_stream *s, unsigned events, void *arg)
{
    struct mk_upstream_wait *wait = arg;

    if (!(events & (MK_IO_ERROR | MK_IO_TIMEOUT))) {
        mk_wait_connected(wait);
        return;
    }
    mk_stream_close(s);
    wait->kept->stream = NULL;
    dial_next(wait);
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
    };
    int err = mk_stream_dial(stream, wait->lane->worker, &to, on_dialled, wait);

    if (err < 0)
        *stream = NULL;
    else
        (*stream)->owner = wait->kept;
    return err;
}

static int64_t now_of(const struct mk_upstream_wait *wait)
{
    return wait->lane->worker->loop.clock.mono_ms;
}

/*
 * A Unix socket whose queue is full refuses at once (EAGAIN) and tells nobody when there is room: a burst of clients
 * would be turned away where over TCP it would wait. So it is tried again while there is time to connect.
 */
static void pause_dialling(struct mk_upstream_wait *wait)
{
    wait->next--;
    wait->state = MK_WAIT_PAUSING;
    mk_wait_set_timer(wait, MK_TICK_MS);
}

static void dial_next(struct mk_upstream_wait *wait)
{
    int err = MK_E_PEER;

    while (err == MK_E_PEER && wait->next < wait->naddresses)
        err = dial(wait, &wait->addresses[wait->next++]);
    if (err == MK_E_BUSY && wait->deadline_ms > now_of(wait))
        pause_dialling(wait);
    else if (err < 0)
        mk_wait_fail(wait, err);
    else
        wait->state = MK_WAIT_DIALLING;
}

void mk_wait_redial(struct mk_upstream_wait *wait)
{
    int64_t left = wait->deadline_ms - now_of(wait);

    if (left <= 0) {
        mk_wait_fail(wait, MK_E_TIMEOUT);
        return;
    }
    mk_wait_set_timer(wait, (unsigned)left);
    dial_next(wait);
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
        mk_wait_fail(wait, count < 0 ? count : MK_E_NOENT);
        return;
    }
    wait->addresses = mk_heap_alloc(size);
    if (!wait->addresses) {
        mk_wait_fail(wait, MK_E_NOMEM);
        return;
    }
    memcpy(wait->addresses, addresses, size);
    wait->naddresses = count;
    dial_next(wait);
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
    int err;

    wait->kept = new_kept(lane);
    if (!wait->kept) {
        mk_wait_fail(wait, MK_E_NOMEM);
        return;
    }
    wait->state = MK_WAIT_RESOLVING;
    wait->deadline_ms = lane->upstream->connect_ms ? now_of(wait) + lane->upstream->connect_ms : 0;
    mk_wait_set_timer(wait, lane->upstream->connect_ms);
    err = mk_resolve(lane->worker, lane->upstream->host, lane->upstream->port, on_resolved, wait);
    if (err < 0)
        mk_wait_fail(wait, err);
}
