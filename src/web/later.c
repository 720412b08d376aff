/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/later.h>

#include <monkey/events.h>

/* A request has a ticket, so an answer finds out by itself whether the request is still there. */

/* What a request keeps. */
struct waiting {
    unsigned n; /* answers to come */
    bool is_answered;
};

static const char waiting_key;

/* @return NULL: no memory. */
static struct waiting *made_waiting(struct mk_request *r)
{
    struct waiting *w = mk_request_kept(r, &waiting_key);

    if (w)
        return w;
    w = mk_request_alloc(r, sizeof(*w));
    if (!w)
        return NULL;
    *w = (struct waiting){0};
    return mk_request_keep(r, &waiting_key, w) == 0 ? w : NULL;
}

int mk_later_begin(struct mk_later *later, struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct waiting *w;

    if (!later || !r)
        return MK_E_INVALID;
    *later = (struct mk_later){0};
    w = made_waiting(r);
    if (!w)
        return MK_E_NOMEM;
    if (w->is_answered)
        return MK_E_EXISTS;
    mk_request_facts(r, &facts);
    later->worker = facts.worker;
    later->ticket = mk_request_ticket(r);
    later->has_begun = mk_request_result(r).status > 0;
    if (later->ticket == 0)
        return MK_E_NOMEM;
    w->n++;
    return 0;
}

static void take_verdict(struct mk_request *r, struct waiting *w, enum mk_verdict verdict)
{
    if (verdict == MK_VERDICT_LATER)
        return;
    w->is_answered = true;
    if (verdict != MK_VERDICT_DONE) {
        mk_request_log(r, MK_LOG_ERROR, "callback without an answer: verdict %d", (int)verdict);
        (void)mk_reply_error(r, 500, NULL);
    }
    mk_request_resume(r);
}

/* @return the request, which waits for one answer less; NULL: it has ended, or this one or a copy of it was used before. */
static struct mk_request *find_request(struct mk_later *later, struct waiting **w)
{
    struct mk_request *r =
        later && later->ticket > 0 ? mk_worker_request(later->worker, later->ticket) : NULL;

    if (!r)
        return NULL;
    later->ticket = 0;
    *w = mk_request_kept(r, &waiting_key);
    if ((*w)->n == 0)
        return NULL;
    (*w)->n--;
    return r;
}

/* Its handler has answered it, or a timeout. */
static bool is_begun_since(const struct mk_later *later, const struct mk_request *r)
{
    return !later->has_begun && mk_request_result(r).status > 0;
}

bool mk_later_answer(struct mk_later *later, enum mk_verdict (*fn)(struct mk_request *r, void *arg),
                     void *arg)
{
    struct waiting *w;
    struct mk_request *r = fn ? find_request(later, &w) : NULL;

    if (!r || w->is_answered || is_begun_since(later, r))
        return false;
    take_verdict(r, w, fn(r, arg));
    return true;
}

void mk_later_drop(struct mk_later *later)
{
    struct waiting *w;

    (void)find_request(later, &w);
}

bool mk_later_waits(const struct mk_request *r)
{
    const struct waiting *w = r ? mk_request_kept(r, &waiting_key) : NULL;

    return w && w->n > 0 && !w->is_answered;
}

enum mk_verdict mk_reply_failure(struct mk_request *r, int error)
{
    if (!r)
        return MK_VERDICT_DONE;
    switch (error) {
    case MK_E_BUSY:
    case MK_E_PEER:
        return mk_reply_error(r, 503, "Retry-After: 1\r\n");
    case MK_E_TIMEOUT:
        return mk_reply_error(r, 504, NULL);
    case MK_E_BAD:
    case MK_E_EOF:
        return mk_reply_error(r, 502, NULL);
    default:
        return mk_reply_error(r, 500, NULL);
    }
}
