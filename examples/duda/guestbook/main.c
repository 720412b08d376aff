/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "a guest book behind a log-in, with an API for another site");

/*
 * GET    /guestbook/             the entries; who has logged in may write
 * GET    /guestbook/login        a form for a name
 * POST   /guestbook/login
 * POST   /guestbook/logout
 * POST   /guestbook/entries      an entry, from the form of the page
 * GET    /guestbook/api/entries  the entries as text, for scripts of https://app.example
 *
 * A form has the token of its session, so no page of another site can write an entry in the name of a guest.
 */

enum { ENTRIES = 50, TEXT = 200, NAME = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
    char name[NAME], text[TEXT];
} entries[ENTRIES]; /* the newest first */

/* ---- pages ---- */

static void begin_page(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->header(dr, "Content-Type", "text/html; charset=utf-8");
    response->header(dr, "Content-Security-Policy", "default-src 'none'; form-action 'self'");
    response->header(dr, "Cache-Control", "no-store");
    response->printf(
        dr, "<!DOCTYPE html>\n<html lang=\"en\"><title>Guest book</title>\n<h1>Guest book</h1>\n");
}

/* What guests have written is text, never HTML. */
static void print_text(duda_request_t *dr, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&\"'", *text))
            response->printf(dr, "&#%d;", *text);
        else
            response->print(dr, (char *)text, 1);
    }
}

static void print_form(duda_request_t *dr, const char *action, const char *fields)
{
    response->printf(dr,
                     "<form method=\"post\" action=\"/guestbook/%s\">"
                     "<input type=\"hidden\" name=\"csrf_token\" value=\"%s\">%s</form>\n",
                     action, guard->token(dr), fields);
}

static void show(duda_request_t *dr)
{
    char *user = session->get(dr, "user");

    gc->add(dr, user);
    begin_page(dr);
    if (user) {
        print_form(dr, "entries",
                   "<input name=\"text\" maxlength=\"199\" required><button>Write</button>");
        print_form(dr, "logout", "<button>Log out</button>");
    } else {
        response->printf(dr, "<p><a href=\"/guestbook/login\">Log in</a> to write</p>\n");
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ENTRIES && entries[i].text[0]; i++) {
        response->printf(dr, "<p><b>");
        print_text(dr, entries[i].name);
        response->printf(dr, "</b>: ");
        print_text(dr, entries[i].text);
        response->printf(dr, "</p>\n");
    }
    pthread_mutex_unlock(&lock);
    response->end(dr, NULL);
}

static void show_login(duda_request_t *dr)
{
    begin_page(dr);
    print_form(dr, "login",
               "<label>Your name <input name=\"user\" maxlength=\"39\" "
               "required></label><button>Log in</button>");
    response->end(dr, NULL);
}

/* ---- what they send ---- */

/* A guest is believed. Look a password up here. */
static void log_in(duda_request_t *dr)
{
    const char *user = form->get(dr, "user");

    if (!user || !user[0] || strlen(user) >= NAME) {
        response->problem(dr, 400, "A name has 1 to 39 bytes", NULL);
        return;
    }
    session->create(dr, "user", (char *)user, (int)xtime->next_hours(8));
    journal->info("login", "user", user, NULL);
    response->redirect(dr, 303, "/guestbook/");
}

static void log_out(duda_request_t *dr)
{
    session->destroy(dr, "user");
    response->redirect(dr, 303, "/guestbook/");
}

static void write_entry(duda_request_t *dr)
{
    const char *text = form->get(dr, "text");
    char *user = session->get(dr, "user");

    gc->add(dr, user);
    if (!user || !text || !text[0] || strlen(text) >= TEXT) {
        response->problem(dr, 400, "An entry has 1 to 199 bytes", NULL);
        return;
    }
    pthread_mutex_lock(&lock);
    memmove(&entries[1], &entries[0], sizeof(entries) - sizeof(entries[0]));
    snprintf(entries[0].name, NAME, "%s", user);
    snprintf(entries[0].text, TEXT, "%s", text);
    pthread_mutex_unlock(&lock);
    response->redirect(dr, 303, "/guestbook/");
}

static void list(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->header(dr, "Content-Type", "text/plain; charset=utf-8");
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ENTRIES && entries[i].text[0]; i++)
        response->printf(dr, "%s: %s\n", entries[i].name, entries[i].text);
    pthread_mutex_unlock(&lock);
    response->end(dr, NULL);
}

/* ---- routes ---- */

static void members(void)
{
    guard->login("user", "/login");
    router->post("/entries", write_entry);
    router->post("/logout", log_out);
}

static void pages(void)
{
    guard->csrf("user");
    router->get("/", show);
    router->get("/login", show_login);
    router->post("/login", log_in);
    members();
}

static void api(void)
{
    guard->cors(&(struct duda_cors){.origins = "https://app.example"});
    guard->rate(100, 60);
    router->get("/entries", list);
}

int duda_main()
{
    if (session->init("guestbook") < 0)
        return -1;
    guard->request_id();
    router->group("/api", api);
    pages();
    return 0;
}
