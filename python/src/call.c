/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include "pool.h"

#include <monkey/events.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- making and freeing ---- */

/* Where the next text of a block goes. */
struct cursor {
    char *at;
};

static struct mk_str put(struct cursor *to, struct mk_str text)
{
    struct mk_str copy = {to->at, text.len};

    if (!text.p)
        return text;
    memcpy(to->at, text.p, text.len);
    to->at[text.len] = '\0';
    to->at += text.len + 1;
    return copy;
}

static size_t room_for(struct mk_str text)
{
    return text.p ? text.len + 1 : 0;
}

static size_t size_of_lines(const struct mk_request *r, size_t *nlines)
{
    struct mk_str name, value;
    uint32_t at = 0;
    size_t size = 0;

    *nlines = 0;
    while (mk_request_next_header(r, &at, &name, &value)) {
        size += sizeof(struct mk_py_line) + name.len + value.len + 2;
        ++*nlines;
    }
    return size;
}

static void copy_lines(struct mk_py_head *head, const struct mk_request *r, struct cursor *to)
{
    struct mk_str name, value;
    uint32_t at = 0;

    while (mk_request_next_header(r, &at, &name, &value)) {
        head->lines[head->nlines].name = put(to, name);
        head->lines[head->nlines++].value = put(to, value);
    }
}

static bool copy_head(struct mk_py_call *c, struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    struct cursor to;
    size_t nlines, size = sizeof(*c->head) + size_of_lines(r, &nlines);

    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &conn);
    size += room_for(facts.method) + room_for(facts.target) + room_for(facts.path);
    size += room_for(facts.query) + room_for(facts.host) + room_for(mk_str_from(conn.listen));
    size += room_for(mk_str_from(facts.site_name));
    c->head = malloc(size);
    if (!c->head)
        return false;
    *c->head = (struct mk_py_head){0};
    to.at = (char *)(c->head->lines + nlines);
    copy_lines(c->head, r, &to);
    c->method = put(&to, facts.method);
    c->target = put(&to, facts.target);
    c->path = put(&to, facts.path);
    c->query = put(&to, facts.query);
    c->host = put(&to, facts.host);
    c->listen = put(&to, mk_str_from(conn.listen)).p;
    c->site_name = put(&to, mk_str_from(facts.site_name)).p;
    c->server = facts.server;
    c->scheme = facts.scheme;
    c->minor = facts.minor;
    c->content_length = facts.content_length;
    c->peer_port = conn.peer_port;
    (void)mk_conn_peer(facts.conn, c->peer);
    return true;
}

struct mk_py_call *mk_py_call_new(struct mk_py_pool *pool, struct mk_request *r)
{
    struct mk_py_call *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    atomic_init(&c->refs, 1);
    c->pool = pool;
    c->input.fd = c->output.fd = -1;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->changed, NULL);
    c->ticket = mk_request_ticket(r);
    if (c->ticket && copy_head(c, r))
        return c;
    mk_py_call_put(c);
    return NULL;
}

