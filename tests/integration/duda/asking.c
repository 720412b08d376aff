/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "calls of other servers");

#ifdef MAY_FAIL /* allocations */
#define MUST(dr, what)                                                                             \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            response->problem(dr, 503, "no memory", NULL);                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#else
#define MUST(dr, what)                                                                             \
    do {                                                                                           \
        if (!(what))                                                                               \
            abort();                                                                               \
    } while (0)
#endif

static atomic_int begun, done_calls, ends, left, outside_status, outside_ends;

static const char *errors[] = {"ok",      "no name",    "refused",   "timeout",
                               "broken",  "bad answer", "too large", "redirects",
                               "stopped", "no room",    "no tls"};

static void count_end(void *arg)
{
    ends++;
    mem->free(arg);
}

static void count_left(void *arg)
{
    left++;
}

static long number(duda_request_t *dr, const char *name)
{
    long n = 0;

    query->get_number(dr, name, &n);
    return n;
}

/* ---- one call, as the query says ---- */

static void show(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    const char *type = http->field(answer, "content-TYPE");

    done_calls++;
    if (http->field(answer, "X-None") || http->field(NULL, "A") || http->field(answer, NULL))
        abort();
    if (strlen(answer->body) > answer->length)
        abort();
    if ((answer->error == DUDA_HTTP_OK) != (answer->why[0] == '\0'))
        abort();
    if (response->send(dr, 200, "text/plain", "%s|%d|%s|%s|%zu|%s|%s", errors[answer->error],
                       answer->status, type ? type : "-", answer->url, answer->length, answer->why,
                       answer->length < 2000 ? answer->body : "") < 0)
        response->problem(dr, 503, "no memory", NULL);
}

static struct duda_http_options options_of(duda_request_t *dr, const char **fields)
{
    fields[0] = query->get(dr, "field");
    return (struct duda_http_options){
        .method = query->get(dr, "method"),
        .fields = fields[0] ? fields : NULL,
        .body = query->get(dr, "body"),
        .length = query->get(dr, "body") ? strlen(query->get(dr, "body")) : 0,
        .end = count_end,
        .time_ms = (unsigned)number(dr, "time"),
        .silence_ms = (unsigned)number(dr, "silence"),
        .max_body = (size_t)number(dr, "max"),
        .redirects = (unsigned)number(dr, "redirects"),
    };
}

static void ask(duda_request_t *dr)
{
    const char *fields[2] = {NULL, NULL};
    struct duda_http_options options = options_of(dr, fields);
    void *arg = mem->alloc(1);

    if (!arg) {
        response->problem(dr, 503, "no memory", NULL);
        return;
    }
    begun++;
    gc->call(dr, count_left, NULL);
    if (http->call(dr, query->get(dr, "url"), &options, show, arg) > 0)
        return;
    mem->free(arg);
    begun--;
    response->problem(dr, 503, "not begun", NULL);
}

static void simple(duda_request_t *dr)
{
    if (http->get(dr, query->get(dr, "url"), show, NULL) < 0)
        abort();
}

static void post(duda_request_t *dr)
{
    if (http->post(dr, query->get(dr, "url"), "text/x-test", "a\0b", 3, show, NULL) < 0)
        abort();
}

static void counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d %d", (int)begun, (int)done_calls, (int)ends,
                   (int)left);
}

/* ---- several calls of one request ---- */

struct sum {
    int waited, statuses;
};

static void add(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    struct sum *sum = arg;

    sum->statuses += answer->status;
    if (--sum->waited == 0)
        response->send(dr, 200, "text/plain", "%d", sum->statuses);
}

static void together(duda_request_t *dr)
{
    struct sum *sum = mem->alloc_z(sizeof(*sum));

    gc->add(dr, sum);
    sum->waited = (int)number(dr, "count");
    for (int i = sum->waited; i > 0; i--) {
        if (http->get(dr, query->get(dr, "url"), add, sum) < 0)
            abort();
    }
}

/* One after the other. */
static void next(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    long left_over = (long)arg;

    if (left_over == 0)
        response->send(dr, 200, "text/plain", "%s", answer->body);
    else if (http->get(dr, answer->url, next, (void *)(left_over - 1)) < 0)
        abort();
}

