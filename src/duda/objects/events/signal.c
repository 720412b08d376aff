/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/event.h"
#include "service/request.h"

#include <monkey/events.h>

/* Of a service. */
struct signals {
    void (*callback)(int fd, uint64_t value);
    pthread_mutex_t lock; /* of the pipes: threads of its own ask for them */
    int npipes;
    int *pipes; /* writing ends */
};

/* Of a service on one worker: a member of the list of its worker. */
struct mk_duda_listener {
    struct mk_duda_listener *next;
    struct mk_duda_service *service;
};

/* A signal on its way to all workers. */
struct sent {
    struct counted refs; /* workers that it has not reached */
    struct mk_duda_service *from;
    uint64_t value;
};

static struct signals *signals_of(const struct mk_duda_service *s)
{
    return mk_duda_state(s, MK_DUDA_PART_SIGNAL);
}

void mk_duda_set_signal_callback(struct web_service *ws, void (*func)(int fd, uint64_t val))
{
    if (ws && mk_duda_is_set_up(mk_duda_service_of(ws), "duda_event_set_signal_callback"))
        signals_of(mk_duda_service_of(ws))->callback = func;
}

/* A pipe that is full belongs to a thread that reads no more: it loses this one. */
static void write_pipes(struct signals *signals, uint64_t value)
{
    (void)pthread_mutex_lock(&signals->lock);
    for (int i = 0; i < signals->npipes; i++) {
        if (write(signals->pipes[i], &value, sizeof(value)) < 0)
            continue;
    }
    (void)pthread_mutex_unlock(&signals->lock);
}

/* Threads of a service read its pipes once, whatever the number of workers is: the first one writes to them. */
static void arrive(struct mk_duda_worker *worker, uint64_t value)
{
    for (struct mk_duda_listener *l = worker->listeners, *next; l; l = next) {
        struct signals *signals = signals_of(l->service);
        struct mk_duda_here before = mk_duda_enter(l->service, worker);

        next = l->next;
        if (worker->index == 0)
            write_pipes(signals, value);
        if (signals->callback)
            signals->callback(-1, value);
        mk_duda_leave(before);
    }
}

static void deliver(struct mk_worker *w, void *arg)
{
    struct sent *sent = arg;
    unsigned index = mk_worker_index(w);
    struct mk_duda_seat *seat = index < sent->from->nseats ? sent->from->seats[index] : NULL;

    if (seat)
        arrive(seat->worker, sent->value);
    if (!counted_put(&sent->refs))
        return;
    mk_duda_put(sent->from);
    free(sent);
}

int mk_duda_signal(uint64_t value)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct sent *sent;

    if (s && s->state == MK_DUDA_NEW) { /* its start may be refused: nobody would take it then */
        mk_duda_log(s, MK_LOG_WARN,
                    "event->signal() works on workers and threads of the service only");
        return -1;
    }
    if (!s || !mk_duda_try_get(s))
        return -1;
    sent = malloc(sizeof(*sent));
    if (sent) {
        counted_init(&sent->refs, mk_server_workers(s->server));
        sent->from = s;
        sent->value = value;
        if (mk_server_each_worker(s->server, deliver, sent) == 0)
            return 0;
    }
    free(sent);
    mk_duda_put(s);
    return -1;
}

static int keep_pipe(struct signals *signals, int fd)
{
    int *grown;

    (void)pthread_mutex_lock(&signals->lock);
    grown = realloc(signals->pipes, ((size_t)signals->npipes + 1) * sizeof(*grown));
    if (grown) {
        signals->pipes = grown;
        signals->pipes[signals->npipes++] = fd;
    }
    (void)pthread_mutex_unlock(&signals->lock);
    return grown ? 0 : -1;
}

int mk_duda_create_signal_fd(void)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    int ends[2];

    if (!s || pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 && keep_pipe(signals_of(s), ends[1]) == 0)
        return ends[0];
    (void)close(ends[0]);
    (void)close(ends[1]);
    return -1;
}

/* ---- life ---- */

static int load(struct mk_duda_service *s)
{
    return pthread_mutex_init(&signals_of(s)->lock, NULL) == 0 ? 0 : mk_duda_refuse(s, "no memory");
}

static int worker_start(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct mk_duda_listener *l = mk_duda_local(s, w, MK_DUDA_PART_SIGNAL);

    l->service = s;
    l->next = w->listeners;
    w->listeners = l;
    return 0;
}

static void worker_stop(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct mk_duda_listener *l = mk_duda_local(s, w, MK_DUDA_PART_SIGNAL), **at = &w->listeners;

    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
}

/* Its threads find the end of their pipes. */
static void exit_of(struct mk_duda_service *s)
{
    struct signals *signals = signals_of(s);

    (void)pthread_mutex_lock(&signals->lock);
    for (int i = 0; i < signals->npipes; i++)
        (void)close(signals->pipes[i]);
    signals->npipes = 0;
    free(signals->pipes);
    signals->pipes = NULL;
    (void)pthread_mutex_unlock(&signals->lock);
}

const struct mk_duda_part mk_duda_signal_part = {
    .service_size = sizeof(struct signals),
    .local_size = sizeof(struct mk_duda_listener),
    .load = load,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .exit = exit_of,
};
