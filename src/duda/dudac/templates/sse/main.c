#include "webservice.h"

#include <sys/timerfd.h>

/* A clock: each open page gets the time once a second, by server-sent events of /@NAME@/clock. */

DUDA_REGISTER("@NAME@", "a clock");

enum { PAGES_MAX = 1000 };

/* The open pages of a worker, which alone uses them: no lock is needed. */
struct pages {
    int count;
    duda_request_t *open[PAGES_MAX];
};

static duda_global_t pages_here;

static void *new_pages(void *arg)
{
    (void)arg;
    return mem->alloc_z(sizeof(struct pages));
}

static int tick(int fd, void *data)
{
    struct pages *pages = data;
    time_t now = time(NULL);
    uint64_t ticks;
    char text[16];

    if (read(fd, &ticks, sizeof(ticks)) < 0)
        return DUDA_EVENT_OWNED;
    strftime(text, sizeof(text), "%H:%M:%S", localtime(&now));
    for (int i = 0; i < pages->count; i++) {
        response->printf(pages->open[i], "data: %s\n\n", text);
        response->flush(pages->open[i]);
    }
    return DUDA_EVENT_OWNED;
}

/* Runs on each worker before its first request. */
static void start_clock(void *arg)
{
    const struct itimerspec second = {{1, 0}, {1, 0}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    (void)arg;
    timerfd_settime(fd, 0, &second, NULL);
    event->add(fd, DUDA_EVENT_READ, DUDA_EVENT_LEVEL_TRIGGERED, tick, NULL, NULL, NULL, NULL,
               global->get(pages_here));
}

/* The page was closed. */
static void forget(duda_request_t *dr)
{
    struct pages *pages = global->get(pages_here);
    int at = 0;

    while (at < pages->count && pages->open[at] != dr)
        at++;
    if (at < pages->count)
        pages->open[at] = pages->open[--pages->count];
}

static void clock_events(duda_request_t *dr)
{
    struct pages *pages = global->get(pages_here);

    if (pages->count == PAGES_MAX) {
        response->http_status(dr, 503);
        response->end(dr, NULL);
    }
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/event-stream");
    response->http_header(dr, "Cache-Control: no-cache");
    response->wait(dr);
    response->send_headers(dr);
    pages->open[pages->count++] = dr;
    dr->end_callback = forget;
}

int duda_main()
{
    global->init(&pages_here, new_pages, NULL);
    worker->pre_loop(start_clock, NULL);
    router->map("/clock", clock_events);
    return 0;
}
