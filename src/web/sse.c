/* SPDX-License-Identifier: Apache-2.0 */
#include "web/sse_int.h"

#include <monkey/events.h>

#include "base/heap.h"
#include "base/str.h"
#include "kit/group/group.h"

/* Streams of events. What waits for the client are texts in memory, each from what is sent of it on. */

enum { QUEUE = 64 << 10, HEARTBEAT_MS = 15000 };

void mk_sse_text_put(struct mk_sse_text *text)
{
    if (!text || !counted_put(&text->refs))
        return;
    mk_buf_fini(&text->buf);
    mk_heap_free(text);
}

static void drop_large(struct mk_sse *s)
{
    mk_sse_text_put(s->large);
    s->large = NULL;
    s->large_sent = 0;
}

static void drop(void *arg)
{
    struct mk_sse *s = arg;

    group_leave_all(&s->groups);
    mk_alarm_free(s->heartbeat);
    drop_large(s);
    mk_buf_fini(&s->queue);
    mk_heap_free(s);
}

static void end(void *arg)
{
    struct mk_sse *s = arg;
    void (*on_end)(void *arg) = s->options.on_end;
    void *of = s->options.arg;

    drop(s);
    if (on_end)
        on_end(of);
}

/* @return bytes of a text behind what is sent of it */
static size_t copy_some(struct mk_str text, size_t *sent, char *dst, size_t len)
{
    const struct mk_str waiting = mk_str_skip(text, *sent);

    if (len > waiting.len)
        len = waiting.len;
    if (len > 0)
        memcpy(dst, waiting.p, len);
    *sent += len;
    return len;
}

static size_t copy_large(struct mk_sse *s, char *dst, size_t len)
{
    len = copy_some(mk_buf_str(&s->large->buf), &s->large_sent, dst, len);
    if (s->large_sent == s->large->buf.len)
        drop_large(s);
    return len;
}

static size_t copy_queue(struct mk_sse *s, char *dst, size_t len)
{
    len = copy_some(mk_buf_str(&s->queue), &s->sent, dst, len);
    if (s->sent == s->queue.len)
        s->queue.len = s->sent = 0;
    return len;
}

static bool has_waiting(const struct mk_sse *s)
{
    return s->large || s->queue.len > 0;
}

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct mk_sse *s = arg;

    (void)r;
    if (!has_waiting(s))
        return s->is_closed ? 0 : MK_E_AGAIN;
    len = s->large ? copy_large(s, dst, len) : copy_queue(s, dst, len);
    if (!has_waiting(s) && s->wants_room) {
        s->wants_room = false;
        if (s->options.on_room)
            s->options.on_room(s, s->options.arg);
    }
    return (ssize_t)len;
}

/* ---- writing ---- */

static void forget_sent(struct mk_sse *s)
{
    if (s->sent == 0)
        return;
    memmove(s->queue.p, s->queue.p + s->sent, s->queue.len - s->sent);
    s->queue.len -= s->sent;
    s->sent = 0;
}

static void put_line(struct mk_buf *b, struct mk_str name, struct mk_str value)
{
    mk_buf_append_str(b, name);
    mk_buf_append_str(b, value);
    mk_buf_append_str(b, MK_STR("\n"));
}

/* A line end is CR, LF or both. */
static void put_data(struct mk_buf *b, struct mk_str data)
{
    for (;;) {
        size_t len = 0;

        while (len < data.len && data.p[len] != '\n' && data.p[len] != '\r')
            len++;
        put_line(b, MK_STR("data: "), (struct mk_str){data.p, len});
        if (len == data.len || b->error)
            return;
        if (data.p[len] == '\r' && len + 1 < data.len && data.p[len + 1] == '\n')
            len++;
        data = mk_str_skip(data, len + 1);
    }
}

static void put_event(struct mk_buf *b, const struct mk_sse_event *e)
{
    if (e->type.p)
        put_line(b, MK_STR("event: "), e->type);
    if (e->id.p)
        put_line(b, MK_STR("id: "), e->id);
    if (e->data.p)
        put_data(b, e->data);
    mk_buf_append_str(b, MK_STR("\n"));
}

static bool is_one_line(struct mk_str text)
{
    return text.len == 0 || (!memchr(text.p, '\n', text.len) && !memchr(text.p, '\r', text.len) &&
                             !memchr(text.p, '\0', text.len));
}

/* @return 0; what was added last does not fit, and is taken back: MK_E_BUSY, MK_E_LIMIT or MK_E_NOMEM */
static int keep(struct mk_sse *s, size_t before)
{
    const int err = s->queue.error;

    if (err == 0) {
        s->was_quiet = false;
        mk_request_hold(s->r, s->queue.cap);
        mk_request_resume(s->r);
        return 0;
    }
    s->queue.len = before;
    s->queue.error = 0;
    return err == MK_E_LIMIT && before > 0 ? MK_E_BUSY : err;
}

