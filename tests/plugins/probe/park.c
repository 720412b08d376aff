/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * Requests that wait for other threads: one that goes on by ticket, through mk_server_resume, and one that is
 * woken by a descriptor on its worker.
 */

/* ---- a thread of the plugin's own; it resumes whoever asked it to ---- */

enum { CALLS_MAX = 64 };

struct bell {
    struct mk_server *server;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    bool stops;
    unsigned ncalls;
    uint64_t calls[CALLS_MAX];
};

static void *bell_run(void *arg)
{
    struct bell *bell = arg;

    (void)pthread_mutex_lock(&bell->lock);
    for (;;) {
        while (bell->ncalls == 0 && !bell->stops)
            (void)pthread_cond_wait(&bell->asked, &bell->lock);
        if (bell->stops)
            break;
        if (mk_server_resume(bell->server, bell->calls[--bell->ncalls]) < 0)
            mk_server_log(bell->server, MK_LOG_WARN, "bell out of memory");
    }
    (void)pthread_mutex_unlock(&bell->lock);
    return NULL;
}

struct bell *bell_new(struct mk_server *server)
{
    struct bell *bell = calloc(1, sizeof(*bell));

    if (!bell)
        return NULL;
    bell->server = server;
    (void)pthread_mutex_init(&bell->lock, NULL);
    (void)pthread_cond_init(&bell->asked, NULL);
    if (pthread_create(&bell->thread, NULL, bell_run, bell) == 0)
        return bell;
    (void)pthread_cond_destroy(&bell->asked);
    (void)pthread_mutex_destroy(&bell->lock);
    free(bell);
    return NULL;
}

void bell_free(struct bell *bell)
{
    (void)pthread_mutex_lock(&bell->lock);
    bell->stops = true;
    (void)pthread_cond_signal(&bell->asked);
    (void)pthread_mutex_unlock(&bell->lock);
    (void)pthread_join(bell->thread, NULL);
    (void)pthread_cond_destroy(&bell->asked);
    (void)pthread_mutex_destroy(&bell->lock);
    free(bell);
}

static int bell_call(struct bell *bell, uint64_t ticket)
{
    int err = MK_E_BUSY;

    (void)pthread_mutex_lock(&bell->lock);
    if (bell->ncalls < CALLS_MAX) {
        bell->calls[bell->ncalls++] = ticket;
        (void)pthread_cond_signal(&bell->asked);
        err = 0;
    }
    (void)pthread_mutex_unlock(&bell->lock);
    return err;
}

struct caller {
    struct visit visit;
    bool called;
};

static void bell_forget(struct visit *v)
{
    (void)v; /* its ticket finds nobody any more */
}

enum mk_verdict bell_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route)
{
    const struct probe *probe = ctx->config;
    struct caller *caller = visit_of(r, ctx, sizeof(*caller), bell_forget);
    uint64_t ticket = mk_request_ticket(r);

    (void)route;
    if (caller && caller->called)
        return mk_reply_bytes(r, 200, "text/plain", MK_STR("resumed"));
    if (!caller || !ticket || bell_call(probe->bell, ticket) < 0)
        return mk_reply_error(r, 503, NULL);
    caller->called = true;
    return MK_VERDICT_LATER;
}

/* ---- a descriptor; each side has its own, so that neither writes into what the other has closed ---- */

struct sleeper {
    struct visit visit;
    struct mk_io *io;
};

struct alarm_clock {
    int fd;
};

static void sleeper_end(struct visit *v)
{
    mk_io_close(((struct sleeper *)v)->io);
}

static void on_awake(struct mk_io *io, unsigned events, void *arg)
{
    struct sleeper *s = arg;
    uint64_t count;

    (void)events;
    if (read(mk_io_fd(io), &count, sizeof(count)) != sizeof(count))
        return;
    (void)mk_reply_bytes(s->visit.r, 200, "text/plain", MK_STR("woken"));
    mk_request_resume(s->visit.r);
}

static void ring(void *arg)
{
    struct alarm_clock *clock = arg;
    const uint64_t one = 1;

    (void)!write(clock->fd, &one, sizeof(one));
}

static void put_away(void *arg)
{
    struct alarm_clock *clock = arg;

    (void)close(clock->fd);
    free(clock);
}

/* The other thread of this one is the server's. */
static int ring_elsewhere(struct mk_worker *w, int fd)
{
    struct alarm_clock *clock = malloc(sizeof(*clock));
    int err;

    if (!clock)
        return MK_E_NOMEM;
    clock->fd = dup(fd);
    err = clock->fd < 0 ? MK_E_NOFD : mk_offload(w, ring, put_away, clock);
    if (err == 0)
        return 0;
    if (clock->fd >= 0)
        (void)close(clock->fd);
    free(clock);
    return err;
}

enum mk_verdict wake_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route)
{
    struct sleeper *s = visit_of(r, ctx, sizeof(*s), sleeper_end);
    struct mk_request_facts f = {.size = sizeof(f)};
    int fd = s ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;

    (void)route;
    mk_request_facts(r, &f);
    if (fd < 0)
        return mk_reply_error(r, 503, NULL);
    if (mk_io_open(&s->io, f.worker, fd, MK_IO_READ, on_awake, s) < 0) {
        (void)close(fd);
        return mk_reply_error(r, 503, NULL);
    }
    return ring_elsewhere(f.worker, fd) < 0 ? mk_reply_error(r, 503, NULL) : MK_VERDICT_LATER;
}
