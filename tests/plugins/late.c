/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/events.h>
#include <monkey/plugin.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Calls that come too late: for a request that has ended, in stage 40 and by what it asked to be called
 * at its end. `/later/...` waits for ever, `/now/...` answers at once; the rest of the path says what is done.
 */

struct last {
    struct mk_request *request;
    char what[16];
};

static void answer_again(struct mk_request *r)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, r, 200) == 0) {
        mk_reply_line(&p, MK_STR("X-Late"), MK_STR("yes"));
        (void)!mk_reply_end(&p, 4);
    }
    (void)!mk_reply_memory(r, MK_STR("late"));
    (void)mk_reply_bytes(r, 200, NULL, MK_STR("late"));
}

static void queue_files(struct mk_request *r)
{
    int ends[2];

    (void)!mk_reply_fd(r, open("/dev/null", O_RDONLY | O_CLOEXEC), 0, 100);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    (void)!mk_reply_pipe(r, ends[0], UINT64_MAX);
    (void)!write(ends[1], "late", 4);
    close(ends[1]);
}

static void read_body(struct mk_request *r)
{
    char bytes[64];

    (void)!mk_request_read(r, bytes, sizeof(bytes));
}

static ssize_t never(struct mk_request *r, void *arg, char *dst, size_t len)
{
    (void)r;
    (void)arg;
    (void)dst;
    (void)len;
    return MK_E_AGAIN;
}

static void misbehave(struct mk_request *r, const char *what)
{
    if (strstr(what, "answer"))
        answer_again(r);
    else if (strstr(what, "files"))
        queue_files(r);
    else if (strstr(what, "read"))
        read_body(r);
    else if (strstr(what, "timeout"))
        mk_request_timeout(r, 200);
    else if (strstr(what, "resume"))
        mk_request_resume(r);
    else if (strstr(what, "abort"))
        mk_reply_abort(r);
    else if (strstr(what, "ticket") && mk_request_ticket(r) != 0 && strstr(what, "end"))
        abort(); /* a name for what has no life left */
}

static void at_end(void *arg)
{
    const struct last *last = arg;

    misbehave(last->request, last->what);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct last *last = mk_request_alloc(r, sizeof(*last));
    struct mk_reply p;

    (void)ctx;
    (void)data;
    mk_request_facts(r, &facts);
    if (strstr(facts.path.p, "/end/") && last) {
        last->request = r;
        (void)snprintf(last->what, sizeof(last->what), "%s", strrchr(facts.path.p, '/') + 1);
        (void)!mk_request_on_end(r, at_end, last);
    }
    if (strstr(facts.path.p, "/later/"))
        return MK_VERDICT_LATER;
    if (!strstr(facts.path.p, "/begun/"))
        return mk_reply_bytes(r, 200, "text/plain", MK_STR("now"));
    if (mk_reply_begin(&p, r, 200) < 0 || mk_reply_end(&p, -1) < 0)
        return MK_VERDICT_CLOSE;
    (void)!mk_reply_memory(r, MK_STR("begun"));
    (void)!mk_reply_producer(r, never, NULL);
    return MK_VERDICT_DONE;
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx;
    mk_request_facts(r, &facts);
    if (facts.path.p && strstr(facts.path.p, "/finish/"))
        misbehave(r, facts.path.p);
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

static const struct mk_plugin late = {
    MK_PLUGIN("late", "calls for requests that have ended"),
    .check_match = check_match,
    .on_handle = on_handle,
    .on_finish = on_finish,
};
MK_PLUGIN_EXPORT(late);
