/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/loops.h"

#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

enum { LOOP_EVENTS_MAX = 4096, LOOP_FDS_MAX = 1 << 20 };

struct watched {
    uint32_t mask; /* as the service gave it; 0: not watched */
    void *data;
};

/* What loop->data points to. */
struct loop {
    int epoll_fd;
    int nwatched; /* length of the table, whose index is the descriptor */
    struct watched *watched;
    struct epoll_event *ready;
};

mk_event_loop_t *mk_duda_loop_create(int size)
{
    mk_event_loop_t *loop = calloc(1, sizeof(*loop));
    struct loop *own = calloc(1, sizeof(*own));

    if (!loop || !own) {
        free(loop);
        free(own);
        return NULL;
    }
    loop->data = own;
    loop->size = size < 1 ? 1 : size > LOOP_EVENTS_MAX ? LOOP_EVENTS_MAX : size;
    loop->events = calloc((size_t)loop->size, sizeof(*loop->events));
    own->ready = calloc((size_t)loop->size, sizeof(*own->ready));
    own->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!loop->events || !own->ready || own->epoll_fd < 0) {
        mk_duda_loop_free(loop);
        return NULL;
    }
    return loop;
}

void mk_duda_loop_free(mk_event_loop_t *loop)
{
    struct loop *own;

    if (!loop)
        return;
    own = loop->data;
    if (own->epoll_fd >= 0)
        (void)close(own->epoll_fd);
    free(own->ready);
    free(own->watched);
    free(own);
    free(loop->events);
    free(loop);
}

static bool has_room_for(struct loop *own, int fd)
{
    struct watched *grown;
    int n = own->nwatched ? own->nwatched : 64;

    if (fd < own->nwatched)
        return true;
    if (fd >= LOOP_FDS_MAX)
        return false;
    while (n <= fd)
        n *= 2;
    grown = realloc(own->watched, (size_t)n * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + own->nwatched, 0, (size_t)(n - own->nwatched) * sizeof(*grown));
    own->watched = grown;
    own->nwatched = n;
    return true;
}

static uint32_t epoll_events(int mask)
{
    uint32_t events = 0;

    if (mask & MK_EVENT_SLEEP)
        return 0;
    if (mask & MK_EVENT_READ)
        events |= EPOLLIN | EPOLLRDHUP;
    if (mask & MK_EVENT_WRITE)
        events |= EPOLLOUT;
    if (mask & MK_EVENT_EDGE)
        events |= EPOLLET;
    return events;
}

/* A descriptor that was closed without loop_delete has left the kernel's table, not ours: so both ways are tried. */
int mk_duda_loop_add(mk_event_loop_t *loop, int fd, int mask, void *data)
{
    struct loop *own = loop ? loop->data : NULL;
    struct epoll_event event = {.events = epoll_events(mask), .data.fd = fd};

    if (!own || fd < 0 || !has_room_for(own, fd))
        return -1;
    if (epoll_ctl(own->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 &&
        (errno != EEXIST || epoll_ctl(own->epoll_fd, EPOLL_CTL_MOD, fd, &event) < 0))
        return -1;
    own->watched[fd] = (struct watched){.mask = (uint32_t)mask, .data = data};
    return 0;
}

int mk_duda_loop_delete(mk_event_loop_t *loop, int fd)
{
    struct loop *own = loop ? loop->data : NULL;

    if (!own || fd < 0 || fd >= own->nwatched)
        return -1;
    own->watched[fd] = (struct watched){0};
    return epoll_ctl(own->epoll_fd, EPOLL_CTL_DEL, fd, NULL) < 0 ? -1 : 0;
}

int mk_duda_loop_timeout_create(mk_event_loop_t *loop, int seconds)
{
    const struct itimerspec period = {{seconds, 0}, {seconds, 0}};
    int fd = loop && seconds > 0 ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) : -1;

    if (fd < 0)
        return -1;
    if (timerfd_settime(fd, 0, &period, NULL) < 0 ||
        mk_duda_loop_add(loop, fd, MK_EVENT_READ, NULL) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

int mk_duda_loop_channel_create(mk_event_loop_t *loop, int *r_fd, int *w_fd)
{
    int ends[2];

    if (!loop || !r_fd || !w_fd || pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    if (mk_duda_loop_add(loop, ends[0], MK_EVENT_READ, NULL) < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    *r_fd = ends[0];
    *w_fd = ends[1];
    return 0;
}

/* The end and errors of a descriptor are told as what the service waits for: its next call finds them. */
static uint32_t public_mask(uint32_t events, uint32_t wanted)
{
    const uint32_t both = MK_EVENT_READ | MK_EVENT_WRITE;
    uint32_t mask = 0;

    if (events & (EPOLLERR | EPOLLHUP))
        mask = wanted & both;
    if (events & (EPOLLIN | EPOLLRDHUP))
        mask |= MK_EVENT_READ;
    if (events & EPOLLOUT)
        mask |= MK_EVENT_WRITE;
    return mask ? mask : MK_EVENT_READ;
}

int mk_duda_loop_wait(mk_event_loop_t *loop)
{
    struct loop *own = loop ? loop->data : NULL;
    int n;

    if (!own)
        return -1;
    do
        n = epoll_wait(own->epoll_fd, own->ready, loop->size, -1);
    while (n < 0 && errno == EINTR);
    for (int i = 0; i < n; i++) {
        int fd = own->ready[i].data.fd;
        const struct watched *w = &own->watched[fd];

        loop->events[i] = (mk_event_t){
            .fd = fd, .mask = public_mask(own->ready[i].events, w->mask), .data = w->data};
    }
    loop->n_events = n < 0 ? 0 : n;
    return n;
}

char *mk_duda_loop_backend(void)
{
    static char name[] = "epoll"; /* the contract's result is not const */

    return name;
}
