/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

/* Answers that stream, that have several parts, and one that takes its time. */

/* Asked when the client can take more, or has sent more. */
static ssize_t read_body(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)arg;
    return mk_request_read(r, dst, len);
}

/* What comes in goes out at once: a client that does not read cannot send on for ever. */
enum mk_verdict echo_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route)
{
    struct mk_reply p;

    (void)ctx;
    (void)route;
    if (mk_reply_begin(&p, r, 200) == 0 && mk_reply_end(&p, -1) == 0)
        (void)!mk_reply_producer(r, read_body, NULL);
    return MK_VERDICT_DONE;
}

/* An interim head, the final one, a body that comes in two, and a field behind it. */
enum mk_verdict parts_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route)
{
    struct mk_reply p;

    (void)ctx;
    (void)route;
    if (mk_reply_begin(&p, r, 103) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Link"), MK_STR("</style.css>; rel=preload"));
    if (mk_reply_end(&p, 0) < 0 || mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_CLOSE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/plain"));
    if (mk_reply_end(&p, -1) < 0 || mk_reply_memory(r, MK_STR("one, ")) < 0 ||
        mk_reply_memory(r, MK_STR("two")) < 0 ||
        mk_reply_trailer(r, MK_STR("Parts"), MK_STR("2")) < 0)
        return MK_VERDICT_CLOSE;
    return MK_VERDICT_DONE;
}

enum { PATIENT_MS = 1500 };

struct patient {
    struct visit visit;
    struct mk_alarm *alarm;
};

static void patient_end(struct visit *v)
{
    mk_alarm_free(((struct patient *)v)->alarm);
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct patient *p = arg;

    (void)alarm;
    (void)!mk_reply_bytes(p->visit.r, 200, "text/plain", MK_STR("at last"));
    mk_request_resume(p->visit.r);
}

/* Longer than the tests' HandlerTimeout. */
enum mk_verdict patient_handle(struct mk_request *r, const struct mk_context *ctx,
                               const struct probe_route *route)
{
    struct patient *p = visit_of(r, ctx, sizeof(*p), patient_end);

    (void)route;
    if (!p || !(p->alarm = mk_alarm_new(ctx->worker, on_alarm, p)))
        return mk_reply_error(r, 503, NULL);
    mk_request_timeout(r, 2 * PATIENT_MS);
    mk_alarm_set(p->alarm, PATIENT_MS);
    return MK_VERDICT_LATER;
}
