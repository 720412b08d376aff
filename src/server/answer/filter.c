/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer/filter.h"

#include "base/limits.h"
#include "server/answer/misuse.h"
#include "server/answer/reply.h"

enum { PIECE = 8192 }; /* what a filter is given at most, and the room that it has at least */

struct mk_filter {
    struct mk_filter *before; /* nearer to the source; NULL: the source itself */
    mk_filter_fn fn;
    void *state;
    size_t at, len; /* of in: what it has not used yet */
    bool last;      /* nothing follows that */
    bool done;      /* it will give no more */
    bool holds;     /* it writes more when its source has nothing */
    char in[PIECE];
};

struct pull {
    struct mk_request *r;
    mk_filter_source_fn source;
    void *arg;
};

int mk_filter_add(struct mk_request *r, mk_filter_fn fn, void *state)
{
    unsigned count = 1;
    struct mk_filter *f;

    for (f = r->filter; f; f = f->before)
        count++;
    if (count > MK_LIMIT_FILTERS)
        return MK_E_LIMIT;
    f = mk_arena_alloc(&r->arena, sizeof(*f));
    if (!f)
        return MK_E_NOMEM;
    f->before = r->filter;
    f->fn = fn;
    f->state = state;
    f->at = f->len = 0;
    f->last = f->done = f->holds = false;
    r->filter = f;
    return 0;
}

/* One call. @return bytes written, MK_E_AGAIN: it needs more input; or an error. */
static ssize_t turn(struct pull *pull, struct mk_filter *f, char *dst, size_t len)
{
    size_t given = f->len - f->at, in = given, out = len;
    int err = f->fn(f->state, f->in + f->at, &in, dst, &out, f->last);

    if (err < 0)
        return MK_E_BAD; /* which one is the filter's own matter */
    if (in > given || out > len)
        return mk_misuse_log(pull->r, "a filter used or wrote more than its buffers hold",
                             MK_E_BAD);
    f->at += in;
    f->holds = err == MK_FILTER_HOLDS;
    f->done = err > 0 && !f->holds;
    if (out == 0 && in == 0 && !f->done && (given > 0 || f->last))
        return mk_misuse_log(pull->r, "a filter makes no progress", MK_E_BAD);
    return out == 0 && !f->done ? MK_E_AGAIN : (ssize_t)out;
}

static ssize_t pull_from(struct pull *pull, struct mk_filter *f, char *dst, size_t len);

/* @return > 0 or 0: it can be asked; MK_E_AGAIN or an error. */
static ssize_t refill(struct pull *pull, struct mk_filter *f)
{
    ssize_t n = pull_from(pull, f->before, f->in, sizeof(f->in));

    if (n < 0)
        return n;
    f->at = 0;
    f->len = (size_t)n;
    f->last = n == 0;
    return n;
}

/* The source has nothing for now. @return bytes written, or MK_E_AGAIN. */
static ssize_t release(struct pull *pull, struct mk_filter *f, char *dst, size_t len)
{
    ssize_t n = f->holds ? turn(pull, f, dst, len) : MK_E_AGAIN;

    if (n == MK_E_AGAIN)
        f->holds = false;
    return n;
}

/* Recursive as deep as there are filters. */
static ssize_t pull_from(struct pull *pull, struct mk_filter *f, char *dst, size_t len)
{
    ssize_t n = MK_E_AGAIN;

    if (!f)
        return pull->source(pull->r, pull->arg, dst, len);
    while (n == MK_E_AGAIN && !f->done) {
        if (f->at == f->len && !f->last) {
            ssize_t came = refill(pull, f);

            if (came < 0)
                return came == MK_E_AGAIN ? release(pull, f, dst, len) : came;
        }
        n = turn(pull, f, dst, len);
    }
    return n == MK_E_AGAIN ? 0 : n;
}

ssize_t mk_filter_pull(struct mk_request *r, mk_filter_source_fn source, void *arg, char *dst,
                       size_t len)
{
    struct pull pull = {r, source, arg};

    return pull_from(&pull, r->filter, dst, len);
}
