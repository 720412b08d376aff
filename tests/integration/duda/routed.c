/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("tests", "router of level 3");

static char steps[256]; /* what happened after the last answers */

static void say(duda_request_t *dr, const char *name)
{
    const char *id = param->get(dr, "id"), *rest = param->get(dr, "rest");
    long number = -1;

    param->get_number(dr, "id", &number);
    response->http_status(dr, 200);
    response->printf(dr, "%s id=%s %ld rest=%s", name, id ? id : "-", number, rest ? rest : "-");
    response->end(dr, NULL);
}

#define SAYS(name)                                                                                 \
    static void name(duda_request_t *dr)                                                           \
    {                                                                                              \
        say(dr, #name);                                                                            \
    }
SAYS(home)
SAYS(number)
SAYS(number_set)
SAYS(changed)
SAYS(dropped)
SAYS(hex)
SAYS(word)
SAYS(uuid)
SAYS(rest)
SAYS(spelt)
SAYS(segment)
SAYS(any)
SAYS(old)
SAYS(group)
SAYS(inner)
SAYS(slug)
SAYS(all)

static void add_step(const char *name)
{
    strncat(steps, name, sizeof(steps) - strlen(steps) - 1);
}

static void show_steps(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%s.", steps);
    steps[0] = '\0';
    response->end(dr, NULL);
}

/* ---- hooks ---- */

static void outer(duda_request_t *dr)
{
    response->http_header(dr, "X-Hook: outer");
}

/* With a field it answers itself, now, in pieces, or later. */
static void gate(duda_request_t *dr)
{
    response->http_header(dr, "X-Hook: gate");
    if (request->header_contains(dr, "X-Gate", "end") >= 0) {
        response->http_status(dr, 403);
        response->print(dr, "gate", 4);
        response->end(dr, NULL);
    }
    if (request->header_contains(dr, "X-Gate", "open") >= 0) {
        response->http_status(dr, 200);
        response->print(dr, "open", 4);
        response->send_headers(dr);
        response->finalize(dr, NULL);
    }
    if (request->header_contains(dr, "X-Gate", "wait") >= 0) {
        response->wait(dr);
        response->cont(dr);
        response->wait(dr);
        response->http_status(dr, 202);
        response->finalize(dr, NULL);
    }
}

static void first(duda_request_t *dr)
{
    add_step("first ");
}

static void second(duda_request_t *dr)
{
    add_step("second ");
}

static void ended(duda_request_t *dr)
{
    add_step("end ");
}

static void body(duda_request_t *dr)
{
    unsigned long len = 0;
    char *bytes = request->get_data(dr, &len);

    response->http_status(dr, 200);
    response->printf(dr, "%lu %s", len, bytes ? bytes : "-");
    mem->free(bytes);
    response->finalize(dr, ended);
}

static void inner_routes(void)
{
    router->after(second);
    router->get("", inner);
    router->post("/body", body);
}

static void group_routes(void)
{
    router->get("/before", group);
    router->before(outer);
    router->before(gate);
    router->after(first);
    router->get("/", group);
    router->group("/:id<int>", inner_routes);
    router->get("/behind", group);
}

int duda_main()
{
    router->get("/", home);
    router->get("/steps", show_steps);
    router->get("/number/:id<int>", number);
    router->post("/number/:id<int>", number_set);
    router->patch("/number/:id<uint>", changed);
    router->delete ("/number/:id<int>", dropped);
    router->put("/only", changed);
    router->get("/hex/:id<hex>", hex);
    router->get("/word/:id<word>/x", word);
    router->get("/uuid/:id<uuid>", uuid);
    router->get("/rest/*rest", rest);
    router->get("/rest/spelt", spelt);
    router->get("/rest/:id", segment);
    router->route("GET POST PURGE", "/three", any);
    router->route(NULL, "/any", any);
    router->get("/kind/:id<int>", number);
    router->get("/kind/:id<uuid>", uuid);
    router->get("/kind/:rest", slug);
    router->get("/kind/*rest", all);
    router->get("/kind/:id<int>/more", inner);
    router->map("/number/", old);
    router->group("/group", group_routes);
    return 0;
}
