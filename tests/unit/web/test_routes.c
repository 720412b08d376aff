/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <monkey/plugin.h>

/* Groups of routes and their hooks: src/web/routes.c. */

/* The calls for one request, in their order: the names that hooks and handlers have as their arguments. */
static char calls[256];

static void note(const char *name)
{
    (void)strncat(calls, name, sizeof(calls) - strlen(calls) - 1);
}

static enum mk_verdict pass(struct mk_request *r, void *arg)
{
    (void)r;
    note(arg);
    return MK_VERDICT_PASS;
}

/* Lets requests with a key pass. */
static enum mk_verdict need_key(struct mk_request *r, void *arg)
{
    note(arg);
    return mk_request_header(r, MK_STR("X-Key")).p ? MK_VERDICT_PASS : mk_reply_error(r, 401, NULL);
}

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    note(arg);
    return mk_reply_bytes(r, 200, NULL, mk_path_value(r, MK_STR("id")));
}

/* As one whose body has not come. */
static enum mk_verdict wait_once(struct mk_request *r, void *arg)
{
    static int ncalls;

    note(arg);
    if (ncalls++ % 2 > 0)
        return mk_reply_bytes(r, 200, NULL, MK_STR(""));
    mk_request_resume(r);
    return MK_VERDICT_LATER;
}

static enum mk_verdict hook_waits(struct mk_request *r, void *arg)
{
    static int ncalls;

    note(arg);
    if (ncalls++ % 2 > 0)
        return MK_VERDICT_PASS;
    mk_request_resume(r);
    return MK_VERDICT_LATER;
}

static void after(struct mk_request *r, void *arg)
{
    char text[32];

    snprintf(text, sizeof(text), "%s%u", (const char *)arg, (unsigned)mk_request_result(r).status);
    note(text);
}

static void add(struct mk_routes *routes, const char *pattern, mk_handle_fn fn, const char *name)
{
    assert_int_equal(mk_routes_add(routes, "GET", pattern, fn, (void *)(uintptr_t)name), 0);
}

static void before(struct mk_routes *routes, mk_handle_fn fn, const char *name)
{
    assert_int_equal(mk_routes_before(routes, fn, (void *)(uintptr_t)name), 0);
}

static void finish(struct mk_routes *routes, const char *name)
{
    assert_int_equal(mk_routes_after(routes, after, (void *)(uintptr_t)name), 0);
}

/* Hooks are added behind the routes that they are for. */
static void fill(struct mk_routes *all)
{
    struct mk_routes *api, *shop, *slow;

    assert_int_equal(mk_routes_group(all, "/api", &api), 0);
    assert_int_equal(mk_routes_group(api, "/shops/:id", &shop), 0);
    assert_int_equal(mk_routes_group(all, NULL, &slow), 0);
    add(all, "/free", answer, "free ");
    add(api, "/", answer, "root ");
    add(api, "/:id", answer, "item ");
    add(shop, "/open", answer, "open ");
    add(slow, "/late", wait_once, "late ");
    before(all, pass, "all1 ");
    before(all, pass, "all2 ");
    finish(all, "over1=");
    finish(all, "over2=");
    before(api, need_key, "key ");
    finish(api, "api=");
    before(shop, pass, "shop ");
    before(slow, hook_waits, "waits ");
}

static const struct {
    const char *method, *target, *fields;
    unsigned status;
    const char *body, *calls;
} requests[] = {
    {"GET", "/free", NULL, 200, "", "all1 all2 free over2=200over1=200"},
    {"HEAD", "/free", NULL, 200, "", "all1 all2 free over2=200over1=200"},
    {"GET", "/api/7", "X-Key: 1\r\n", 200, "7", "all1 all2 key item api=200over2=200over1=200"},
    {"GET", "/api/", "X-Key: 1\r\n", 200, "", "all1 all2 key root api=200over2=200over1=200"},
    {"GET", "/api/7", NULL, 401, NULL, "all1 all2 key api=401over2=401over1=401"},
    {"GET", "/api/shops/9/open", "X-Key: 1\r\n", 200, "9",
     "all1 all2 key shop open api=200over2=200over1=200"},
    {"GET", "/api/shops/9/open", NULL, 401, NULL, "all1 all2 key api=401over2=401over1=401"},
    /* Whoever waits is called again, and none that has let the request pass. */
    {"GET", "/late", NULL, 200, "", "all1 all2 waits waits late late over2=200over1=200"},
    /* Answers without a handler. */
    {"PUT", "/free", NULL, 405, NULL, ""},
    {"OPTIONS", "/api/7", NULL, 204, "", ""},
    {"GET", "/api", NULL, 404, NULL, ""},
    {"BREW", "/free", NULL, 501, NULL, ""},
};

