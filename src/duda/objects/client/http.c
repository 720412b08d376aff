/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_call.h"
#include "objects/objects.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The calls of a service on one worker, by their numbers, and what services call. */

enum {
    CALLS_MAX = 4096,
    CALLS_FIRST = 16,
    NUMBER_BITS = 12, /* of a place; above them how often it was used */
    TURNS_MAX = (1 << 19) - 1,
    NONE = UINT16_MAX,
    TIME_MS = 60000,
    SILENCE_MS = 30000,
    BODY_MAX = 1 << 20
};

struct place {
    struct http_call *call; /* NULL: free */
    uint32_t turn;
    uint16_t next; /* free one */
};

/* The state of the part on a worker. */
struct http_home {
    struct http_servers servers;
    struct place *places;
    unsigned nplaces;
    uint16_t free; /* the first one, where there are any */
    bool is_over;
};

/* ---- numbers ---- */

static bool more_places(struct http_home *home)
{
    const unsigned n = home->nplaces > 0 ? home->nplaces * 2 : CALLS_FIRST;
    struct place *places = n <= CALLS_MAX ? realloc(home->places, n * sizeof(*places)) : NULL;

    if (!places)
        return false;
    for (unsigned i = home->nplaces; i < n; i++)
        places[i] = (struct place){.turn = 1, .next = (uint16_t)(i + 1 < n ? i + 1 : NONE)};
    home->free = (uint16_t)home->nplaces;
    home->places = places;
    home->nplaces = n;
    return true;
}

static bool remember(struct http_home *home, struct http_call *c)
{
    struct place *p;
    const uint16_t at = home->free;

    if ((home->nplaces == 0 || at == NONE) && !more_places(home))
        return false;
    p = &home->places[home->free];
    c->id = ((long)p->turn << NUMBER_BITS) + home->free;
    home->free = p->next;
    p->call = c;
    return true;
}

static struct place *place_of(struct http_home *home, long id)
{
    const unsigned at = (unsigned)(id & (CALLS_MAX - 1));

    if (id <= 0 || at >= home->nplaces || !home->places[at].call || home->places[at].call->id != id)
        return NULL;
    return &home->places[at];
}

void http_home_forget(struct http_home *home, const struct http_call *c)
{
    struct place *p = place_of(home, c->id);

    p->call = NULL;
    p->turn = p->turn < TURNS_MAX ? p->turn + 1 : 1;
    p->next = home->free;
    home->free = (uint16_t)(p - home->places);
}

struct http_servers *http_home_servers(struct http_home *home)
{
    return &home->servers;
}

/* ---- a new call ---- */

static struct mk_duda_seat *seat_here(void)
{
    const struct mk_duda_here *here = mk_duda_here();

    return here->worker && here->service ? here->service->seats[here->worker->index] : NULL;
}

static void set_defaults(struct duda_http_options *o)
{
    const size_t most = o->part ? SIZE_MAX / 2 : BODY_MAX;

    if (o->time_ms == 0)
        o->time_ms = TIME_MS;
    if (o->silence_ms == 0)
        o->silence_ms = SILENCE_MS;
    if (o->max_body == 0 || o->max_body > SIZE_MAX / 2)
        o->max_body = o->max_body == 0 ? most : SIZE_MAX / 2;
}

static void join(struct http_call *c, struct mk_duda_visit *v)
{
    c->visit = v;
    c->next = v->calls;
    c->link = &v->calls;
    if (v->calls)
        v->calls->link = &c->next;
    v->calls = c;
    http_visit_park(v);
}

/* @return NULL: nothing of it is there */
static struct http_call *new_call(struct mk_duda_seat *seat, const char *url,
                                  const struct duda_http_options *options)
{
    struct http_call *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->seat = seat;
    c->home = seat->parts[MK_DUDA_PART_HTTP];
    c->o = *options;
    c->follows = options->redirects > 0;
    set_defaults(&c->o);
    if (http_request_init(&c->q, url, options) == 0 && !c->home->is_over && remember(c->home, c)) {
        if (http_call_begin(c) == 0)
            return c;
        http_home_forget(c->home, c);
    }
    http_call_free(c);
    return NULL;
}

static long start(duda_request_t *dr, const char *url, const struct duda_http_options *options,
                  duda_http_done_fn done, void *arg)
{
    struct mk_duda_request *rq = dr ? mk_duda_request_check(dr, "http->call") : NULL;
    struct mk_duda_seat *seat = seat_here();
    struct mk_duda_visit *v = NULL;
    struct http_call *c;

    if (!seat || !done || (dr && (!rq || !rq->r)))
        return -1;
    if (rq) {
        v = http_visit_of(rq);
        if (!v)
            return -1;
    }
    c = new_call(seat, url, options);
    if (!c)
        return -1;
    c->done = done;
    c->arg = arg;
    if (v)
        join(c, v);
    return c->id;
}

/* ---- calls ---- */

static long call(duda_request_t *dr, const char *url, const struct duda_http_options *options,
                 duda_http_done_fn done, void *arg)
{
    static const struct duda_http_options usual = {.method = NULL};

    return start(dr, url, options ? options : &usual, done, arg);
}

static long get(duda_request_t *dr, const char *url, duda_http_done_fn done, void *arg)
{
    return call(dr, url, NULL, done, arg);
}

static long post(duda_request_t *dr, const char *url, const char *type, const void *body,
                 size_t length, duda_http_done_fn done, void *arg)
{
    static const char name[] = "Content-Type: ";
    char line[256];
    const char *const fields[] = {line, NULL};
    const struct duda_http_options options = {.method = "POST",
                                              .fields = type ? fields : NULL,
                                              .body = body ? body : "",
                                              .length = body ? length : 0};

    if (type && strlen(type) >= sizeof(line) - sizeof(name))
        return -1;
    (void)snprintf(line, sizeof(line), "%s%s", name, type ? type : "");
    return start(dr, url, &options, done, arg);
}

static const char *field(const struct duda_http_answer *answer, const char *name)
{
    const char *at = answer ? answer->fields : NULL;

    while (at && name && *at) {
        const char *value = at + strlen(at) + 1;

        if (strcasecmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

static struct http_call *find(long id)
{
    const struct mk_duda_seat *seat = seat_here();
    struct place *p = seat ? place_of(seat->parts[MK_DUDA_PART_HTTP], id) : NULL;

    return p ? p->call : NULL;
}

static int go_on(long id)
{
    struct http_call *c = find(id);

    return c && http_call_go_on(c) ? 0 : -1;
}

static int cancel(long id)
{
    struct http_call *c = find(id);
    struct mk_duda_visit *v = c ? c->visit : NULL;

    if (!c)
        return -1;
    http_call_drop(c);
    http_visit_check(v);
    return 0;
}

static void stop(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct http_home *home = mk_duda_local(s, w, MK_DUDA_PART_HTTP);

    if (!home)
        return;
    home->is_over = true;
    for (unsigned i = 0; i < home->nplaces; i++) {
        if (home->places[i].call)
            http_call_drop(home->places[i].call);
    }
    free(home->places);
    home->places = NULL;
    home->nplaces = 0;
    http_servers_fini(&home->servers);
}

const struct mk_duda_part mk_duda_http_part = {.local_size = sizeof(struct http_home),
                                               .worker_stop = stop};

const struct duda_api_http mk_duda_http = {
    .get = get, .post = post, .call = call, .field = field, .go_on = go_on, .cancel = cancel};
