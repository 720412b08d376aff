/* SPDX-License-Identifier: Apache-2.0 */
#include "sink.h"

#include "target.h"

#include "kit/clock/clock.h"
#include "kit/counted/counted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Frames of one pipe before the next pipe has its turn: other workers' pipes fill meanwhile. */
enum { FRAMES_A_TURN = 256 };

/* What the thread waits for. */
enum wake {
    WAKE_IDLE,    /* the first frame */
    WAKE_WAITING, /* its time, for a frame came */
    WAKE_NOW,     /* nothing: it was told to look */
};

struct logger_pipe {
    struct logger_pipe *next;
    struct logger_sink *sink;
    unsigned worker;
    int in, out; /* the ends for reading and writing */
    unsigned capacity;
    atomic_uint written, emptied; /* room taken by the worker, and given back by the thread */
};

struct logger_sink {
    logger_say_fn say;
    void *arg;
    struct counted refs;
    atomic_uint wait_ms;
    atomic_int wake; /* enum wake */
    atomic_bool ending;
    int bell; /* eventfd */
    pthread_t thread;
    _Atomic(struct logger_pipe *) pipes; /* only added to */
    pthread_mutex_t lock;                /* targets, and their references */
    struct logger_target *targets;
    unsigned round; /* the thread's own */
};

static void ring(struct logger_sink *s)
{
    const uint64_t one = 1;

    (void)!write(s->bell, &one, sizeof(one)); /* full: it rings already */
}

static void look_now(struct logger_sink *s)
{
    atomic_store(&s->wake, WAKE_NOW);
    ring(s);
}

/* ---- what is told ---- */

static void tell_failing(struct logger_sink *s, struct logger_target *t, int err)
{
    char text[512];

    if (t->failing)
        return;
    t->failing = true;
    t->reported_ms = clock_now_ms();
    (void)snprintf(text, sizeof(text), "log cannot be written, lines are lost path=%.300s: %s",
                   t->name, err == EAGAIN ? "its reader is too slow" : strerror(err));
    s->say(s->arg, MK_LOG_ERROR, text);
}

static void tell_lost(struct logger_sink *s, struct logger_target *t, bool recovered)
{
    unsigned lost = atomic_exchange(&t->lost, 0);
    char text[512];

    t->reported_ms = clock_now_ms();
    (void)snprintf(text, sizeof(text), "%s path=%.300s lost=%u",
                   recovered ? "log can be written again" : "log lines were lost", t->name, lost);
    s->say(s->arg, recovered ? MK_LOG_INFO : MK_LOG_WARN, text);
}

static void tell_rotation(struct logger_sink *s, struct logger_target *t)
{
    char text[512];

    if (t->rotate_error == 0)
        return;
    (void)snprintf(text, sizeof(text), "log cannot be rotated, and grows path=%.300s: %s", t->name,
                   strerror(t->rotate_error));
    t->rotate_error = 0;
    s->say(s->arg, MK_LOG_ERROR, text);
}

/* A last short line may still fit on a disk that is full: it has room when it takes lines for a while. */
static void tell_recovered(struct logger_sink *s, struct logger_target *t)
{
    int64_t now = clock_now_ms();

    if (t->recovered_ms == 0)
        t->recovered_ms = now;
    if (now - t->recovered_ms < LOGGER_RECOVERY_MS)
        return;
    t->failing = false;
    tell_lost(s, t, true);
}

/* Lost lines are told at once at first, then only from time to time, and at the end. */
static void report(struct logger_sink *s, struct logger_target *t, bool last)
{
    if (atomic_load(&t->lost) == 0 || (t->failing && !last))
        return;
    if (last || t->reported_ms == 0 || clock_now_ms() - t->reported_ms >= LOGGER_REPORT_MS)
        tell_lost(s, t, false);
}

/* ---- emptying the pipes ---- */

/* A pipe has pages: a frame takes what is left of the last one, or one for itself. At most so much: */
static unsigned room_of(size_t len)
{
    return len < LOGGER_FRAME_MAX / 2 ? (unsigned)len * 2 : LOGGER_FRAME_MAX;
}

