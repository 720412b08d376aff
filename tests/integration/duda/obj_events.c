/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <sys/timerfd.h>

DUDA_REGISTER("obj_events", "descriptors and signals on workers");

/* A request that is parked until a descriptor has told its story. */
struct story {
    duda_request_t *dr;
    int other; /* the far end of a socket pair */
    int times;
    char text[256];
};

static void tell(struct story *s, const char *what)
{
    size_t len = strlen(s->text);

    snprintf(s->text + len, sizeof(s->text) - len, "%s ", what);
}

static void finish(struct story *s)
{
    if (request->validate_request(s->dr)) {
        response->cont(s->dr);
        response->http_status(s->dr, 200);
        response->printf(s->dr, "%s", s->text);
        response->finalize(s->dr, NULL);
    }
    free(s);
}

static int read_some(int fd, void *arg)
{
    struct story *s = arg;
    char text[3] = "";
    ssize_t n = read(fd, text, 2);

    tell(s, n > 0 ? text : "end");
    return DUDA_EVENT_OWNED;
}

static int closed(int fd, void *arg)
{
    struct story *s = arg;

    tell(s, "closed");
    tell(s, event->lookup(fd) ? "known" : "unknown");
    finish(s);
    return DUDA_EVENT_CLOSE;
}

static struct story *park(duda_request_t *dr)
{
    struct story *s = calloc(1, sizeof(*s));

    s->dr = dr;
    response->wait(dr);
    return s;
}

/* What came before the end is read, and the end is told once. */
static void until_end(duda_request_t *dr)
{
    struct story *s = park(dr);
    int fds[2];

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds);
    if (event->add(fds[0], DUDA_EVENT_READ, DUDA_EVENT_LEVEL_TRIGGERED, read_some, NULL, closed,
                   closed, closed, s) != 0)
        tell(s, "refused");
    if (write(fds[1], "abcde", 5) != 5)
        tell(s, "lost");
    close(fds[1]);
}

static int tick(int fd, void *arg)
{
    struct story *s = arg;
    uint64_t times;

    if (read(fd, &times, sizeof(times)) != sizeof(times))
        return DUDA_EVENT_CONTINUE;
    tell(s, "tick");
    if (++s->times < 3)
        return DUDA_EVENT_OWNED;
    finish(s);
    return DUDA_EVENT_CLOSE; /* without on_close */
}

static void ticks(duda_request_t *dr)
{
    const struct itimerspec period = {{0, 10000000}, {0, 10000000}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

    timerfd_settime(fd, 0, &period, NULL);
    event->add(fd, DUDA_EVENT_READ, DUDA_EVENT_LEVEL_TRIGGERED, tick, NULL, NULL, NULL, NULL,
               park(dr));
}

static int deletes_itself(int fd, void *arg)
{
    struct story *s = arg;
    int first = event->delete (fd), second = event->delete (fd);

    snprintf(s->text, sizeof(s->text), "%d %d %d", first, second,
             event->mode(fd, DUDA_EVENT_READ, 0));
    close(fd);
    close(s->other);
    finish(s);
    return DUDA_EVENT_CLOSE;
}

static void deleted(duda_request_t *dr)
{
    struct story *s = park(dr);
    int fds[2];

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds);
    s->other = fds[1];
    event->add(fds[0], DUDA_EVENT_WRITE, DUDA_EVENT_LEVEL_TRIGGERED, NULL, deletes_itself, NULL,
               closed, NULL, s);
}

static int second_writer(int fd, void *arg)
{
    struct story *s = arg;

    tell(s, "second");
    close(s->other);
    event->delete (fd);
    close(fd);
    finish(s);
    return DUDA_EVENT_OWNED;
}

static int first_writer(int fd, void *arg)
{
    tell(arg, "first");
    return DUDA_EVENT_OWNED;
}

/* A second add() replaces the first; a sleeping descriptor wakes with its mode. */
static void replaced(duda_request_t *dr)
{
    struct story *s = park(dr);
    struct duda_event_handler *handler;
    int fds[2], file;

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds);
    s->other = fds[1];
    event->add(fds[0], DUDA_EVENT_WRITE, DUDA_EVENT_LEVEL_TRIGGERED, NULL, first_writer, NULL,
               closed, NULL, s);
    event->add(fds[0], DUDA_EVENT_WRITE, DUDA_EVENT_LEVEL_TRIGGERED, NULL, second_writer, NULL,
               closed, NULL, s);
    tell(s, event->mode(fds[0], DUDA_EVENT_SLEEP, 0) == 0 ? "sleeps" : "awake");
    tell(s, event->mode(fds[0], DUDA_EVENT_WAKEUP, 0) == 0 ? "wakes" : "asleep");
    handler = event->lookup(fds[0]);
    tell(s,
         handler && handler->mode == DUDA_EVENT_WRITE && handler->cb_data == s ? "found" : "lost");
    tell(s, event->lookup(fds[1]) ? "known" : "unknown");
    file = open("/dev/null", O_RDONLY);
    close(file); /* a number that is no descriptor */
    tell(s, event->add(file, DUDA_EVENT_READ, 0, read_some, NULL, NULL, NULL, NULL, s) < 0
                ? "refused"
                : "taken");
}

