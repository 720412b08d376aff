/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <stdlib.h>
#include <time.h>

/* What a server has to survive. */

enum mk_verdict never_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route)
{
    (void)r;
    (void)ctx;
    (void)route;
    return MK_VERDICT_LATER;
}

static void doze(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* ---- an answer to who is gone ---- */

enum { STALE_MS = 300 };

struct stale {
    struct mk_worker *worker;
    uint64_t ticket;
};

static void think(void *arg)
{
    (void)arg;
    doze(STALE_MS);
}

static void answer_late(void *arg)
{
    struct stale *s = arg;
    struct mk_server *server = mk_worker_server(s->worker);
    struct mk_request *r = mk_worker_request(s->worker, s->ticket);

    if (r)
        (void)mk_reply_bytes(r, 200, "text/plain", MK_STR("still here"));
    else
        mk_server_log(server, MK_LOG_WARN, "probe nobody is there");
    if (mk_server_resume(server, s->ticket) < 0)
        mk_server_log(server, MK_LOG_WARN, "probe out of memory");
    free(s);
}

/* It does not ask to be told of the end. */
enum mk_verdict stale_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route)
{
    struct stale *s = calloc(1, sizeof(*s));

    (void)route;
    if (s) {
        s->worker = ctx->worker;
        s->ticket = mk_request_ticket(r);
    }
    if (s && s->ticket && mk_offload(ctx->worker, think, answer_late, s) == 0)
        return MK_VERDICT_LATER;
    free(s);
    return mk_reply_error(r, 503, NULL);
}

/* ---- bodies that fail midway ---- */

struct spring {
    unsigned times;
};

static ssize_t run_dry(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct spring *spring = arg;

    (void)r;
    if (spring->times++ > 0)
        return MK_E_SYS;
    memset(dst, 'x', len);
    return (ssize_t)len;
}

static enum mk_verdict pour(struct mk_request *r, const char *kind, mk_produce_fn produce)
{
    struct spring *spring = mk_request_alloc(r, sizeof(*spring));
    struct mk_reply p;

    if (!spring || mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_CLOSE;
    spring->times = 0;
    mk_reply_line(&p, MK_STR("X-Probe"), mk_str_from(kind));
    if (mk_reply_end(&p, -1) < 0 || mk_reply_producer(r, produce, spring) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

enum mk_verdict dry_handle(struct mk_request *r, const struct mk_context *ctx,
                           const struct probe_route *route)
{
    (void)ctx;
    return pour(r, route->name, run_dry);
}

static ssize_t run_twice(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct spring *spring = arg;

    (void)r;
    if (spring->times++ > 1)
        return 0;
    memset(dst, 'y', len);
    return (ssize_t)len;
}

enum mk_verdict filtered_handle(struct mk_request *r, const struct mk_context *ctx,
                                const struct probe_route *route)
{
    (void)ctx;
    return pour(r, route->name, run_twice);
}

static int fail_midway(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                       bool last)
{
    struct spring *passed = state;
    size_t n = *in_len < *out_len ? *in_len : *out_len;

    (void)last;
    if (passed->times++ > 0)
        return MK_E_SYS;
    memcpy(out, in, n);
    *in_len = *out_len = n;
    return 0;
}

int misbehave_on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    struct mk_str kind = mk_head_get(head, MK_STR("X-Probe"));
    struct spring *passed;

    (void)ctx;
    if (kind.len != strlen("filtered") || memcmp(kind.p, "filtered", kind.len) != 0)
        return 0;
    passed = mk_request_alloc(r, sizeof(*passed));
    if (!passed)
        return MK_E_NOMEM;
    passed->times = 0;
    return mk_head_filter(head, fail_midway, passed);
}

/* ---- more work than there is room for ---- */

enum { WORK_MAX = 1000, WORK_MS = 5 };

static void work(void *arg)
{
    (void)arg;
    doze(WORK_MS);
}

static void done(void *arg)
{
    (void)arg;
}

enum mk_verdict busy_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route)
{
    (void)route;
    for (unsigned i = 0; i < WORK_MAX; i++) {
        int err = mk_offload(ctx->worker, work, done, NULL);

        if (err < 0)
            return mk_reply_error(r, err == MK_E_BUSY ? 503 : 500, "Retry-After: 1\r\n");
    }
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("all taken"));
}
