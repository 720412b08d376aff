/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("tests", "ready hooks");

static void ok(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "ok");
}

/* ---- names ---- */

static char ended[64]; /* the name of the last request that has ended */

static void keep_name(duda_request_t *dr)
{
    snprintf(ended, sizeof(ended), "%s", guard->id(dr) ? guard->id(dr) : "-");
}

static void show_name(duda_request_t *dr)
{
    journal->info("shown", NULL);
    response->send(dr, 200, "text/plain", "%s", guard->id(dr) ? guard->id(dr) : "-");
}

static void show_ended(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%s", ended);
}

static void named(void)
{
    router->get("/not", show_name);
    router->get("/ended", show_ended);
    guard->request_id();
    guard->request_id();
    router->after(keep_name);
    router->get("/", show_name);
}

/* ---- other sites ---- */

static void own_options(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "own");
}

static void inner(void)
{
    guard->cors(&(struct duda_cors){.origins = "https://inner.example"});
    router->get("/", ok);
}

static void shared(void)
{
    guard->cors(&(struct duda_cors){
        .origins = "https://app.example  http://localhost:3000",
        .methods = "GET PUT",
        .headers = "X-One X-Two",
        .exposed = "X-Seen ETag",
        .max_age = 60,
        .credentials = MK_TRUE,
    });
    guard->login("user", NULL); /* what browsers ask before has no cookie */
    router->put("/item/:id<int>", ok);
    router->get("/item/:id<int>", ok);
    router->route("OPTIONS", "/own", own_options);
    router->get("/own", ok);
    router->group("/inner", inner);
}

static void open_to_all(void)
{
    guard->cors(&(struct duda_cors){.origins = "*", .headers = "*", .max_age = -1});
    router->get("/", ok);
}

/* ---- rates ---- */

static void limited(void)
{
    guard->rate(3, 600);
    router->get("/", ok);
    router->get("/other", ok);
    router->post("/", ok);
}

/* ---- log-in and tokens ---- */

static _Thread_local int data_seen; /* calls of the hook before one request */

static void log_in(duda_request_t *dr)
{
    session->create(dr, "user", (char *)form->get(dr, "user"), 0);
    response->send(dr, 200, "text/plain", "hello");
}

static void enter(duda_request_t *dr)
{
    session->create(dr, "cart", "1", 0);
    response->send(dr, 200, "text/plain", "ok");
}

static void log_out(duda_request_t *dr)
{
    session->destroy(dr, "user");
    response->send(dr, 200, "text/plain", "bye");
}

static void show_token(duda_request_t *dr)
{
    const char *token = guard->token(dr);

    response->send(dr, 200, "text/plain", "%s", token ? token : "-");
}

static void count_guards(duda_request_t *dr)
{
    data_seen++;
    (void)dr;
}

static void measure(duda_request_t *dr)
{
    size_t len = 0;

    (void)request->body(dr, &len);
    response->send(dr, 200, "text/plain", "%zu %d", len, data_seen);
    data_seen = 0;
}

static void tokens(void)
{
    guard->csrf("user");
    router->get("/", show_token);
    router->post("/", ok);
    router->put("/", ok);
    router->delete ("/", ok);
    router->post("/login", log_in);
    router->post("/logout", log_out);
    router->before(count_guards);
    router->post("/measured", measure);
}

static void members(void)
{
    guard->login("user", "/form?from=members");
    router->get("/*rest", ok);
    router->post("/*rest", ok);
}

int duda_main()
{
    session->init("guarded");
    router->group("/named", named);
    router->group("/shared", shared);
    router->group("/open", open_to_all);
    router->group("/limited", limited);
    router->group("/limited2", limited);
    router->group("/limited3", limited);
    router->group("/limited4", limited);
    router->group("/limited5", limited);
    router->group("/tokens", tokens);
    router->get("/enter", enter);
    router->group("/members", members);
    return 0;
}
