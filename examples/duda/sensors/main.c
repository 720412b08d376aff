/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "a chart of a device's sensors, as they change");

/*
 * GET  /sensors/           the page
 * GET  /sensors/events     server-sent events: the last readings, then each new one
 * POST /sensors/readings   {"celsius": 21.5, "humidity": 40}, from the device
 *
 * All workers see the readings. Each has pages of its own, and a signal tells all that there is something new.
 */

enum { READINGS = 120, PAGES = 100 };

struct reading {
    double celsius, humidity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reading readings[READINGS]; /* the last ones; number n, from 1, is at n % READINGS */
static int64_t newest;                    /* its number, which is the id of its event */

/* The pages of a worker, which alone uses them. */
struct pages {
    struct open {
        duda_request_t *dr;
        int64_t seen;
    } open[PAGES];
    unsigned count;
};

static duda_global_t pages_here;
static duda_view_t *page;

static void *new_pages(void *arg)
{
    (void)arg;
    return mem->alloc_z(sizeof(struct pages));
}

/* ---- events ---- */

/* @return whether there is a newer one, whose number *seen is then; too old ones are skipped */
static int next_reading(int64_t *seen, struct reading *r)
{
    int has_next;

    pthread_mutex_lock(&lock);
    if (*seen > newest) /* of before a restart */
        *seen = 0;
    if (*seen < newest - READINGS)
        *seen = newest - READINGS;
    has_next = *seen < newest;
    if (has_next)
        *r = readings[++*seen % READINGS];
    pthread_mutex_unlock(&lock);
    return has_next;
}

static void send_readings(struct open *open)
{
    struct reading r;
    char id[24], text[96];

    while (next_reading(&open->seen, &r)) {
        snprintf(id, sizeof(id), "%lld", (long long)open->seen);
        snprintf(text, sizeof(text), "{\"celsius\":%.2f,\"humidity\":%.1f}", r.celsius, r.humidity);
        sse->send(open->dr, NULL, id, text);
    }
}

/* Runs on each worker after event->signal(). */
static void on_signal(int fd, uint64_t value)
{
    struct pages *pages = global->get(pages_here);

    (void)fd;
    (void)value;
    for (unsigned i = 0; pages && i < pages->count; i++)
        send_readings(&pages->open[i]);
}

/* The page was closed. */
static void forget(duda_request_t *dr)
{
    struct pages *pages = global->get(pages_here);
    unsigned at = 0;

    while (at < pages->count && pages->open[at].dr != dr)
        at++;
    if (at < pages->count)
        pages->open[at] = pages->open[--pages->count];
}

/* A page that connects again gets what it has missed. */
static void events(duda_request_t *dr)
{
    struct pages *pages = global->get(pages_here);
    const char *seen = sse->last_id(dr);
    struct open *open = &pages->open[pages->count];

    if (pages->count == PAGES) {
        response->problem(dr, 503, "Too many pages are open", NULL);
        return;
    }
    if (sse->open(dr, forget) < 0)
        return;
    *open = (struct open){dr, seen ? strtoll(seen, NULL, 10) : 0};
    if (open->seen < 0)
        open->seen = 0;
    pages->count++;
    send_readings(open);
}

/* ---- readings ---- */

static const struct duda_input reading_rows[] = {{.name = "celsius",
                                                  .in = DUDA_IN_BODY,
                                                  .type = DUDA_NUMBER,
                                                  .to = offsetof(struct reading, celsius),
                                                  .is_required = 1,
                                                  .min = -60,
                                                  .max = 120,
                                                  .about = "Temperature"},
                                                 {.name = "humidity",
                                                  .in = DUDA_IN_BODY,
                                                  .type = DUDA_NUMBER,
                                                  .to = offsetof(struct reading, humidity),
                                                  .is_required = 1,
                                                  .min = -0.0,
                                                  .max = 100,
                                                  .about = "Relative humidity in percent"},
                                                 {0}};
static const struct duda_inputs reading_inputs = {"Report a reading", sizeof(struct reading),
                                                  reading_rows};

static void add_reading(duda_request_t *dr)
{
    pthread_mutex_lock(&lock);
    readings[++newest % READINGS] = *(const struct reading *)input->values(dr);
    pthread_mutex_unlock(&lock);
    event->signal(1);
    response->http_status(dr, 204);
    response->end(dr, NULL);
}

/* ---- the page ---- */

struct page {
    const char *device;
    int64_t readings;
};

static const struct duda_input page_rows[] = {
    {.name = "device", .type = DUDA_TEXT, .to = offsetof(struct page, device)},
    {.name = "readings", .type = DUDA_INTEGER, .to = offsetof(struct page, readings)},
    {0}};

static void show_page(duda_request_t *dr)
{
    char name[65] = "device";
    const struct page values = {name, READINGS};

    gethostname(name, sizeof(name) - 1);
    response->header(dr, "Content-Security-Policy", "default-src 'self'");
    view->send(dr, 200, page, page_rows, &values);
}

int duda_main()
{
    global->init_with_end(&pages_here, new_pages, NULL, mem->free);
    duda_event_set_signal_callback(on_signal);
    page = view->load("page.html");
    router->get("/", show_page);
    router->get("/events", events);
    router->describe("POST", "/readings", add_reading, &reading_inputs);
    return 0;
}
