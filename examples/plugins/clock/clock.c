/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * [HANDLERS] `Match ^/clock clock` sends the time every second, as server-sent events. Each worker has its
 * own clock: a descriptor that ticks (timerfd), an alarm that detects a stopped clock, and the tickets
 * of the listeners.
 */

enum { LISTENERS_MAX = 256, STOPPED_MS = 5000 };

struct clock {
    struct mk_io *ticks;
    struct mk_alarm *stopped;
    struct mk_worker *worker;
    uint64_t count; /* of ticks */
    uint64_t listeners[LISTENERS_MAX];
    unsigned nlisteners;
};

/* A listener; lives as long as its request. */
struct listener {
    struct clock *clock;
    uint64_t heard; /* count of the last reported tick */
};

static void clock_on_tick(struct mk_io *io, unsigned events, void *arg)
{
    struct clock *clock = arg;
    unsigned kept = 0;
    uint64_t ticks;

    (void)events;
    if (read(mk_io_fd(io), &ticks, sizeof(ticks)) != sizeof(ticks))
        return;
    clock->count += ticks;
    mk_alarm_set(clock->stopped, STOPPED_MS);
    for (unsigned i = 0; i < clock->nlisteners; i++) {
        struct mk_request *r = mk_worker_request(clock->worker, clock->listeners[i]);

        if (!r)
            continue; /* its request has ended */
        clock->listeners[kept++] = clock->listeners[i];
        mk_request_resume(r);
    }
    clock->nlisteners = kept;
}

static void clock_on_stopped(struct mk_alarm *alarm, void *arg)
{
    const struct clock *clock = arg;

    (void)alarm;
    mk_server_log(mk_worker_server(clock->worker), MK_LOG_WARN, "clock stopped worker=%u",
                  mk_worker_index(clock->worker));
}

static ssize_t clock_produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct listener *listener = arg;
    struct clock *clock = listener->clock;

    (void)r;
    if (listener->heard == clock->count)
        return MK_E_AGAIN;
    listener->heard = clock->count;
    return snprintf(dst, len, "data: %lld\n\n", (long long)mk_worker_wall_s(clock->worker));
}

static enum mk_verdict clock_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                       void *data)
{
    struct clock *clock = ctx->local;
    struct listener *listener = mk_request_alloc(r, sizeof(*listener));
    uint64_t ticket = mk_request_ticket(r);
    struct mk_reply p;

    (void)data;
    if (!listener || !ticket || clock->nlisteners == LISTENERS_MAX)
        return mk_reply_error(r, 503, "Retry-After: 10\r\n");
    *listener = (struct listener){.clock = clock, .heard = clock->count};
    clock->listeners[clock->nlisteners++] = ticket;
    mk_request_ends_on_hangup(r, true);
    if (mk_reply_begin(&p, r, 200) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("text/event-stream"));
    mk_reply_line(&p, MK_STR("Cache-Control"), MK_STR("no-store"));
    if (mk_reply_end(&p, -1) == 0)
        (void)!mk_reply_producer(r, clock_produce, listener);
    return MK_VERDICT_DONE;
}

static void clock_stop(const struct mk_context *ctx)
{
    struct clock *clock = ctx->local;

    mk_io_close(clock->ticks);
    mk_alarm_free(clock->stopped);
    free(clock);
}

/* A descriptor that ticks every second. */
static int open_ticks(struct clock *clock)
{
    const struct itimerspec every_second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), err;

    if (fd < 0)
        return MK_E_NOFD;
    err = timerfd_settime(fd, 0, &every_second, NULL) < 0
              ? MK_E_SYS
              : mk_io_open(&clock->ticks, clock->worker, fd, MK_IO_READ, clock_on_tick, clock);
    if (err < 0)
        close(fd);
    return err;
}

static int clock_start(const struct mk_context *ctx, void **local)
{
    struct clock *clock = calloc(1, sizeof(*clock));
    int err;

    if (!clock)
        return MK_E_NOMEM;
    clock->worker = ctx->worker;
    clock->stopped = mk_alarm_new(ctx->worker, clock_on_stopped, clock);
    err = clock->stopped ? open_ticks(clock) : MK_E_NOMEM;
    if (err < 0) {
        mk_plugin_why(ctx, "the clock cannot tick: %s", mk_error_text(err));
        mk_alarm_free(clock->stopped);
        free(clock);
        return err;
    }
    *local = clock;
    return 0;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("clock", "tells the time every second"),
    .worker_start = clock_start,
    .worker_stop = clock_stop,
    .on_handle = clock_on_handle,
};
MK_PLUGIN_EXPORT(plugin);