static void chain(duda_request_t *dr)
{
    if (http->get(dr, query->get(dr, "url"), next, (void *)number(dr, "count")) < 0)
        abort();
}

/* ---- bodies in pieces ---- */

struct pipe {
    long call;
    size_t largest, pieces;
    int is_begun, is_late, is_over;
};

static void take_more(duda_request_t *dr, void *arg)
{
    struct pipe *pipe = arg;

    if (pipe->is_over) {
        response->finalize(dr, NULL);
    } else if (pipe->is_late) {
        pipe->is_late = 0;
        if (http->go_on(pipe->call) < 0)
            abort();
    }
}

/* The client's reading is the pace: at most one piece waits. */
static int pass(duda_request_t *dr, const struct duda_http_answer *answer, const char *bytes,
                size_t length, void *arg)
{
    struct pipe *pipe = arg;

    pipe->pieces++;
    if (length > pipe->largest)
        pipe->largest = length;
    if (!pipe->is_begun) {
        pipe->is_begun = 1;
        response->http_status(dr, answer->status);
        if (response->stream(dr, take_more, pipe) < 0)
            return -2;
    }
    response->print(dr, (char *)bytes, (int)length);
    pipe->is_late = 1;
    response->flush(dr);
    return DUDA_HTTP_LATER;
}

static void passed(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    struct pipe *pipe = arg;

    pipe->is_over = 1;
    if (answer->length != 0 || (pipe->is_late && answer->error == DUDA_HTTP_OK))
        abort();
    if (!pipe->is_begun) {
        show(dr, answer, NULL);
    } else {
        response->finalize(dr, NULL);
    }
}

static void stream(duda_request_t *dr)
{
    struct pipe *pipe = mem->alloc_z(sizeof(*pipe));
    struct duda_http_options options = {.part = pass, .max_body = (size_t)number(dr, "max")};

    MUST(dr, pipe && gc->add(dr, pipe) == 0);
    pipe->call = http->call(dr, query->get(dr, "url"), &options, passed, pipe);
    MUST(dr, pipe->call > 0);
    if (http->go_on(pipe->call) != -1 || http->go_on(0) != -1 || http->go_on(-1) != -1 ||
        http->go_on(pipe->call + 1) != -1)
        abort();
}

struct source {
    long left, call;
    int times;
};

static void go_on(void *arg)
{
    http->go_on((long)arg);
}

static long give(duda_request_t *dr, char *bytes, size_t size, void *arg)
{
    struct source *source = arg;

    if (source->times-- > 0) {
        timer->after(1, go_on, (void *)source->call);
        return DUDA_HTTP_LATER;
    }
    if ((long)size > source->left)
        size = (size_t)source->left;
    memset(bytes, 'x', size);
    source->left -= (long)size;
    return (long)size;
}

static long fail(duda_request_t *dr, char *bytes, size_t size, void *arg)
{
    return -7;
}

static void upload(duda_request_t *dr)
{
    struct source *source = mem->alloc_z(sizeof(*source));
    struct duda_http_options options = {.more = query->get(dr, "fail") ? fail : give,
                                        .length = (size_t)number(dr, "length"),
                                        .redirects = 3};

    MUST(dr, source && gc->add(dr, source) == 0);
    source->left = number(dr, "size");
    source->times = (int)number(dr, "late");
    source->call = http->call(dr, query->get(dr, "url"), &options, show, source);
    MUST(dr, source->call > 0);
}

static int stop(duda_request_t *dr, const struct duda_http_answer *answer, const char *bytes,
                size_t length, void *arg)
{
    struct pipe *pipe = arg;

    if (!pipe)
        return -2;
    if (http->cancel(pipe->call) != 0 || http->cancel(pipe->call) != -1)
        abort();
    response->send(dr, 200, "text/plain", "cancelled inside");
    return 0;
}

static void stop_part(duda_request_t *dr)
{
    struct duda_http_options options = {.part = stop};

    if (http->call(dr, query->get(dr, "url"), &options, show, NULL) < 0)
        abort();
}

static void cancel_inside(duda_request_t *dr)
{
    struct pipe *pipe = mem->alloc_z(sizeof(*pipe));
    struct duda_http_options options = {.part = stop, .end = mem->free};

    pipe->call = http->call(dr, query->get(dr, "url"), &options, show, pipe);
}