static void discard(int pipe, size_t bytes)
{
    char frame[LOGGER_FRAME_MAX];

    while (bytes > 0) {
        ssize_t n = read(pipe, frame, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        bytes -= (size_t)n;
    }
}

static void write_frame(struct logger_sink *s, const struct logger_pipe *p,
                        const struct logger_frame *frame)
{
    struct logger_target *t = frame->target;
    size_t left = frame->bytes;
    int err = EAGAIN;

    if (t->failed_round != s->round)
        err = logger_target_write(t, p->in, frame->bytes, &left);
    tell_rotation(s, t);
    if (err == 0) {
        if (t->failing)
            tell_recovered(s, t);
        return;
    }
    t->recovered_ms = 0;
    discard(p->in, left);
    (void)atomic_fetch_add(&t->lost, frame->lines);
    if (t->failed_round != s->round) {
        t->failed_round = s->round;
        tell_failing(s, t, err);
    }
}

/* @return frames taken out, at most FRAMES_A_TURN. */
static unsigned empty_pipe(struct logger_sink *s, struct logger_pipe *p)
{
    unsigned frames = 0;

    for (; frames < FRAMES_A_TURN; frames++) {
        struct logger_frame frame;

        if (read(p->in, &frame, sizeof(frame)) != sizeof(frame))
            break;
        write_frame(s, p, &frame);
        (void)atomic_fetch_add(&p->emptied, room_of(sizeof(frame) + frame.bytes));
    }
    return frames;
}

/* Under the lock: no frame of such a target can come any more, but some may be in the pipes. */
static void begin_round(struct logger_sink *s)
{
    pthread_mutex_lock(&s->lock);
    if (++s->round == 0)
        s->round = 1;
    for (struct logger_target *t = s->targets; t; t = t->next) {
        logger_target_renew(t);
        logger_target_round(t);
        t->rotation = t->wanted;
        t->unused = t->refs == 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* @return the targets that nobody has used since before the pipes were emptied, unlinked. */
static struct logger_target *take_unused(struct logger_sink *s)
{
    struct logger_target **link = &s->targets, *unused = NULL;

    pthread_mutex_lock(&s->lock);
    while (*link) {
        struct logger_target *t = *link;

        if (!t->unused || t->refs > 0) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        t->next = unused;
        unused = t;
    }
    pthread_mutex_unlock(&s->lock);
    return unused;
}

static void end_round(struct logger_sink *s, bool empty, bool last)
{
    struct logger_target *unused = empty ? take_unused(s) : NULL;

    while (unused) {
        struct logger_target *t = unused;

        unused = t->next;
        report(s, t, true);
        logger_target_free(t);
    }
    /* The thread alone unlinks targets; others add only in front. */
    pthread_mutex_lock(&s->lock);
    struct logger_target *t = s->targets;
    pthread_mutex_unlock(&s->lock);
    for (; t; t = t->next)
        report(s, t, last);
}

/* What a round found. */
enum found { FOUND_NOTHING, FOUND_FRAMES, FOUND_MORE /* than one turn takes */ };

static enum found run_round(struct logger_sink *s, bool last)
{
    enum found found = FOUND_NOTHING;

    begin_round(s);
    for (struct logger_pipe *p = atomic_load(&s->pipes); p; p = p->next) {
        unsigned frames = empty_pipe(s, p);

        if (frames == FRAMES_A_TURN)
            found = FOUND_MORE;
        else if (frames > 0 && found == FOUND_NOTHING)
            found = FOUND_FRAMES;
    }
    end_round(s, found != FOUND_MORE, last);
    return found;
}

/* ---- its thread ---- */

static void wait_for_bell(struct logger_sink *s, int timeout_ms)
{
    struct pollfd p = {.fd = s->bell, .events = POLLIN};
    uint64_t rung;

    if (poll(&p, 1, timeout_ms) > 0)
        (void)!read(s->bell, &rung, sizeof(rung));
}

/*
 * Sleep until there is something to do. An idle server has no frames, and then this thread no
 * timeouts; under way the bell rings early when a pipe is half full.
 */
static void wait_for_frames(struct logger_sink *s)
{
    while (atomic_load(&s->wake) == WAKE_IDLE)
        wait_for_bell(s, -1);
    if (atomic_load(&s->wake) == WAKE_WAITING)
        wait_for_bell(s, (int)atomic_load(&s->wait_ms));
}

static void *run(void *arg)
{
    struct logger_sink *s = arg;

    while (!atomic_load(&s->ending)) {
        int idle = WAKE_IDLE;

        wait_for_frames(s);
        atomic_store(&s->wake, WAKE_WAITING);
        while (run_round(s, false) == FOUND_MORE)
            ;
        /* Who wrote a frame meanwhile rang no bell: look once more. */
        atomic_store(&s->wake, WAKE_IDLE);
        if (run_round(s, false) != FOUND_NOTHING)
            (void)atomic_compare_exchange_strong(&s->wake, &idle, WAKE_WAITING);
    }
    while (run_round(s, true) != FOUND_NOTHING)
        ;
    return NULL;
}

/* Signals are for the surrounding program's threads. */
static int start_thread(struct logger_sink *s)
{
    sigset_t all, before;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&s->thread, NULL, run, s);
    if (err == 0)
        (void)pthread_setname_np(s->thread, "mk-logger");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

/* ---- its life ---- */

struct logger_sink *logger_sink_new(logger_say_fn say, void *arg)
{
    struct logger_sink *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->say = say;
    s->arg = arg;
    counted_init(&s->refs, 1);
    atomic_init(&s->pipes, NULL);
    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->bell < 0)
        goto free_sink;
    pthread_mutex_init(&s->lock, NULL);
    if (start_thread(s) == 0)
        return s;
    pthread_mutex_destroy(&s->lock);
    (void)close(s->bell);
free_sink:
    free(s);
    return NULL;
}

struct logger_sink *logger_sink_get(struct logger_sink *s)
{
    counted_get(&s->refs);
    return s;
}

static void free_pipes(struct logger_pipe *p)
{
    while (p) {
        struct logger_pipe *next = p->next;

        (void)close(p->in);
        (void)close(p->out);
        free(p);
        p = next;
    }
}

static void free_targets(struct logger_target *t)
{
    while (t) {
        struct logger_target *next = t->next;

        logger_target_free(t);
        t = next;
    }
}

void logger_sink_put(struct logger_sink *s)
{
    if (!counted_put(&s->refs))
        return;
    atomic_store(&s->ending, true);
    look_now(s);
    (void)pthread_join(s->thread, NULL);
    free_pipes(atomic_load(&s->pipes));
    free_targets(s->targets);
    pthread_mutex_destroy(&s->lock);
    (void)close(s->bell);
    free(s);
}

void logger_sink_set_wait(struct logger_sink *s, unsigned ms)
{
    atomic_store(&s->wait_ms, ms);
}

/* ---- targets ---- */

struct logger_target *logger_target_find(struct logger_sink *s, const char *name)
{
    struct logger_target *t;

    pthread_mutex_lock(&s->lock);
    for (t = s->targets; t && strcmp(t->name, name) != 0; t = t->next)
        ;
    if (t)
        t->refs++;
    pthread_mutex_unlock(&s->lock);
    return t;
}

struct logger_target *logger_target_new(struct logger_sink *s, const char *name, int fd,
                                        int priority)
{
    struct logger_target *t = logger_target_make(name, fd, priority);

    if (!t)
        return NULL;
    t->refs = 1;
    pthread_mutex_lock(&s->lock);
    t->next = s->targets;
    s->targets = t;
    pthread_mutex_unlock(&s->lock);
    return t;
}

void logger_target_get(struct logger_sink *s, struct logger_target *t)
{
    pthread_mutex_lock(&s->lock);
    t->refs++;
    pthread_mutex_unlock(&s->lock);
}

void logger_target_put(struct logger_sink *s, struct logger_target *t)
{
    bool unused;

    pthread_mutex_lock(&s->lock);
    unused = --t->refs == 0;
    pthread_mutex_unlock(&s->lock);
    if (unused)
        look_now(s);
}

void logger_target_reopen(struct logger_sink *s, struct logger_target *t, int fd)
{
    int unused = atomic_exchange(&t->next_fd, fd);

    if (unused >= 0)
        (void)close(unused);
    look_now(s);
}

void logger_target_rotate(struct logger_sink *s, struct logger_target *t,
                          const struct logger_rotation *rotation)
{
    pthread_mutex_lock(&s->lock);
    t->wanted = *rotation;
    pthread_mutex_unlock(&s->lock);
}

void logger_target_lost(struct logger_target *t, unsigned lines)
{
    (void)atomic_fetch_add(&t->lost, lines);
}

/* ---- pipes ---- */

/* As large as it may be: unprivileged users have /proc/sys/fs/pipe-max-size and a sum of all their pipes. */
static unsigned enlarge(int fd)
{
    int size = -1;

    for (int want = LOGGER_PIPE_SIZE; size < 0 && want > LOGGER_FRAME_MAX; want /= 2)
        size = fcntl(fd, F_SETPIPE_SZ, want);
    if (size < 0)
        size = fcntl(fd, F_GETPIPE_SZ);
    return size > 0 ? (unsigned)size : LOGGER_FRAME_MAX;
}

struct logger_pipe *logger_sink_pipe(struct logger_sink *s, unsigned worker)
{
    struct logger_pipe *p = atomic_load(&s->pipes);
    int ends[2];

    while (p && p->worker != worker)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        free(p);
        return NULL;
    }
    p->sink = s;
    p->worker = worker;
    p->in = ends[0];
    p->out = ends[1];
    p->capacity = enlarge(p->out);
    p->next = atomic_load(&s->pipes);
    while (!atomic_compare_exchange_weak(&s->pipes, &p->next, p))
        ;
    return p;
}

/* The first frame wakes the thread, and the one that makes the pipe half full wakes it again. */
static void wake(const struct logger_pipe *p)
{
    struct logger_sink *s = p->sink;
    unsigned in_pipe = atomic_load(&p->written) - atomic_load(&p->emptied);
    int was = WAKE_IDLE;
    bool first = atomic_compare_exchange_strong(&s->wake, &was, WAKE_WAITING);
    bool urgent = !first && was == WAKE_WAITING && in_pipe > p->capacity / 2 &&
                  atomic_compare_exchange_strong(&s->wake, &was, WAKE_NOW);

    if (first || urgent)
        ring(s);
}

int logger_pipe_write(struct logger_pipe *p, const struct logger_frame *frame, size_t len)
{
    if (write(p->out, frame, len) != (ssize_t)len)
        return MK_E_AGAIN;
    (void)atomic_fetch_add(&p->written, room_of(len));
    wake(p);
    return 0;
}