/* ---- signals ---- */

static duda_global_t mine; /* a number of each worker */
static int arrived[64], npipe_reads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *number(void *arg)
{
    static int next, numbers[64];
    int *own;

    pthread_mutex_lock(&lock);
    own = &numbers[next];
    *own = *(int *)arg + next++;
    pthread_mutex_unlock(&lock);
    return own;
}

static void on_signal(int fd, uint64_t value)
{
    const struct sched_list_node *node = monkey->sched_worker_info();

    if (node && value == 7)
        __atomic_add_fetch(&arrived[node->idx], 1, __ATOMIC_RELAXED);
}

static void *reader(void *arg)
{
    int fd = event->create_signal_fd();
    uint64_t value;

    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
    while (read(fd, &value, sizeof(value)) == sizeof(value))
        if (value == 7)
            __atomic_add_fetch(&npipe_reads, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int is_reading;

static void signals(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", event->signal(7));
    response->end(dr, NULL);
}

static void counts(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", __atomic_load_n(&is_reading, __ATOMIC_ACQUIRE));
    for (int i = 0; i < monkey->config->workers; i++)
        response->printf(dr, " %d", __atomic_load_n(&arrived[i], __ATOMIC_RELAXED));
    response->printf(dr, " %d", __atomic_load_n(&npipe_reads, __ATOMIC_RELAXED));
    response->end(dr, NULL);
}

/* ---- globals, threads, loops ---- */

static int base = 100, npre_loops, thread_number, loop_events, from_monkey, off_worker;

static void globals(duda_request_t *dr)
{
    int *own = global->get(mine);
    char other[] = "x";

    response->http_status(dr, 200);
    response->printf(dr, "%d %d", *own, __atomic_load_n(&npre_loops, __ATOMIC_RELAXED));
    global->set(mine, other);
    response->printf(dr, " %d", global->get(mine) == other);
    global->set(mine, own);
    response->end(dr, NULL);
}

static void pre(void *arg)
{
    __atomic_add_fetch((int *)arg, 1, __ATOMIC_RELAXED);
}

static void *thread(void *arg)
{
    static mk_event_loop_t *loop; /* there is no call that frees one */
    int r, w, *own = global->get(mine);
    char byte;

    loop = event->loop_create(8);
    monkey->worker_rename("obj_events_own_thread");
    event->loop_channel_create(loop, &r, &w);
    if (write(w, "x", 1) == 1 && event->loop_wait(loop) == 1 && loop->events[0].fd == r &&
        read(r, &byte, 1) == 1)
        __atomic_store_n(&loop_events, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&off_worker, monkey->sched_worker_info() == NULL && event->lookup(r) == NULL,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&thread_number, own ? *own : -1, __ATOMIC_RELEASE);
    return arg;
}

static void by_monkey(void *arg)
{
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

static void threads(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d", __atomic_load_n(&thread_number, __ATOMIC_ACQUIRE) >= 100,
                     __atomic_load_n(&loop_events, __ATOMIC_RELAXED),
                     __atomic_load_n(&off_worker, __ATOMIC_RELAXED),
                     __atomic_load_n(&from_monkey, __ATOMIC_ACQUIRE));
    response->end(dr, NULL);
}

static void too_late(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", worker->spawn(thread, NULL));
    response->end(dr, NULL);
}

int duda_main()
{
    router->map("/end", until_end);
    router->map("/ticks", ticks);
    router->map("/deleted", deleted);
    router->map("/replaced", replaced);
    router->map("/signals", signals);
    router->map("/counts", counts);
    router->map("/globals", globals);
    router->map("/threads", threads);
    router->map("/late", too_late);
    duda_event_set_signal_callback(on_signal);
    duda_global_init(&mine, number, &base);
    worker->pre_loop(pre, &npre_loops);
    worker->spawn(thread, NULL);
    worker->spawn(reader, &is_reading);
    monkey->worker_spawn(by_monkey, &from_monkey);
    return event->add(0, DUDA_EVENT_READ, 0, NULL, NULL, NULL, NULL, NULL, NULL) == -1 ? 0 : 1;
}