int mk_sse_format(struct mk_buf *b, const struct mk_sse_event *event)
{
    struct mk_sse_event e = {.size = sizeof(e)};

    memcpy(&e, event, event->size < sizeof(e) ? event->size : sizeof(e));
    if (!is_one_line(e.type) || !is_one_line(e.id))
        return MK_E_INVALID;
    put_event(b, &e);
    return 0;
}

static int add(struct mk_sse *s, struct mk_str text)
{
    size_t before;

    forget_sent(s);
    before = s->queue.len;
    (void)mk_buf_append_str(&s->queue, text);
    return keep(s, before);
}

/* A copy of it would have no room, and the text is in memory already, once for all. */
int mk_sse_share(struct mk_sse *s, struct mk_sse_text *text)
{
    if (text->buf.len <= s->options.queue || has_waiting(s))
        return add(s, mk_buf_str(&text->buf));
    counted_get(&text->refs);
    s->large = text;
    s->was_quiet = false;
    mk_request_resume(s->r);
    return 0;
}

int mk_sse_send(struct mk_sse *s, const struct mk_sse_event *event)
{
    size_t before;
    int err;

    if (!s || !event || s->is_closed)
        return MK_E_INVALID;
    forget_sent(s);
    before = s->queue.len;
    err = mk_sse_format(&s->queue, event);
    if (err < 0)
        return err;
    err = keep(s, before);
    s->wants_room = s->wants_room || err == MK_E_BUSY;
    return err;
}

void mk_sse_close(struct mk_sse *s)
{
    if (!s)
        return;
    s->is_closed = true;
    group_leave_all(&s->groups);
    mk_alarm_cancel(s->heartbeat);
    mk_request_resume(s->r);
}

static void beat(struct mk_alarm *alarm, void *arg)
{
    struct mk_sse *s = arg;

    if (s->was_quiet && !has_waiting(s)) {
        mk_buf_append_str(&s->queue, MK_STR(":\n\n"));
        s->queue.error = 0;
        mk_request_resume(s->r);
    }
    s->was_quiet = true;
    mk_alarm_set(alarm, s->options.heartbeat_ms);
}

/* ---- opening ---- */

static void set_options(struct mk_sse_options *to, const struct mk_sse_options *from)
{
    if (from)
        memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
    to->size = sizeof(*to);
    to->queue = to->queue ? to->queue : QUEUE;
    to->heartbeat_ms = to->heartbeat_ms ? to->heartbeat_ms : HEARTBEAT_MS;
}

static struct mk_sse *new_stream(struct mk_request *r, const struct mk_sse_options *options)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_sse *s = mk_heap_zalloc(1, sizeof(*s));

    if (!s)
        return NULL;
    mk_request_facts(r, &facts);
    s->r = r;
    s->worker = facts.worker;
    set_options(&s->options, options);
    mk_buf_init(&s->queue, s->options.queue);
    s->heartbeat = mk_alarm_new(facts.worker, beat, s);
    if (s->options.retry_ms > 0)
        mk_buf_printf(&s->queue, "retry: %u\n\n", s->options.retry_ms);
    if (s->heartbeat && !s->queue.error)
        return s;
    drop(s);
    return NULL;
}

static int write_head(const struct mk_sse *s)
{
    struct mk_reply p;
    int err = mk_reply_begin(&p, s->r, 200);

    if (err < 0)
        return err;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/event-stream"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    if (s->options.on_head)
        s->options.on_head(&p, s->options.arg);
    return mk_reply_end(&p, -1);
}

static int answer(struct mk_sse *s)
{
    int err = write_head(s);

    if (err < 0)
        return err;
    err = mk_reply_producer(s->r, produce, s);
    if (err < 0)
        mk_reply_abort(s->r);
    return err;
}

int mk_sse_open(struct mk_request *r, const struct mk_sse_options *options, struct mk_sse **out)
{
    struct mk_sse *s;
    void (*on_end)(void *arg);
    int err;

    if (!r || !out)
        return MK_E_INVALID;
    s = new_stream(r, options);
    on_end = s ? s->options.on_end : NULL;
    err = s ? mk_request_on_end(r, end, s) : MK_E_NOMEM;
    if (err < 0 && s)
        drop(s);
    if (err < 0)
        return err;
    s->options.on_end = NULL; /* who gets no stream hears of no end */
    err = answer(s);
    if (err < 0)
        return err;
    s->options.on_end = on_end;
    mk_request_timeout(r, 0);
    mk_alarm_set(s->heartbeat, s->options.heartbeat_ms);
    *out = s;
    return 0;
}

struct mk_str mk_sse_last_id(const struct mk_request *r)
{
    return r ? mk_request_header(r, MK_STR("Last-Event-ID")) : (struct mk_str){NULL, 0};
}
