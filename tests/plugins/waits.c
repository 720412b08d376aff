/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/events.h>
#include <monkey/plugin.h>

#include <stdlib.h>

/*
 * Answers late: `/.../MS` that many milliseconds after the request's first byte. With `patient` in the path it
 * has all the time that it wants; with `large` the answer is larger than what a kernel holds for a connection; with
 * `outside` the alarm itself answers, with a file of the site, and on_handle is not asked again; with
 * `unended` it begins a head there, and leaves it.
 */

enum { PIECE = 128 << 10, PIECES = 256 };

struct wait {
    struct mk_request *request;
    struct mk_alarm *alarm;
};

static void send_file(struct mk_request *r)
{
    struct mk_str name = MK_STR("/large.bin");
    int fd = mk_request_open(r, name);
    struct mk_reply p;

    if (fd < 0 || mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, (int64_t)PIECES * PIECE) < 0) {
        mk_reply_abort(r);
        return;
    }
    (void)!mk_reply_fd(r, fd, 0, (uint64_t)PIECES * PIECE);
}

static void begin_only(struct mk_request *r)
{
    struct mk_reply p;

    (void)!mk_reply_begin(&p, r, 200);
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    const struct wait *wait = arg;
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)alarm;
    mk_request_facts(wait->request, &facts);
    if (strstr(facts.path.p, "/outside/"))
        send_file(wait->request);
    else if (strstr(facts.path.p, "/unended/"))
        begin_only(wait->request);
    else
        mk_request_resume(wait->request);
}

static void on_end(void *arg)
{
    const struct wait *wait = arg;

    mk_alarm_free(wait->alarm);
}

static bool wait_for(struct mk_request *r, const struct mk_context *ctx, unsigned ms)
{
    struct wait *wait = mk_request_alloc(r, sizeof(*wait));

    if (!wait)
        return false;
    *wait = (struct wait){.request = r, .alarm = mk_alarm_new(ctx->worker, on_alarm, wait)};
    if (!wait->alarm || mk_request_on_end(r, on_end, wait) < 0)
        return false;
    mk_alarm_set(wait->alarm, ms);
    return true;
}

static enum mk_verdict answer(struct mk_request *r, unsigned pieces)
{
    char *piece = mk_request_alloc(r, PIECE);
    struct mk_reply p;

    if (!piece || mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, (int64_t)pieces * PIECE) < 0)
        return MK_VERDICT_CLOSE;
    memset(piece, 'x', PIECE);
    while (pieces-- > 0)
        (void)!mk_reply_memory(r, (struct mk_str){piece, PIECE});
    return MK_VERDICT_DONE;
}

/* Asked at first, and again when bytes of the body came or the alarm is over. */
static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    int64_t due_ms, now_ms = mk_worker_now_ms(ctx->worker);

    (void)data;
    mk_request_facts(r, &facts);
    due_ms = facts.began_ms + strtol(strrchr(facts.path.p, '/') + 1, NULL, 10);
    if (strstr(facts.path.p, "/patient/"))
        mk_request_timeout(r, 0);
    if (now_ms >= due_ms)
        return answer(r, strstr(facts.path.p, "/large/") ? PIECES : 1);
    return wait_for(r, ctx, (unsigned)(due_ms - now_ms)) ? MK_VERDICT_LATER : MK_VERDICT_CLOSE;
}

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    (void)setup;
    (void)line;
    (void)parameters;
    *data = NULL;
    return 0;
}

static const struct mk_plugin waits = {
    MK_PLUGIN("waits", "answers late"),
    .check_match = check_match,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(waits);
