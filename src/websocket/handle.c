/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <pthread.h>
#include <stdlib.h>

/* A name of a connection for other threads. What they want done is posted to its worker. */

struct mk_ws_handle {
    struct counted refs;
    pthread_mutex_t mutex;    /* between a post and the end of the connection */
    struct mk_worker *worker; /* NULL: the connection has ended */
    struct mk_ws *ws;         /* for the worker; NULL likewise */
};

struct job {
    struct mk_ws_handle *handle;
    struct ws_frame *frame; /* NULL: close */
    unsigned code;
};

struct mk_ws_handle *mk_ws_handle_get(struct mk_ws_handle *h)
{
    if (h)
        counted_get(&h->refs);
    return h;
}

void mk_ws_handle_put(struct mk_ws_handle *h)
{
    if (!h || !counted_put(&h->refs))
        return;
    (void)pthread_mutex_destroy(&h->mutex);
    free(h);
}

struct mk_ws_handle *mk_ws_handle(struct mk_ws *ws)
{
    struct mk_ws_handle *h = ws ? ws->handle : NULL;

    if (!ws)
        return NULL;
    if (!h) {
        h = calloc(1, sizeof(*h));
        if (!h)
            return NULL;
        counted_init(&h->refs, 1);
        (void)pthread_mutex_init(&h->mutex, NULL);
        h->worker = ws->worker;
        h->ws = ws;
        ws->handle = h;
    }
    return mk_ws_handle_get(h);
}

void ws_handle_end(struct mk_ws *ws)
{
    struct mk_ws_handle *h = ws->handle;

    if (!h)
        return;
    (void)pthread_mutex_lock(&h->mutex);
    h->worker = NULL;
    h->ws = NULL;
    (void)pthread_mutex_unlock(&h->mutex);
    ws->handle = NULL;
    mk_ws_handle_put(h);
}

static void free_job(struct job *job)
{
    if (job->frame)
        ws_frame_put(job->frame);
    mk_ws_handle_put(job->handle);
    free(job);
}

static void run_job(struct mk_worker *w, void *arg)
{
    struct job *job = arg;
    struct mk_ws *ws = job->handle->ws; /* this worker alone changes it */

    (void)w;
    if (ws && job->frame)
        (void)ws_queue_send_framed(ws, job->frame);
    else if (ws)
        mk_ws_close(ws, job->code, (struct mk_str){"", 0});
    free_job(job);
}

static int post(struct mk_ws_handle *h, struct ws_frame *frame, unsigned code)
{
    struct job *job = malloc(sizeof(*job));
    int err = MK_E_NOMEM;

    if (!job) {
        if (frame)
            ws_frame_put(frame);
        return err;
    }
    *job = (struct job){mk_ws_handle_get(h), frame, code};
    (void)pthread_mutex_lock(&h->mutex);
    err = h->worker ? mk_worker_post(h->worker, run_job, job) : MK_E_PEER;
    (void)pthread_mutex_unlock(&h->mutex);
    if (err < 0)
        free_job(job);
    return err;
}

int mk_ws_handle_send(struct mk_ws_handle *h, enum mk_ws_kind kind, struct mk_str message)
{
    struct ws_frame *frame;

    if (!h)
        return MK_E_INVALID;
    frame = ws_frame_new(kind == MK_WS_TEXT ? WS_TEXT : WS_BINARY, message);
    return frame ? post(h, frame, 0) : MK_E_NOMEM;
}

int mk_ws_handle_close(struct mk_ws_handle *h, unsigned code)
{
    return h ? post(h, NULL, code) : MK_E_INVALID;
}
