/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin.h"

#include "intake.h"
#include "pool.h"

/* ---- the answer ---- */

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct mk_py_call *c = arg;
    struct mk_py_output *out = &c->output;
    ssize_t n;

    (void)mk_py_intake_take(c, r);
    (void)pthread_mutex_lock(&c->lock);
    n = (ssize_t)mk_py_fifo_pull(&out->fifo, dst, len);
    if (n == 0 && out->is_done)
        n = out->is_broken ? MK_E_BAD : 0;
    else if (n == 0)
        n = MK_E_AGAIN;
    c->is_asleep = n == MK_E_AGAIN || c->input.is_paused;
    if (n > 0 && out->fifo.len <= c->pool->answer_memory / 2)
        (void)pthread_cond_signal(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    return n;
}

/* Is all of the answer there? Then the Python thread does not touch it any more. */
static bool is_complete(struct mk_py_call *c)
{
    bool is_done;

    (void)pthread_mutex_lock(&c->lock);
    is_done = c->output.is_done && !c->output.is_broken;
    (void)pthread_mutex_unlock(&c->lock);
    return is_done;
}

static int send_body(struct mk_request *r, struct mk_py_call *c)
{
    struct mk_py_output *out = &c->output;
    bool is_done = is_complete(c);
    const char *whole = is_done ? mk_py_fifo_whole(&out->fifo) : NULL;
    int fd = out->fd;

    if (fd >= 0) {
        out->fd = -1;
        return mk_reply_fd(r, fd, out->file_at, out->file_len);
    }
    if (whole) /* lives in the call, which lives until the request ends */
        return mk_reply_memory(r, (struct mk_str){whole, out->fifo.len});
    if (is_done && out->length == 0)
        return 0;
    return mk_reply_producer(r, produce, c);
}

static enum mk_verdict send_head(struct mk_request *r, struct mk_py_call *c)
{
    const struct mk_py_head *head = c->output.head;
    struct mk_reply p;

    if (mk_reply_begin(&p, r, head->status) < 0)
        return MK_VERDICT_DONE;
    for (size_t i = 0; i < head->nlines; i++)
        mk_reply_line(&p, head->lines[i].name, head->lines[i].value);
    if (mk_reply_end(&p, c->output.length) == 0 && send_body(r, c) < 0)
        mk_reply_abort(r);
    return MK_VERDICT_DONE;
}

static enum mk_verdict refuse(struct mk_request *r, int error)
{
    if (error == MK_E_PEER)
        return MK_VERDICT_CLOSE;
    if (error == MK_E_SYS)
        mk_request_log(r, MK_LOG_ERROR, "wsgi: cannot keep a request body");
    return mk_reply_error(r, error == MK_E_LIMIT ? 413 : error == MK_E_BAD ? 400 : 500, NULL);
}

static enum mk_verdict answer(struct mk_request *r, struct mk_py_call *c)
{
    if (c->output.is_passed)
        return MK_VERDICT_PASS;
    return c->output.head ? send_head(r, c) : refuse(r, c->input.error);
}

/* ---- the request ---- */

static void on_end(void *arg)
{
    struct mk_py_call *c = arg;

    mk_py_call_end(c);
    mk_py_call_put(c);
}

static struct mk_py_call *begin(struct mk_request *r, struct mk_py_pool *pool)
{
    struct mk_py_call *c = mk_py_call_new(pool, r);

    if (!c)
        return NULL;
    if (mk_request_on_end(r, on_end, c) < 0) {
        mk_py_call_put(c);
        return NULL;
    }
    mk_py_intake_init(c, r);
    return mk_request_keep(r, &mk_py_plugin, c) < 0 ? NULL : c;
}

/* Has the Python thread said how to go on? If not, it wakes the worker when it has. */
static bool is_answered(struct mk_py_call *c)
{
    bool has_head;

    (void)pthread_mutex_lock(&c->lock);
    has_head = c->output.has_head;
    c->is_asleep = !has_head;
    (void)pthread_mutex_unlock(&c->lock);
    return has_head;
}

static bool submit(struct mk_request *r, struct mk_py_call *c)
{
    if (c->input.has_submitted || (c->input.is_whole && !c->input.is_ended))
        return true;
    mk_request_hold(r, c->input.fifo.len);
    c->input.has_submitted = true;
    return mk_py_pool_add(c->pool, c);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_py_call *c = mk_request_kept(r, &mk_py_plugin);
    int err;

    (void)data;
    if (!c)
        c = begin(r, ctx->config);
    if (!c)
        return mk_reply_error(r, 503, NULL);
    err = mk_py_intake_take(c, r);
    if (err < 0)
        return refuse(r, err);
    if (!submit(r, c)) {
        mk_request_reason(r, "all Python threads are busy");
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    }
    return is_answered(c) ? answer(r, c) : MK_VERDICT_LATER;
}

static int check_site(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^"), NULL, NULL, true);
}

const struct mk_plugin mk_py_plugin = {
    MK_PLUGIN("wsgi", "Python applications of the program"),
    .check_site = check_site,
    .on_handle = on_handle,
};
