/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "a shelf of books behind an API");

/*
 * GET    /books/api/books        the shelf
 * POST   /books/api/books        a new one; the body is its title, or a form with one
 * GET    /books/api/books/1      one of them
 * DELETE /books/api/books/1      is taken away
 *
 * What changes the shelf needs the field X-Key.
 */

enum { SHELF = 100, TITLE = 80 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all workers see the shelf */
static char shelf[SHELF][TITLE];

/* The route lets numbers alone pass. @return "" for a place without a book */
static char *place(duda_request_t *dr)
{
    static char nowhere[1];
    long id = 0;

    param->get_number(dr, "id", &id);
    return id >= 1 && id <= SHELF ? shelf[id - 1] : nowhere;
}

static void list(duda_request_t *dr)
{
    response->http_status(dr, 200);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SHELF; i++) {
        if (shelf[i][0])
            response->printf(dr, "%d %s\n", i + 1, shelf[i]);
    }
    pthread_mutex_unlock(&lock);
    response->end(dr, NULL);
}

/* @return its number; 0: the shelf is full */
static int put_on_shelf(const char *title)
{
    int id = 0;

    pthread_mutex_lock(&lock);
    while (id < SHELF && shelf[id][0])
        id++;
    if (id < SHELF)
        snprintf(shelf[id], TITLE, "%s", title);
    pthread_mutex_unlock(&lock);
    return id < SHELF ? id + 1 : 0;
}

/* As a form of a page, or as it is. */
static void add(duda_request_t *dr)
{
    const char *title = form->get(dr, "title");
    char location[64];
    int id;

    if (!title)
        title = request->body(dr, NULL);
    if (!title || !title[0]) {
        response->problem(dr, 400, "A book needs a title", NULL);
        return;
    }
    id = put_on_shelf(title);
    if (id == 0) {
        response->problem(dr, 507, "The shelf is full", "Take a book away first.");
        return;
    }
    snprintf(location, sizeof(location), "Location: /books/api/books/%d", id);
    response->http_header(dr, location);
    response->send(dr, 201, "text/plain; charset=utf-8", "%s\n", title);
}

static void show(duda_request_t *dr)
{
    char title[TITLE];

    pthread_mutex_lock(&lock);
    snprintf(title, TITLE, "%s", place(dr));
    pthread_mutex_unlock(&lock);
    if (!title[0])
        response->problem(dr, 404, "There is no such book", NULL);
    else if (!response->unchanged(dr, title, 0))
        response->send(dr, 200, "text/plain; charset=utf-8", "%s\n", title);
}

static void take_away(duda_request_t *dr)
{
    pthread_mutex_lock(&lock);
    place(dr)[0] = '\0';
    pthread_mutex_unlock(&lock);
    response->http_status(dr, 204);
    response->end(dr, NULL);
}

static void check_key(duda_request_t *dr)
{
    if (request->header_cmp(dr, "X-Key", "secret") < 0)
        response->problem(dr, 403, "X-Key is missing", NULL);
}

static void log_change(duda_request_t *dr)
{
    msg->info("the shelf was asked to change");
}

/* Its hooks hold for the routes below them. */
static void api(void)
{
    router->get("/books", list);
    router->get("/books/:id<uint>", show);

    router->before(check_key);
    router->after(log_change);
    router->post("/books", add);
    router->delete ("/books/:id<uint>", take_away);
}

int duda_main()
{
    router->group("/api", api);
    return 0;
}