static void ask_all(struct mk_server *(*serve)(void))
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        const long live = mk_heap_live();
        struct mk_server *server = serve();

        calls[0] = '\0';
        web_is(web_ask(server, requests[i].method, requests[i].target, requests[i].fields, NULL),
               requests[i].status, requests[i].body);
        mk_server_free(server); /* the hooks after a request come behind its answer */
        assert_string_equal(calls, requests[i].calls);
        assert_int_equal(mk_heap_live(), live);
    }
}

static struct mk_server *serve_program(void)
{
    struct mk_config *config = web_config();

    fill(mk_config_routes(config));
    return web_serve(config);
}

static void hooks_of_a_program(void **state)
{
    (void)state;
    ask_all(serve_program);
}

/* ---- a plugin that has a router ---- */

static int check_site(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^"), NULL, NULL, false);
}

static struct mk_router *router;

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    (void)ctx, (void)old;
    assert_int_equal(mk_router_new(&router), 0);
    fill(mk_router_routes(router));
    return 0;
}

static void stop(const struct mk_context *ctx)
{
    (void)ctx;
    mk_router_free(router);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return mk_router_run(router, r, 0);
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    (void)ctx;
    mk_router_finish(router, r);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("routed", "a router of its own"),
    .check_site = check_site,
    .start = start,
    .stop = stop,
    .on_handle = on_handle,
    .on_finish = on_finish,
};

static struct mk_server *serve_plugin(void)
{
    struct mk_config *config = web_config();

    assert_int_equal(mk_config_plugin(config, &plugin, NULL), 0);
    return web_serve(config);
}

static void hooks_of_a_plugin(void **state)
{
    (void)state;
    ask_all(serve_plugin);
}

/* ---- what is refused ---- */

static void prefixes(void **state)
{
    static const char *const wrong[] = {"/", "api", "/api/", "/a*", "/*rest", "a/"};
    char large[MK_ROUTE_PATTERN + 2];
    struct mk_router *r;
    struct mk_routes *g, *deep;

    (void)state;
    assert_int_equal(mk_router_new(&r), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(mk_routes_group(mk_router_routes(r), wrong[i], &g), MK_E_INVALID);
    memset(large, 'a', sizeof(large));
    large[0] = '/';
    large[sizeof(large) - 1] = '\0';
    assert_int_equal(mk_routes_group(mk_router_routes(r), large, &g), MK_E_LIMIT);
    large[MK_ROUTE_PATTERN] = '\0';
    assert_int_equal(mk_routes_group(mk_router_routes(r), large, &g), 0);
    assert_int_equal(mk_routes_add(g, "GET", "/b", answer, NULL), MK_E_LIMIT);
    assert_int_equal(mk_routes_group(g, "/b", &deep), MK_E_LIMIT);
    assert_int_equal(mk_routes_group(mk_router_routes(r), "/:a", &g), 0);
    assert_int_equal(mk_routes_add(g, "GET", "/:a", answer, NULL), MK_E_INVALID);
    assert_int_equal(mk_routes_add(g, "GET", "b", answer, NULL), MK_E_INVALID);
    assert_int_equal(mk_routes_add(g, "GET", "", answer, NULL), MK_E_INVALID);
    deep = mk_router_routes(r);
    for (int i = 1; i < MK_ROUTE_DEPTH; i++)
        assert_int_equal(mk_routes_group(deep, "/x", &deep), 0);
    assert_int_equal(mk_routes_group(deep, "/x", &deep), MK_E_LIMIT);
    mk_router_free(r);
}

static void hooks_are_bounded(void **state)
{
    struct mk_router *r;
    struct mk_routes *all;

    (void)state;
    assert_int_equal(mk_router_new(&r), 0);
    all = mk_router_routes(r);
    for (int i = 0; i < MK_ROUTE_HOOKS; i++)
        assert_int_equal(
            i % 2 ? mk_routes_before(all, pass, NULL) : mk_routes_after(all, after, NULL), 0);
    assert_int_equal(mk_routes_before(all, pass, NULL), MK_E_LIMIT);
    assert_int_equal(mk_routes_after(all, after, NULL), MK_E_LIMIT);
    mk_router_free(r);
}

static void every_allocation_may_fail(void **state)
{
    const long live = mk_heap_live();
    bool done = false;

    (void)state;
    for (long n = 0; !done && n < 200; n++) {
        struct mk_router *r = NULL;
        struct mk_routes *g = NULL;

        mk_heap_fail_after(n);
        done = mk_router_new(&r) == 0 && mk_routes_group(mk_router_routes(r), "/a", &g) == 0 &&
               mk_routes_before(g, pass, NULL) == 0 && mk_routes_after(g, after, NULL) == 0 &&
               mk_routes_add(g, "GET", "/:id", answer, NULL) == 0;
        mk_heap_fail_after(-1);
        mk_router_free(r);
        assert_int_equal(mk_heap_live(), live);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_of_a_program),
        cmocka_unit_test(hooks_of_a_plugin),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(hooks_are_bounded),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