void mk_py_call_ref(struct mk_py_call *c)
{
    (void)atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void mk_py_call_put(struct mk_py_call *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (c->input.fd >= 0)
        (void)close(c->input.fd);
    if (c->output.fd >= 0)
        (void)close(c->output.fd);
    mk_py_fifo_clear(&c->input.fifo);
    mk_py_fifo_clear(&c->output.fifo);
    free(c->output.head);
    free(c->head);
    (void)pthread_cond_destroy(&c->changed);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

void mk_py_call_end(struct mk_py_call *c)
{
    (void)pthread_mutex_lock(&c->lock);
    c->is_over = true;
    mk_py_fifo_clear(&c->output.fifo);
    (void)pthread_cond_broadcast(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
}

bool mk_py_call_is_over(struct mk_py_call *c)
{
    bool is_over;

    (void)pthread_mutex_lock(&c->lock);
    is_over = c->is_over;
    (void)pthread_mutex_unlock(&c->lock);
    return is_over;
}

/* ---- the worker ---- */

/* Under the lock: does it have to be woken? Once for each time that it fell asleep. */
static bool wakes(struct mk_py_call *c)
{
    bool was_asleep = c->is_asleep && !c->is_over;

    if (was_asleep)
        c->is_asleep = false;
    return was_asleep;
}

/* Without the lock. Without memory the worker learns of the change by its HandlerTimeout. */
static void wake(const struct mk_py_call *c, bool is_due)
{
    if (is_due && mk_server_resume(c->server, c->ticket) < 0)
        mk_server_log(c->server, MK_LOG_ERROR, "wsgi: a request cannot be woken: out of memory");
}

/* ---- the request's body ---- */

static ssize_t read_file(struct mk_py_input *in, char *dst, size_t len)
{
    uint64_t left = in->file_len - in->file_at;
    ssize_t n = pread(in->fd, dst, len < left ? len : (size_t)left, (off_t)in->file_at);

    if (n <= 0)
        return MK_E_SYS;
    in->file_at += (uint64_t)n;
    return n;
}

/* Under the lock: the worker may read on when half of the room is free. */
static bool asks_for_more(struct mk_py_call *c)
{
    struct mk_py_input *in = &c->input;

    if (in->is_ended || (in->is_wanted && !in->is_paused) ||
        in->fifo.len > c->pool->body_memory / 2)
        return false;
    in->is_wanted = true;
    in->is_paused = false;
    return true;
}

ssize_t mk_py_call_read(struct mk_py_call *c, char *dst, size_t len)
{
    struct mk_py_input *in = &c->input;
    bool is_in_file = false;
    ssize_t n;

    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        bool is_due;

        n = (ssize_t)mk_py_fifo_pull(&in->fifo, dst, len);
        is_due = asks_for_more(c) && wakes(c);
        if (is_due) {
            (void)pthread_mutex_unlock(&c->lock);
            wake(c, true);
            (void)pthread_mutex_lock(&c->lock);
        }
        if (n > 0 || in->is_ended || c->is_over)
            break;
        (void)pthread_cond_wait(&c->changed, &c->lock);
    }
    if (n == 0 && in->file_at == in->file_len)
        n = in->error ? in->error : in->is_ended ? 0 : MK_E_PEER;
    else if (n == 0)
        is_in_file = true; /* of a whole body: the worker has done with it */
    (void)pthread_mutex_unlock(&c->lock);
    return is_in_file ? read_file(in, dst, len) : n;
}

/* ---- the answer ---- */

void mk_py_call_begin(struct mk_py_call *c, struct mk_py_head *head, int64_t length)
{
    (void)pthread_mutex_lock(&c->lock);
    c->output.head = head;
    c->output.length = length;
    c->output.has_head = true;
    (void)pthread_mutex_unlock(&c->lock);
}

ssize_t mk_py_call_write(struct mk_py_call *c, const char *bytes, size_t len)
{
    struct mk_py_output *out = &c->output;
    size_t room = c->pool->answer_memory;
    ssize_t n = 0;

    (void)pthread_mutex_lock(&c->lock);
    if (c->is_over || out->is_done) {
        n = MK_E_PEER;
    } else if (out->fifo.len < room) {
        room -= out->fifo.len;
        n = (ssize_t)(len < room ? len : room);
        if (!mk_py_fifo_push(&out->fifo, bytes, (size_t)n))
            n = MK_E_NOMEM;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return n;
}

int mk_py_call_wait_for_room(struct mk_py_call *c)
{
    bool is_over;

    mk_py_call_flush(c);
    (void)pthread_mutex_lock(&c->lock);
    while (!c->is_over && c->output.fifo.len > c->pool->answer_memory / 2)
        (void)pthread_cond_wait(&c->changed, &c->lock);
    is_over = c->is_over;
    (void)pthread_mutex_unlock(&c->lock);
    return is_over ? MK_E_PEER : 0;
}

void mk_py_call_flush(struct mk_py_call *c)
{
    bool is_due;

    (void)pthread_mutex_lock(&c->lock);
    is_due = wakes(c);
    (void)pthread_mutex_unlock(&c->lock);
    wake(c, is_due);
}

void mk_py_call_finish(struct mk_py_call *c, bool is_broken)
{
    (void)pthread_mutex_lock(&c->lock);
    c->output.is_done = true;
    c->output.is_broken = is_broken;
    c->output.has_head = true;
    (void)pthread_mutex_unlock(&c->lock);
    mk_py_call_flush(c);
}
