#include "webservice.h"

/* A clock: each open page gets the time once a second, by server-sent events of /@NAME@/clock. */

DUDA_REGISTER("@NAME@", "a clock");

enum { PAGES_MAX = 1000, SECOND = 1000 };

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

static void tick(void *arg)
{
    const struct pages *pages = global->get(pages_here);
    const time_t now = time(NULL);
    struct tm local;
    char text[16];

    (void)arg;
    strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&now, &local));
    for (int i = 0; pages && i < pages->count; i++)
        sse->send(pages->open[i], NULL, NULL, text);
}

/* Runs on each worker before its first request. */
static void start_clock(void *arg)
{
    (void)arg;
    timer->every(SECOND, tick, NULL);
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

    if (!pages || pages->count == PAGES_MAX)
        response->problem(dr, 503, "Too many pages are open", NULL);
    else if (sse->open(dr, forget) == 0)
        pages->open[pages->count++] = dr;
}

int duda_main()
{
    global->init_with_end(&pages_here, new_pages, NULL, mem->free);
    worker->pre_loop(start_clock, NULL);
    router->get("/clock", clock_events);
    return 0;
}