static void cancel(duda_request_t *dr)
{
    struct duda_http_options options = {.end = count_end};
    long call = http->call(dr, query->get(dr, "url"), &options, show, mem->alloc(1));

    begun++;
    done_calls++;
    left++;
    if (call <= 0 || http->cancel(call) != 0 || http->cancel(call) != -1 || http->cancel(7) != -1)
        abort();
    response->send(dr, 200, "text/plain", "cancelled");
}

/* An answer before that of the call. */
static void hurry(duda_request_t *dr)
{
    if (http->get(dr, query->get(dr, "url"), show, NULL) < 0)
        abort();
    response->send(dr, 200, "text/plain", "at once");
}

/* ---- without a request ---- */

static void note(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    if (dr)
        abort();
    outside_status = answer->error == DUDA_HTTP_OK ? answer->status : -answer->error;
}

static void count_outside(void *arg)
{
    outside_ends++;
}

static void outside(duda_request_t *dr)
{
    struct duda_http_options options = {.end = count_outside};

    response->send(dr, 200, "text/plain", "%d",
                   http->call(NULL, query->get(dr, "url"), &options, note, NULL) > 0);
}

static void show_outside(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d", (int)outside_status, (int)outside_ends);
}

/* As many as there may be; all are cancelled. */
static void many(duda_request_t *dr)
{
    static long calls[5000];
    struct duda_http_options options = {.end = count_outside};
    int n = 0;

    while ((calls[n] = http->call(NULL, query->get(dr, "url"), &options, note, NULL)) > 0)
        n++;
    for (int i = 0; i < n; i++) {
        if (http->cancel(calls[i]) < 0)
            abort();
    }
    response->send(dr, 200, "text/plain", "%d", n);
}

static void wrong(duda_request_t *dr)
{
    static const char url[] = "http://127.0.0.1:1/";
    static const char *const urls[] = {"",
                                       "ftp://a/",
                                       "http://",
                                       "http://a:99999/",
                                       "http://u@a/",
                                       "http://a b/",
                                       "http:///x",
                                       "http://a/\r\nX: y",
                                       "http://[g::1/",
                                       "/a"};
    static const char *const fields[][2] = {{"Host: a", NULL},
                                            {"Content-Length: 1", NULL},
                                            {"Transfer-Encoding: chunked", NULL},
                                            {"Connection: close", NULL},
                                            {"Expect: 100-continue", NULL},
                                            {"A", NULL},
                                            {": a", NULL},
                                            {"A b: c", NULL},
                                            {"A: b\r\nC: d", NULL}};
    static char large[9000];
    const char *const long_field[] = {large, NULL};
    const struct duda_http_options rows[] = {
        {.method = "G T"},           {.method = ""}, {.method = "CONNECT"}, {.redirects = 101},
        {.body = "a", .more = give}, {.length = 1},  {.fields = long_field}};
    int n = 0;

    memset(large, 'a', sizeof(large) - 1);
    large[1] = ':';
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        n += http->get(dr, urls[i], show, NULL) == -1;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct duda_http_options options = {.fields = fields[i]};

        n += http->call(dr, url, &options, show, NULL) == -1;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        n += http->call(dr, url, &rows[i], show, NULL) == -1;
    n += http->get(dr, url, NULL, NULL) == -1;
    n += http->get(dr, NULL, show, NULL) == -1;
    n += http->get((duda_request_t *)large, url, show, NULL) == -1;
    n += http->post(dr, url, large, NULL, 0, show, NULL) == -1;
    response->send(dr, 200, "text/plain", "%d", n);
    if (http->get(dr, url, show, NULL) <= 0) /* it has its answer, and may still ask */
        abort();
}

int duda_main()
{
    router->get("/ask", ask);
    router->get("/simple", simple);
    router->get("/post", post);
    router->get("/counts", counts);
    router->get("/together", together);
    router->get("/chain", chain);
    router->get("/stream", stream);
    router->get("/upload", upload);
    router->get("/stop", stop_part);
    router->get("/cancel", cancel);
    router->get("/cancel_inside", cancel_inside);
    router->get("/hurry", hurry);
    router->get("/outside", outside);
    router->get("/outside/result", show_outside);
    router->get("/many", many);
    router->get("/wrong", wrong);
    return 0;
}
