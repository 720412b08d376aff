/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "kit/text/escape.h"
#include "kit/text/words.h"

#include <monkey/events.h>

#include <stdatomic.h>
#include <stdlib.h>

enum {
    AT_ONCE = 128,  /* entries that are read before the head leaves, and on a worker at a time */
    AT_WORK = 1024, /* read in the offload pool before somebody looks whether it is still wanted */
    SLICE =
        128
        << 10, /* bytes that are made, in about half a millisecond, before others have their turn */
};

/* One listing on its way. It outlives its request while the offload pool reads for it. */
struct task {
    struct mk_request *request; /* NULL: it has ended */
    struct mk_worker *worker;
    struct dirlisting_page page;
    bool begun;           /* reading all of it was tried */
    bool working;         /* in the offload pool, which has the list then */
    bool sort;            /* what is read now, if it is all */
    int error;            /* of reading; the pool's while working */
    size_t slice;         /* bytes made in this turn */
    atomic_bool unwanted; /* tells the pool */
};

static void free_task(struct task *t)
{
    dirlisting_list_close(t->page.list);
    free(t);
}

/* While the pool reads, the list is its own. */
static void book(const struct task *t)
{
    if (!t->working)
        mk_request_hold(t->request, sizeof(*t) + dirlisting_list_held(t->page.list));
}

/* ---- reading ---- */

static void work(void *arg)
{
    struct task *t = arg;
    int got;

    do {
        got = dirlisting_list_read(t->page.list, AT_WORK);
    } while (got == DIRLISTING_MORE && !atomic_load_explicit(&t->unwanted, memory_order_relaxed));
    t->error = got < 0 ? got : 0;
    if (got == DIRLISTING_ALL && t->sort)
        dirlisting_list_sort(t->page.list, t->page.ask);
}

static void work_is_done(void *arg)
{
    struct task *t = arg;

    t->working = false;
    if (t->request)
        mk_request_resume(t->request);
    else
        free_task(t);
}

/* Have more entries, at once or in a while. Without a place in the pool the worker reads a piece itself. */
static void have_more(struct task *t)
{
    if (mk_offload_kind(t->worker, MK_WORK_LISTING, work, work_is_done, t) == 0) {
        t->working = true;
        return;
    }
    t->sort = false;
    dirlisting_list_stream(t->page.list);
    t->error = dirlisting_list_read(t->page.list, AT_ONCE);
    t->error = t->error < 0 ? t->error : 0;
}

static void begin(struct task *t)
{
    t->begun = true;
    t->sort = true;
    if (dirlisting_list_is_all(t->page.list))
        dirlisting_list_sort(t->page.list, t->page.ask);
    else
        have_more(t);
}

static ssize_t render(struct task *t, char *dst, size_t len)
{
    ssize_t n = MK_E_AGAIN;

    while (n == MK_E_AGAIN && !t->working && t->error == 0) {
        n = dirlisting_render(&t->page, dst, len);
        if (n == MK_E_AGAIN) {
            dirlisting_list_refill(t->page.list);
            t->sort = false;
            have_more(t);
        }
    }
    if (t->working)
        return MK_E_AGAIN; /* the error is the pool's now */
    return t->error < 0 ? t->error : n;
}

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct task *t = arg;
    ssize_t n;

    if (!t->begun)
        begin(t);
    if (t->slice >= SLICE) {
        t->slice = 0;
        mk_request_resume(r);
        return MK_E_AGAIN;
    }
    n = render(t, dst, len);
    book(t);
    t->slice += n > 0 ? (size_t)n : 0;
    return n;
}

static void on_end(void *arg)
{
    struct task *t = arg;

    t->request = NULL;
    if (t->working)
        atomic_store_explicit(&t->unwanted, true, memory_order_relaxed);
    else
        free_task(t);
}

/* ---- the head ---- */

static bool wants_json(const struct mk_request *r)
{
    struct dirlisting_accept accept = {{0, 0}, {0, 0}};
    struct mk_str name, value;
    uint32_t at = 0;

    while (mk_request_next_header(r, &at, &name, &value)) {
        if (text_is_word(name, MK_STR("Accept")))
            dirlisting_accept_add(&accept, value);
    }
    return dirlisting_accept_json(&accept);
}

typedef size_t (*write_fn)(char *dst, struct mk_str s);

static bool write_text(struct mk_request *r, struct mk_str *text, write_fn fn, struct mk_str s,
                       size_t room)
{
    char *p = mk_request_alloc(r, room);

    if (p)
        *text = (struct mk_str){p, fn(p, s)};
    return p;
}

static bool describe(struct mk_request *r, struct dirlisting_subject *subject, struct mk_str path,
                     bool json)
{
    subject->has_parent = path.len > 1;
    if (json)
        return write_text(r, &subject->json_path, text_json, path, path.len * TEXT_JSON_GROWTH);
    return write_text(r, &subject->html_path, text_html, path, path.len * TEXT_HTML_GROWTH) &&
           write_text(r, &subject->path_links, dirlisting_path_links, path,
                      dirlisting_path_links_room(path));
}

static enum mk_verdict send_head(struct mk_request *r, struct task *t, bool json)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Content-Type"),
                  json ? MK_STR("application/json") : MK_STR("text/html; charset=utf-8"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-cache"));
    mk_reply_line(&p, MK_STR("Vary"), MK_STR("Accept"));
    if (mk_reply_end(&p, -1) < 0 || mk_reply_producer(r, produce, t) < 0)
        mk_reply_abort(r);
    return MK_VERDICT_DONE;
}

static unsigned status_of(int err)
{
    switch (err) {
    case MK_E_NOENT:
        return 404;
    case MK_E_ACCESS:
        return 403;
    case MK_E_NOMEM:
    case MK_E_NOFD:
        return 503;
    default:
        return 500;
    }
}

static enum mk_verdict refuse(struct mk_request *r, int err)
{
    mk_request_log(r, MK_LOG_WARN, "dirlisting: cannot list the directory: %s", mk_error_text(err));
    return mk_reply_error(r, status_of(err), NULL);
}

enum mk_verdict dirlisting_answer(struct mk_request *r, const struct dirlisting_theme *html,
                                  const struct dirlisting_theme *json, struct dirlisting_room *room,
                                  int fd)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    bool as_json = wants_json(r);
    struct task *t = calloc(1, sizeof(*t));
    int err;

    if (!t)
        return refuse(r, MK_E_NOMEM);
    mk_request_facts(r, &facts);
    t->request = r;
    t->worker = facts.worker;
    t->page.theme = as_json ? json : html;
    t->page.ask = dirlisting_ask_of(facts.query);
    atomic_init(&t->unwanted, false);
    err = dirlisting_list_open(&t->page.list, fd, facts.symlinks, room);
    if (err == 0)
        err = dirlisting_list_read(t->page.list, AT_ONCE);
    if (err >= 0 && !describe(r, &t->page.subject, facts.path, as_json))
        err = MK_E_NOMEM;
    if (err >= 0 && mk_request_on_end(r, on_end, t) < 0)
        err = MK_E_NOMEM;
    if (err < 0) {
        free_task(t);
        return refuse(r, err);
    }
    book(t); /* a client that takes nothing never asks for more of it */
    return send_head(r, t, as_json);
}
