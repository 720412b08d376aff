/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <monkey/events.h>
#include <monkey/server.h>

#include <stdlib.h>

/* The scene stands for stream, worker and server at once: those are opaque to the library. */
static struct scene *present;

void scene_open(struct scene *s)
{
    *s = (struct scene){.spec = {.size = sizeof(s->spec)}};
    s->ws = (struct mk_ws){.spec = &s->spec, .state = WS_OPEN, .frames.max = SCENE_ROOM};
    present = s;
}

void scene_close(struct scene *s)
{
    ws_groups_end(&s->ws);
    ws_gathered_free(&s->ws);
    ws_queue_free(&s->ws);
}

void scene_take(struct scene *s, size_t bytes)
{
    present = s;
    s->credit += bytes;
    ws_queue_flush(&s->ws);
}

void scene_feed(struct scene *s, unsigned first_byte, struct mk_str payload)
{
    char frame[6 + WS_CONTROL_MAX] = {(char)first_byte, (char)(0x80 | payload.len)};

    assert_true(payload.len <= WS_CONTROL_MAX);
    present = s;
    if (payload.len > 0) /* the mask is zero */
        memcpy(frame + 6, payload.p, payload.len);
    ws_take_input(&s->ws, frame, 6 + payload.len);
}

void scene_expect(struct scene *s, const void *bytes, size_t len)
{
    assert_int_equal(s->nsent, len);
    assert_memory_equal(s->sent, bytes, len);
    s->nsent = 0;
}

/* ---- what the library calls ---- */

void mk_stream_hold(struct mk_stream *stream, size_t bytes)
{
    (void)stream;
    present->held = bytes;
}

ssize_t mk_stream_write(struct mk_stream *stream, const struct iovec *iov, int niov)
{
    struct scene *s = present;
    size_t taken = 0;

    (void)stream;
    if (s->is_broken)
        return MK_E_PEER;
    for (int i = 0; i < niov && s->credit > 0; i++) {
        const size_t n = iov[i].iov_len < s->credit ? iov[i].iov_len : s->credit;

        assert_true(s->nsent + n <= SCENE_ROOM);
        memcpy(s->sent + s->nsent, iov[i].iov_base, n);
        s->nsent += n;
        s->credit -= n;
        taken += n;
    }
    return taken > 0 ? (ssize_t)taken : MK_E_AGAIN;
}

void mk_stream_timeout(struct mk_stream *stream, unsigned ms)
{
    (void)stream;
    (void)ms;
}

void mk_stream_run_soon(struct mk_stream *stream)
{
    (void)stream;
    present->is_asked = true;
}

void mk_stream_shutdown(struct mk_stream *stream)
{
    (void)stream;
    present->is_shut = true;
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    (void)w;
    return present->index;
}

unsigned mk_server_workers(const struct mk_server *server)
{
    (void)server;
    return SCENE_WORKERS;
}

struct mk_server_handle *mk_server_handle(struct mk_server *server)
{
    present->nhandles++;
    return (struct mk_server_handle *)server;
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return NULL;
}

bool mk_server_handle_is_of(const struct mk_server_handle *h, struct mk_server *server)
{
    (void)h, (void)server;
    return !present->is_foreign;
}

void mk_server_handle_put(struct mk_server_handle *h)
{
    (void)h;
    present->nhandles--;
}

int mk_server_handle_each_worker(struct mk_server_handle *h, void (*fn)(struct mk_worker *, void *),
                                 void *arg)
{
    (void)h;
    if (present->has_ended)
        return MK_E_PEER;
    for (present->index = 0; present->index < SCENE_WORKERS; present->index++)
        fn(NULL, arg);
    present->index = 0;
    return 0;
}
