/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/program.h"

#include <monkey/request.h>

#include <stdlib.h>

/* ---- timers ---- */

struct program_timer {
    struct program_timer *next; /* of its home */
    struct program_home *home;
    struct mk_alarm *alarm;
    unsigned ms;
    bool is_repeated;
    void (*fn)(void *arg);
    void *arg;
};

static struct program_home *home_of(struct db_home *base)
{
    return (struct program_home *)(void *)base;
}

static void drop(struct program_timer *t)
{
    struct program_timer **at = &t->home->timers;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    mk_alarm_free(t->alarm);
    free(t);
}

static void set(struct program_timer *t)
{
    if (t->ms > 0)
        mk_alarm_set(t->alarm, t->ms);
    else
        mk_alarm_soon(t->alarm);
}

/* The function may cancel it. */
static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct program_timer *t = arg;
    void (*fn)(void *arg) = t->fn;
    void *of = t->arg;

    (void)alarm;
    if (t->is_repeated)
        set(t);
    else
        drop(t);
    fn(of);
}

static void *start(struct db_home *base, unsigned ms, bool is_repeated, void (*fn)(void *arg),
                   void *arg)
{
    struct program_home *home = home_of(base);
    struct program_timer *t = malloc(sizeof(*t));

    if (!t)
        return NULL;
    *t = (struct program_timer){
        .home = home, .ms = ms, .is_repeated = is_repeated, .fn = fn, .arg = arg};
    t->alarm = mk_alarm_new(home->worker, on_alarm, t);
    if (!t->alarm) {
        free(t);
        return NULL;
    }
    t->next = home->timers;
    home->timers = t;
    set(t);
    return t;
}

static void *after(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg)
{
    return start(home, ms, false, fn, arg);
}

static void *every(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg)
{
    return start(home, ms, true, fn, arg);
}

static void cancel(struct db_home *home, void *timer)
{
    (void)home;
    drop(timer);
}

/* ---- descriptors ---- */

static void on_event(struct mk_io *io, unsigned events, void *arg)
{
    (void)io;
    (void)events;
    db_conn_input(arg);
}

static unsigned events_of(bool wants_write)
{
    return wants_write ? MK_IO_READ | MK_IO_WRITE : MK_IO_READ;
}

static int watch(struct db_conn *c, bool wants_write)
{
    struct mk_io *io;

    if (mk_io_open(&io, home_of(c->home)->worker, c->fd, events_of(wants_write), on_event, c) < 0)
        return -1;
    c->watch = io;
    return 0;
}

/* Without memory it hears too much, or is lost by its time limit. */
static void want(struct db_conn *c, bool wants_write)
{
    (void)!mk_io_want(c->watch, events_of(wants_write));
}

static void unwatch(struct db_conn *c)
{
    mk_io_close(c->watch);
    c->watch = NULL;
}

/* ---- requests ---- */

static int on_end(void *request, void (*fn)(void *arg), void *arg)
{
    return mk_request_on_end(request, fn, arg) < 0 ? -1 : 0;
}

static const struct db_host host = {.after = after,
                                    .every = every,
                                    .cancel = cancel,
                                    .watch = watch,
                                    .want = want,
                                    .unwatch = unwatch,
                                    .forget = unwatch,
                                    .on_end = on_end};

/* ---- life ---- */

void program_home_init(struct program_home *home, struct mk_worker *w)
{
    db_home_init(&home->base, &host);
    home->worker = w;
}

void program_home_fini(struct program_home *home)
{
    struct program_timer *t;

    db_home_fini(&home->base);
    while ((t = home->timers)) {
        home->timers = t->next;
        mk_alarm_free(t->alarm);
        free(t);
    }
}
