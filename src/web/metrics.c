/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/metrics.h>

#include <monkey/events.h>

#include "base/buf.h"
#include "base/heap.h"
#include "kit/metrics/metrics.h"

/* The server's counters for programs. */

enum { TEXT_MAX = 16 << 20 };

struct writing {
    mk_text_fn fn;
    void *arg;
};

static void write_sample(void *arg, const struct metrics_sample *sample)
{
    const struct writing *w = arg;
    char text[METRICS_TEXT];

    w->fn(w->arg, text, metrics_write(text, sample));
}

int mk_metrics_write(struct mk_server *server, mk_text_fn fn, void *arg)
{
    struct writing w = {fn, arg};

    if (!server || !fn)
        return MK_E_INVALID;
    metrics_each(server, write_sample, &w);
    return 0;
}

static void gather(void *arg, const char *text, size_t len)
{
    (void)mk_buf_append(arg, text, len);
}

static void drop(void *arg)
{
    mk_buf_fini(arg);
    mk_heap_free(arg);
}

/* @return the text, which lives as long as the request; p NULL without memory. */
static struct mk_str text_of(struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_buf *text = mk_heap_zalloc(1, sizeof(*text));
    const struct mk_str none = {NULL, 0};

    if (!text)
        return none;
    mk_buf_init(text, TEXT_MAX);
    if (mk_request_on_end(r, drop, text) < 0) {
        drop(text);
        return none;
    }
    mk_request_facts(r, &facts);
    (void)mk_metrics_write(mk_worker_server(facts.worker), gather, text);
    mk_request_hold(r, text->cap);
    return text->error ? none : mk_buf_str(text);
}

enum mk_verdict mk_reply_metrics(struct mk_request *r, void *arg)
{
    struct mk_str text;
    struct mk_reply p;

    (void)arg;
    if (!r)
        return MK_VERDICT_DONE;
    text = text_of(r);
    if (!text.p)
        return mk_reply_error(r, 500, NULL);
    if (mk_reply_begin(&p, r, 200) == 0) {
        mk_reply_line(&p, MK_STR("Content-Type"),
                      MK_STR("text/plain; version=0.0.4; charset=utf-8"));
        mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
        if (mk_reply_end(&p, (int64_t)text.len) == 0)
            (void)!mk_reply_memory(r, text);
    }
    return MK_VERDICT_DONE;
}
