/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>
#include <monkey/upstream.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* `Match REGEX events WHAT`: answers when an event of that kind came, with what was learnt. */

/* A request that waits, and what it waits for. */
struct errand {
    uint64_t ticket; /* 0: answered inside on_handle */
    struct mk_request *r;
    struct mk_worker *worker;
    struct mk_alarm *alarm;
    struct mk_io *io;
    unsigned work_ms;
    atomic_uint visits;
    char text[128];
};

/* The errand is over: answer with its text, if there is still somebody to answer. */
static void finish(struct errand *e)
{
    struct mk_request *r = e->r ? e->r : mk_worker_request(e->worker, e->ticket);

    if (r) {
        (void)mk_reply_bytes(r, 200, "text/plain", mk_str_from(e->text));
        if (!e->r)
            mk_request_resume(r);
    }
    mk_alarm_free(e->alarm);
    mk_io_close(e->io);
    free(e);
}

/* ---- off the worker ---- */

static void work(void *arg)
{
    struct errand *e = arg;
    const struct timespec pause = {e->work_ms / 1000, (long)(e->work_ms % 1000) * 1000000};
    char name[16] = "";

    (void)nanosleep(&pause, NULL);
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    (void)snprintf(e->text, sizeof(e->text), "worked on %s", name);
}

static void done(void *arg)
{
    finish(arg);
}

static int offload(struct errand *e)
{
    e->work_ms = 50;
    return mk_offload(e->worker, work, done, e);
}

/* Keeps its worker from everything else. */
static int block(struct errand *e)
{
    e->work_ms = 10;
    work(e);
    finish(e);
    return 0;
}

static int offload_slow(struct errand *e)
{
    e->work_ms = 700;
    return mk_offload(e->worker, work, done, e);
}

/* ---- events of the loop ---- */

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct errand *e = arg;

    (void)alarm;
    (void)snprintf(e->text, sizeof(e->text), "alarm");
    finish(e);
}

static int set_alarm(struct errand *e)
{
    e->alarm = mk_alarm_new(e->worker, on_alarm, e);
    if (!e->alarm)
        return MK_E_NOMEM;
    mk_alarm_set(e->alarm, 100);
    return 0;
}

static int set_alarm_soon(struct errand *e)
{
    e->alarm = mk_alarm_new(e->worker, on_alarm, e);
    if (!e->alarm)
        return MK_E_NOMEM;
    mk_alarm_soon(e->alarm);
    return 0;
}

static void on_pipe(struct mk_io *io, unsigned events, void *arg)
{
    struct errand *e = arg;
    char bytes[16] = "";
    ssize_t n = read(mk_io_fd(io), bytes, sizeof(bytes) - 1);

    (void)snprintf(e->text, sizeof(e->text), "events=%u read=%d %s", events, (int)n, bytes);
    finish(e);
}

static int watch_pipe(struct errand *e)
{
    int fds[2], err;

    if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
        return MK_E_NOFD;
    err = mk_io_open(&e->io, e->worker, fds[0], MK_IO_READ, on_pipe, e);
    if (err < 0)
        (void)close(fds[0]);
    else if (write(fds[1], "pipe", 4) != 4)
        abort();
    (void)close(fds[1]);
    return err;
}

/* ---- all workers ---- */

static void come_home(struct mk_worker *w, void *arg)
{
    struct errand *e = arg;

    (void)w;
    (void)snprintf(e->text, sizeof(e->text), "visited %u", atomic_load(&e->visits));
    finish(e);
}

static void visit(struct mk_worker *w, void *arg)
{
    struct errand *e = arg;
    unsigned all = mk_server_workers(mk_worker_server(w));

    if (atomic_fetch_add(&e->visits, 1) + 1 == all && mk_worker_post(e->worker, come_home, e) < 0)
        abort();
}

static int visit_all(struct errand *e)
{
    return mk_server_each_worker(mk_worker_server(e->worker), visit, e);
}

/* ---- names ---- */

static void on_resolved(void *arg, const struct mk_address *addresses, int count)
{
    struct errand *e = arg;

    (void)addresses;
    (void)snprintf(e->text, sizeof(e->text), "%s", count > 0 ? "resolved" : mk_error_text(count));
    finish(e);
}

static int resolve(struct errand *e)
{
    return mk_resolve(e->worker, "localhost", 80, on_resolved, e);
}

/* ---- at once ---- */

static int ask_reload(struct errand *e)
{
    int err = mk_server_ask_reload(mk_worker_server(e->worker));

    (void)snprintf(e->text, sizeof(e->text), "%d", err);
    finish(e);
    return 0;
}

static int tell_facts(struct errand *e)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};

    mk_server_facts(mk_worker_server(e->worker), &facts);
    (void)snprintf(e->text, sizeof(e->text), "workers=%u scheduler=%s snapshots=%u reloads=%llu",
                   facts.workers, facts.scheduler, facts.snapshots,
                   (unsigned long long)facts.reloads);
    finish(e);
    return 0;
}

/* ---- which ---- */

static const struct errand_kind {
    const char *name;
    int (*begin)(struct errand *e);
    bool at_once;
} kinds[] = {
    {"offload", offload, false},     {"slow", offload_slow, false}, {"alarm", set_alarm, false},
    {"soon", set_alarm_soon, false}, {"pipe", watch_pipe, false},   {"workers", visit_all, false},
    {"resolve", resolve, false},     {"reload", ask_reload, true},  {"facts", tell_facts, true},
    {"block", block, true},
};

static int check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (parameters->count == 1 && strcmp(parameters->items[0].p, kinds[i].name) == 0) {
            *data = (void *)(uintptr_t)(i + 1);
            return 0;
        }
    }
    return mk_setup_refuse(setup, line, "a kind of event");
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct errand_kind *kind = &kinds[(uintptr_t)data - 1];
    struct errand *e = calloc(1, sizeof(*e));

    if (!e)
        return MK_VERDICT_CLOSE;
    e->worker = ctx->worker;
    if (kind->at_once)
        e->r = r;
    else
        e->ticket = mk_request_ticket(r);
    if ((kind->at_once || e->ticket != 0) && kind->begin(e) == 0)
        return kind->at_once ? MK_VERDICT_DONE : MK_VERDICT_LATER;
    free(e);
    return mk_reply_error(r, 503, NULL);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("events", "for the tests of events"),
    .check_match = check_match,
    .on_handle = on_handle,
};
MK_PLUGIN_EXPORT(plugin);
