/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "answers of level 3");

static atomic_int streamed, ended, last_status;

/* ---- whole answers ---- */

static void send_text(duda_request_t *dr)
{
    response->printf(dr, "dropped");
    response->http_header(dr, "Content-Type: text/html");
    response->http_header(dr, "X-Kept: 0");
    response->header(dr, "X-KEPT", "1");
    response->send(dr, 201, "text/plain", "%s %d", "text", 7);
    if (response->send(dr, 200, "text/plain", "again") != -1)
        abort();
}

static void wrong_calls(duda_request_t *dr)
{
    int results[] = {response->send(dr, 99, "text/plain", "x"),
                     response->send(dr, 200, "text/plain", NULL),
                     response->send(dr, 200, "text/plain\r\nX-Evil: 1", "x"),
                     response->redirect(dr, 300, "/"),
                     response->redirect(dr, 303, "/\r\nX-Evil: 1"),
                     response->problem(dr, 200, "x", NULL),
                     response->problem(dr, 400, NULL, NULL),
                     response->stream(dr, NULL, NULL),
                     sse->send(dr, NULL, NULL, "x"),
                     sse->close(dr)};
    int failed = 0;

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        failed += results[i] == -1;
    response->send(dr, 200, "text/plain", "%d", failed);
}

static void redirect(duda_request_t *dr)
{
    response->redirect(dr, 303, query->get(dr, "to"));
}

static void problem(duda_request_t *dr)
{
    response->problem(dr, 422, "Out of stock", query->get(dr, "detail"));
}

static void page(duda_request_t *dr)
{
    if (response->unchanged(dr, query->get(dr, "version"), 1000000000))
        return;
    response->send(dr, 200, "text/plain", "the page");
}

/* ---- cookies ---- */

static void cookies(duda_request_t *dr)
{
    static const struct duda_cookie rows[] = {
        {.name = "theme", .value = "dark"},
        {.name = "__Host-id",
         .value = "1",
         .max_age = 60,
         .same_site = "Strict",
         .is_secure = 1,
         .is_http_only = 1},
        {.name = "old", .value = "", .path = "/x", .domain = "example.com", .max_age = -1},
        {.name = "p", .value = "1", .same_site = "None", .is_secure = 1, .is_partitioned = 1},
        /* refused */
        {.name = "a b", .value = "1"},
        {.name = "a", .value = "1", .same_site = "None"},
        {.name = "a", .value = "1", .same_site = "maybe"},
        {.name = "__Host-a", .value = "1"},
        {.name = "a"},
    };
    char *value = cookie->value(dr, "a");
    int refused = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        refused += cookie->put(dr, &rows[i]) == -1;
    response->send(dr, 200, "text/plain", "%d %s", refused, value ? value : "NULL");
}

/* ---- streams ---- */

/* As many pieces as the query says. */
static void more(duda_request_t *dr, void *arg)
{
    static char piece[64 * 1024];
    long *left = arg;

    if (*left == 0) {
        response->finalize(dr, NULL);
        return;
    }
    memset(piece, 'a', sizeof(piece));
    response->print(dr, piece, sizeof(piece));
    streamed++;
    *left -= 1;
}

static void stream(duda_request_t *dr)
{
    long *left = mem->alloc_z(sizeof(*left));

    gc->add(dr, left);
    query->get_number(dr, "pieces", left);
    streamed = 0;
    response->http_status(dr, 200);
    response->stream(dr, more, left);
}

static void show_streamed(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d", (int)streamed);
}

/* ---- events ---- */

static void count_end(duda_request_t *dr)
{
    ended++;
    last_status = response->status(dr);
}

static void events(duda_request_t *dr)
{
    char *id = sse->last_id(dr), *close = query->get(dr, "close");

    response->http_header(dr, "X-Hook: 1");
    if (sse->open(dr, count_end) < 0 || sse->open(dr, count_end) != -1)
        abort();
    sse->send(dr, "hello", "7", id ? id : "none");
    sse->send(dr, NULL, NULL, "two\nlines");
    if (sse->send(dr, "a\nb", NULL, "x") != -1)
        abort();
    if (close)
        sse->close(dr);
}

static void busy(duda_request_t *dr)
{
    static char large[40000];

    memset(large, 'x', sizeof(large) - 1);
    sse->open(dr, NULL);
    sse->send(dr, NULL, NULL, large);
    if (sse->send(dr, NULL, NULL, large) == 1)
        sse->send(dr, "busy", NULL, "");
    sse->close(dr);
}

static void late(duda_request_t *dr)
{
    response->print(dr, "x", 1);
    response->http_status(dr, 200);
    response->send_headers(dr);
    if (sse->open(dr, NULL) != -1 || response->send(dr, 200, "text/plain", "x") != -1 ||
        response->problem(dr, 400, "x", NULL) != -1 || response->unchanged(dr, "1", 0) != MK_FALSE)
        abort();
    response->finalize(dr, count_end);
}

static void show_ended(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d", (int)ended, (int)last_status);
}

int duda_main()
{
    router->get("/send", send_text);
    router->get("/wrong", wrong_calls);
    router->get("/redirect", redirect);
    router->get("/problem", problem);
    router->route("GET PUT", "/page", page);
    router->get("/cookies", cookies);
    router->get("/stream", stream);
    router->get("/streamed", show_streamed);
    router->get("/events", events);
    router->get("/busy", busy);
    router->get("/late", late);
    router->get("/ended", show_ended);
    return 0;
}
