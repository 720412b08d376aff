/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <monkey/plugin.h>

#include <unistd.h>

/* Handlers by method and path: src/web/router.c, and those of a program. */

/* Its argument, and what its names stand for. */
static enum mk_verdict show(struct mk_request *r, void *arg)
{
    static const char *const names[] = {"id", "other", "rest"};
    char text[256];
    int len = snprintf(text, sizeof(text), "%s", (const char *)arg);

    for (size_t i = 0; i < 3; i++) {
        struct mk_str value = mk_path_value(r, mk_str_from(names[i]));

        if (value.p)
            len += snprintf(text + len, sizeof(text) - (size_t)len, " %s=%.*s", names[i],
                            (int)value.len, value.p);
    }
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){text, (size_t)len});
}

static const struct {
    const char *methods;
    char pattern[32]; /* what the handler shows */
} routes[] = {
    {"GET", "/"},
    {"GET", "/items"},
    {"GET POST", "/items/:id"},
    {"GET", "/items/new"},
    {"GET", "/items/newest"},
    {"PUT", "/items/:other"},
    {"GET", "/items/:id/parts/:other"},
    {"GET", "/items/new/:other/"},
    {"GET", "/files/*rest"},
    {"GET", "/files/a/:id"},
    {NULL, "/any/*"},
    {"DELETE", "/any/thing"},
    {"BREW HEAD", "/pot"},
    {"OPTIONS GET", "/options"},
    {"GET", "/:id/x"},
    {"GET", "/itemize"},
};

enum { NROUTES = sizeof(routes) / sizeof(routes[0]) };

static void add_all(struct mk_config *config, bool backwards)
{
    static char arguments[NROUTES][32];

    for (size_t i = 0; i < NROUTES; i++) {
        size_t n = backwards ? NROUTES - 1 - i : i;

        memcpy(arguments[n], routes[n].pattern, sizeof(arguments[n]));
        assert_int_equal(
            mk_config_handle(config, routes[n].methods, routes[n].pattern, show, arguments[n]), 0);
    }
}

static const struct {
    const char *method, *path;
    unsigned status;
    const char *body; /* of 200; otherwise of Allow, NULL: none */
} requests[] = {
    {"GET", "/", 200, "/"},
    {"GET", "/items", 200, "/items"},
    {"GET", "/items/", 404, NULL},
    {"GET", "/items/17", 200, "/items/:id id=17"},
    {"POST", "/items/17", 200, "/items/:id id=17"},
    {"PUT", "/items/17", 200, "/items/:other other=17"},
    {"GET", "/items/new", 200, "/items/new"},
    {"GET", "/items/newest", 200, "/items/newest"},
    {"GET", "/items/newer", 200, "/items/:id id=newer"},
    {"GET", "/items/ne", 200, "/items/:id id=ne"},
    {"PUT", "/items/new", 200, "/items/:other other=new"}, /* GET /items/new does not hide it */
    {"GET", "/items/new/x/", 200, "/items/new/:other/ other=x"},
    {"GET", "/items/new/parts/y", 200, "/items/:id/parts/:other id=new other=y"},
    {"GET", "/items/new/x", 404, NULL},
    {"GET", "/items/a%20b", 200, "/items/:id id=a b"},
    {"GET", "/items/%2e%2e/items", 200, "/items"},
    {"GET", "/items/a%2Fparts%2Fb", 200, "/items/:id/parts/:other id=a other=b"},
    {"GET", "/files/", 200, "/files/*rest rest="},
    {"GET", "/files/a/b", 200, "/files/a/:id id=b"},
    {"GET", "/files/a/b/c", 200, "/files/*rest rest=a/b/c"},
    {"GET", "/files", 404, NULL},
    {"GET", "/any/", 200, "/any/*"},
    {"PROPFIND", "/any/where/else", 200, "/any/*"},
    {"DELETE", "/any/thing", 200, "/any/thing"},
    {"PATCH", "/any/thing", 200, "/any/*"},
    {"BREW", "/pot", 200, "/pot"},
    {"GET", "/pot", 405, "Allow: BREW, HEAD, OPTIONS"},
    {"BREW", "/items/17", 405, "Allow: GET, HEAD, POST, PUT, OPTIONS"}, /* known at another path */
    {"PROPFIND", "/items/17", 501, NULL},                               /* RFC 9110 15.6.2 */
    {"get", "/items/17", 501, NULL},
    {"DELETE", "/items/17", 405, "Allow: GET, HEAD, POST, PUT, OPTIONS"},
    {"DELETE", "/items/new", 405, "Allow: GET, HEAD, POST, PUT, OPTIONS"},
    {"OPTIONS", "/items", 204, "Allow: GET, HEAD, OPTIONS"},
    {"OPTIONS", "/options", 200, "/options"},
    {"HEAD", "/items/17", 200, ""},
    {"HEAD", "/pot", 200, ""},
    {"GET", "/y/x", 200, "/:id/x id=y"},
    {"GET", "/items/x", 200, "/items/:id id=x"},
    {"GET", "/itemize", 200, "/itemize"},
    {"GET", "/it", 404, NULL},
};

static void check_allow(struct mk_answer *answer, const char *allow)
{
    if (allow && !web_has_line(answer, allow))
        fail_msg("%s is not in %.*s", allow, (int)answer->fields.len, answer->fields.p);
    mk_answer_free(answer);
}

static void check_requests(struct mk_server *server)
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct mk_answer *answer =
            web_ask(server, requests[i].method, requests[i].path, NULL, NULL);

        if (answer->status != requests[i].status)
            fail_msg("%s %s: %u", requests[i].method, requests[i].path, answer->status);
        if (requests[i].status == 200)
            web_is(answer, 200, requests[i].body);
        else
            check_allow(answer, requests[i].body);
    }
}

static void requests_find_their_handlers(void **state)
{
    const long live = mk_heap_live();

    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct mk_config *config = web_config();
        struct mk_server *server;

        add_all(config, backwards == 1);
        server = web_serve(config);
        check_requests(server);
        mk_server_free(server);
    }
    assert_int_equal(mk_heap_live(), live);
}

static void malformed_patterns_are_refused(void **state)
{
    static const struct {
        const char *methods, *pattern;
        int error;
    } cases[] = {
        {"GET", "", MK_E_INVALID},
        {"GET", "a", MK_E_INVALID},
        {"GET", "/a//b", MK_E_INVALID},
        {"GET", "/a/../b", MK_E_INVALID},
        {"GET", "/./b", MK_E_INVALID},
        {"GET", "/:", MK_E_INVALID},
        {"GET", "/:a-b", MK_E_INVALID},
        {"GET", "/*a/b", MK_E_INVALID},
        {"GET", "/:a<int", MK_E_INVALID},
        {"GET", "/:a<>", MK_E_INVALID},
        {"GET", "/:a<integer>", MK_E_INVALID},
        {"GET", "/:a<int>b", MK_E_INVALID},
        {"GET", "/:<int>", MK_E_INVALID},
        {"GET", "/:a<int>/:a<hex>", MK_E_INVALID},
        {"GET", "/*a<int>", MK_E_INVALID},
        {"GET", "/:a/:a", MK_E_INVALID},
        {"G(T", "/a", MK_E_INVALID},
        {"", "/a", MK_E_INVALID},
        {"GET", NULL, MK_E_INVALID},
        {"GET GET", "/ok", 0},
        {"GET", "/ok", MK_E_EXISTS},
        {"PUT GET", "/ok", MK_E_EXISTS},
        {NULL, "/ok", 0},
        {NULL, "/ok", MK_E_EXISTS},
        {"GET", "/a:b*c", 0},
        {"GET", "/x/:a", 0},
        {"GET", "/x/:b", MK_E_EXISTS},
        {"GET", "/:a/:b/:c/:d/:e/:f/:g/:h/:i/:j/:k/:l/:m/:n/:o/:p", 0},
        {"GET", "/:a/:b/:c/:d/:e/:f/:g/:h/:i/:j/:k/:l/:m/:n/:o/:p/:q", MK_E_LIMIT},
    };
    struct mk_router *router;

    (void)state;
    assert_int_equal(mk_router_new(&router), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int err = mk_router_add(router, cases[i].methods, cases[i].pattern, show, NULL);

        if (err != cases[i].error)
            fail_msg("%s: %d", cases[i].pattern, err);
    }
    assert_int_equal(mk_router_add(router, "GET", "/no", NULL, NULL), MK_E_INVALID);
    mk_router_free(router);
    mk_router_free(NULL);
}

static char one[] = "one", two[] = "two";

static struct mk_config *config_with(char *word)
{
    struct mk_config *config = web_config();

    assert_int_equal(mk_config_handle(config, "GET", "/word", show, word), 0);
    return config;
}

static void a_reload_keeps_handlers_or_replaces_them_all(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server;
    struct mk_config *config = config_with(one);

    (void)state;
    assert_int_equal(mk_config_handle(config, "GET", "/first", show, one), 0);
    server = web_serve(config);
    for (int i = 0; i < 3; i++) {
        web_expect(server, "/word", 200, "one");
        assert_int_equal(mk_server_reload(server, web_config()), 0);
    }
    assert_int_equal(mk_server_reload(server, config_with(two)), 0);
    web_expect(server, "/word", 200, "two");
    web_expect(server, "/first", 404, NULL);
    assert_int_equal(mk_server_reload(server, web_config()), 0);
    web_expect(server, "/word", 200, "two");
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void take_text(void *arg, const char *text, size_t len)
{
    strncat(arg, text, len < 500 ? len : 500);
}

/* It has no plugin for them, and plugins stay those of the start: the caller learns why, and the server goes on. */
static void a_reload_adds_no_handlers_to_a_server_without(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server = web_serve(web_config());
    struct mk_config *config = config_with(one);
    char why[4000] = "";

    (void)state;
    assert_int_equal(mk_server_reload(server, config), 1);
    mk_config_faults(config, take_text, why);
    assert_non_null(strstr(why,
                           "the program added the plugin \"handlers\", which the running server"
                           " does not have; that needs a restart"));
    mk_config_free(config);
    web_expect(server, "/word", 404, NULL);
    assert_int_equal(mk_server_reload(server, web_config()), 0);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void unused_configurations_leave_nothing(void **state)
{
    const long live = mk_heap_live();
    struct mk_config *config = config_with(one);

    (void)state;
    mk_config_free(config);
    config = config_with(one);
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(mk_config_check(config), 0);
    mk_config_free(config);
    assert_int_equal(mk_heap_live(), live);
}

static void every_allocation_may_fail(void **state)
{
    const long live = mk_heap_live();
    bool done = false;

    (void)state;
    for (long n = 0; !done && n < 200; n++) {
        struct mk_router *router = NULL;

        mk_heap_fail_after(n);
        done = mk_router_new(&router) == 0 &&
               mk_router_add(router, "GET", "/a/:b/c", show, NULL) == 0 &&
               mk_router_add(router, "GET", "/a/d", show, NULL) == 0;
        mk_heap_fail_after(-1);
        mk_router_free(router);
        assert_int_equal(mk_heap_live(), live);
    }
    assert_true(done);
}

/* Until the argument says that it may go on. */
static enum mk_verdict wait_once(struct mk_request *r, void *arg)
{
    int *calls = arg;

    if ((*calls)++ == 0) {
        mk_request_resume(r);
        return MK_VERDICT_LATER;
    }
    return mk_reply_bytes(r, 200, "text/plain", mk_path_value(r, MK_STR("id")));
}

static void a_handler_may_answer_later(void **state)
{
    int calls = 0;
    struct mk_server *server = web_serve_one("GET", "/later/:id", wait_once, &calls);

    (void)state;
    web_expect(server, "/later/seven", 200, "seven");
    assert_int_equal(calls, 2);
    mk_server_free(server);
}

static enum mk_verdict show_number(struct mk_request *r, void *arg)
{
    char text[96];
    int64_t number = -77;
    const int found = mk_path_int(r, MK_STR("id"), &number);
    const int len =
        snprintf(text, sizeof(text), "%s %d %lld", (const char *)arg, found, (long long)number);

    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){text, (size_t)len});
}

/* The order of the calls has no effect, and methods of the next pattern are found. */
static void types_choose_among_patterns(void **state)
{
    static const struct {
        const char *methods;
        char pattern[32];
    } typed[] = {
        {"GET", "/a/:id"},      {"GET", "/a/:id<int>"}, {"GET", "/a/:id<uint>"},
        {"GET", "/a/:id<hex>"}, {"PUT", "/a/:name"},    {"GET", "/a/:id<int>/b"},
        {"GET", "/c/:id<int>"}, {"GET", "/c/*rest"},    {"GET", "/d/:a<word>/:id<int>"},
    };
    static const struct {
        const char *path, *body; /* NULL: 404 */
    } rows[] = {
        {"/a/17", "/a/:id<uint> 1 17"},
        {"/a/-17", "/a/:id<int> 1 -17"},
        {"/a/1%37", "/a/:id<uint> 1 17"},
        {"/a/beef", "/a/:id<hex> -2 -77"},
        {"/a/99999999999999999999", "/a/:id<hex> -2 -77"},
        {"/a/x", "/a/:id -2 -77"},
        {"/a/17/b", "/a/:id<int>/b 1 17"},
        {"/a/x/b", NULL},
        {"/c/17", "/c/:id<int> 1 17"},
        {"/c/17x", "/c/*rest 0 -77"},
        {"/c/17/x", "/c/*rest 0 -77"},
        {"/d/a-b/5", "/d/:a<word>/:id<int> 1 5"},
        {"/d/a.b/5", NULL},
    };
    enum { NTYPED = sizeof(typed) / sizeof(typed[0]) };
    static char arguments[NTYPED][32];

    (void)state;
    assert_int_equal(MK_E_BAD, -2);
    for (int backwards = 0; backwards < 2; backwards++) {
        struct mk_config *config = web_config();
        struct mk_server *server;

        for (size_t i = 0; i < NTYPED; i++) {
            const size_t n = backwards ? NTYPED - 1 - i : i;

            memcpy(arguments[n], typed[n].pattern, sizeof(arguments[n]));
            assert_int_equal(mk_config_handle(config, typed[n].methods, typed[n].pattern,
                                              show_number, arguments[n]),
                             0);
        }
        server = web_serve(config);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            web_expect(server, rows[i].path, rows[i].body ? 200 : 404, rows[i].body);
        web_is(web_ask(server, "PUT", "/a/17", NULL, NULL), 200, "/a/:name 0 -77");
        check_allow(web_ask(server, "PATCH", "/a/17", NULL, NULL),
                    "Allow: GET, HEAD, PUT, OPTIONS");
        mk_server_free(server);
    }
}

static void nothing_is_no_handler(void **state)
{
    struct mk_config *config = web_config();
    struct mk_router *router;

    (void)state;
    assert_int_equal(mk_config_handle(NULL, "GET", "/", show, one), MK_E_INVALID);
    assert_int_equal(mk_config_handle(config, "GET", NULL, show, one), MK_E_INVALID);
    assert_int_equal(mk_config_handle(config, "GET", "/", NULL, one), MK_E_INVALID);
    assert_int_equal(mk_router_new(&router), 0);
    assert_int_equal(mk_router_add(NULL, "GET", "/", show, one), MK_E_INVALID);
    assert_int_equal(mk_router_add(router, "GET", NULL, show, one), MK_E_INVALID);
    assert_int_equal(mk_router_add(router, "GET", "/", NULL, one), MK_E_INVALID);
    mk_router_free(router);
    mk_router_free(NULL);
    mk_config_free(config);
}

static void a_thousand_routes_are_told_apart(void **state)
{
    static char patterns[1000][48];
    struct mk_config *config = web_config();
    struct mk_server *server;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(patterns[i], sizeof(patterns[i]), "/api/v%d/things%d/:id/part", i % 7, i);
        assert_int_equal(mk_config_handle(config, "GET", patterns[i], show, patterns[i]), 0);
    }
    server = web_serve(config);
    for (int i = 0; i < 1000; i += 37) {
        char path[64];
        char body[sizeof(patterns[0]) + 8];

        snprintf(path, sizeof(path), "/api/v%d/things%d/x/part", i % 7, i);
        snprintf(body, sizeof(body), "%.*s id=x", (int)sizeof(patterns[0]) - 1, patterns[i]);
        web_expect(server, path, 200, body);
        path[6]++;
        web_expect(server, path, 404, NULL);
    }
    mk_server_free(server);
}

/* ---- a plugin with a router of its own ---- */

struct shop {
    struct mk_router *router;
};

static int shop_check(struct mk_setup *setup)
{
    struct shop *object = mk_setup_alloc(setup, sizeof(*object));

    mk_setup_keep(setup, object);
    return object ? 0 : MK_E_NOMEM;
}

static int shop_check_site(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^/sh"), NULL, NULL, false);
}

static bool is_made_of(const struct mk_request *r, const char *bytes)
{
    const struct mk_str id = mk_path_value(r, MK_STR("id"));

    for (size_t i = 0; i < id.len; i++) {
        if (!strchr(bytes, id.p[i]))
            return false;
    }
    return id.p != NULL;
}

static bool is_number(const struct mk_request *r, void *arg)
{
    (void)arg;
    return is_made_of(r, "0123456789");
}

static bool is_hex(const struct mk_request *r, void *arg)
{
    (void)arg;
    return is_made_of(r, "0123456789abcdef");
}

/* Handlers that take some requests alone. The word of a handler is what it shows. */
static const struct {
    const char *methods, *pattern;
    mk_fits_fn fits;
    char word[8];
} choosy[] = {
    {"GET POST", "/typed/:id", is_number, "number"},
    {"GET", "/typed/:id", is_hex, "hex"},
    {"GET", "/typed/:other", NULL, "any"},
    {"PUT", "/typed/:id", is_hex, "put"},
    {NULL, "/typed/:id/x", is_number, "x"},
    {"GET", "/typed/*rest", NULL, "rest"},
    {"GET", "/only/:id", is_number, "only"},
    {"POST", "/only/:id", is_hex, "post"},
    {"GET", "/spelt/:id", is_number, "first"},
    {"GET", "/spelt/:id/y", NULL, "second"},
    {"GET", "/:other/abc", NULL, "third"},
    {"GET", "/plain/:id", is_number, "fourth"},
    {"GET", "/plain/*", NULL, "fifth"},
};

static int add_choosy(struct mk_router *router)
{
    static char words[sizeof(choosy) / sizeof(choosy[0])][8];
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof(choosy) / sizeof(choosy[0]); i++) {
        memcpy(words[i], choosy[i].word, sizeof(words[i]));
        err = mk_router_add_if(router, choosy[i].methods, choosy[i].pattern, choosy[i].fits, show,
                               words[i]);
    }
    return err;
}

static int shop_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct shop *object = ctx->config;
    int err = mk_router_new(&object->router);

    (void)old;
    if (err == 0)
        err = mk_router_add(object->router, "GET", "/items/:id", show, one);
    if (err == 0)
        err = add_choosy(object->router);
    if (err < 0)
        mk_router_free(object->router);
    return err;
}

static void shop_stop(const struct mk_context *ctx)
{
    const struct shop *object = ctx->config;

    mk_router_free(object->router);
}

static enum mk_verdict shop(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)data;
    return mk_router_run(((const struct shop *)ctx->config)->router, r, strlen("/shop"));
}

static const struct mk_plugin shop_plugin = {
    MK_PLUGIN("shop", "has handlers below /shop"),
    .check = shop_check,
    .check_site = shop_check_site,
    .start = shop_start,
    .stop = shop_stop,
    .on_handle = shop,
};

static void a_plugin_runs_a_router_below_a_prefix(void **state)
{
    const long live = mk_heap_live();
    struct mk_config *config = web_config();
    struct mk_server *server;

    (void)state;
    assert_int_equal(mk_config_plugin(config, &shop_plugin, NULL), 0);
    assert_int_equal(mk_config_check(config), 0); /* nothing is left of a check alone */
    server = web_serve(config);
    web_expect(server, "/shop/items/3", 200, "one id=3");
    web_expect(server, "/shop/other", 404, NULL);
    web_expect(server, "/shop", 404, NULL);
    web_expect(server, "/shops/items/3", 404, NULL);
    web_expect(server, "/sh", 404, NULL);
    web_is(web_ask(server, "PUT", "/shop/items/3", NULL, NULL), 405, NULL);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void handlers_take_some_requests(void **state)
{
    static const struct {
        const char *method, *path;
        unsigned status;
        const char *body; /* of 200; otherwise of Allow, NULL: none */
    } cases[] = {
        {"GET", "/shop/typed/12", 200, "number id=12"},
        {"POST", "/shop/typed/12", 200, "number id=12"},
        {"GET", "/shop/typed/12ab", 200, "hex id=12ab"},
        {"HEAD", "/shop/typed/12ab", 200, ""},
        {"GET", "/shop/typed/xyz", 200, "any other=xyz"},
        {"POST", "/shop/typed/xyz", 405, "Allow: GET, HEAD, OPTIONS"},
        {"POST", "/shop/typed/ab", 405, "Allow: GET, HEAD, PUT, OPTIONS"},
        {"PATCH", "/shop/typed/1/x", 200, "x id=1"},
        {"GET", "/shop/typed/a/x", 200, "rest rest=a/x"},
        {"GET", "/shop/only/x", 404, NULL},
        {"PUT", "/shop/only/a", 405, "Allow: POST, OPTIONS"},
        {"OPTIONS", "/shop/only/1", 204, "Allow: GET, HEAD, POST, OPTIONS"},
        {"GET", "/shop/spelt/abc", 200, "third other=spelt"},
        {"GET", "/shop/plain/abc", 200, "fifth"}, /* and no id of the one before */
    };
    struct mk_config *config = web_config();
    struct mk_server *server;

    (void)state;
    assert_int_equal(mk_config_plugin(config, &shop_plugin, NULL), 0);
    server = web_serve(config);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_answer *answer = web_ask(server, cases[i].method, cases[i].path, NULL, NULL);

        if (answer->status != cases[i].status)
            fail_msg("%s %s: %u", cases[i].method, cases[i].path, answer->status);
        if (cases[i].status == 200)
            web_is(answer, 200, cases[i].body);
        else
            check_allow(answer, cases[i].body);
    }
    mk_server_free(server);
}

static void a_handler_that_is_never_asked_is_refused(void **state)
{
    struct mk_router *router;

    (void)state;
    assert_int_equal(mk_router_new(&router), 0);
    assert_int_equal(mk_router_add(router, "GET", "/:a", show, one), 0);
    assert_int_equal(mk_router_add_if(router, "GET POST", "/:id", is_number, show, one),
                     MK_E_EXISTS);
    assert_int_equal(mk_router_add_if(router, "PUT", "/:id", is_number, show, one), 0);
    assert_int_equal(mk_router_add_if(router, NULL, "/:id", is_number, show, one), 0);
    assert_int_equal(mk_router_add(router, NULL, "/:id", show, one), 0);
    assert_int_equal(mk_router_add_if(router, NULL, "/:id", is_number, show, one), MK_E_EXISTS);
    mk_router_free(router);
}

/* ---- beside files ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static void files_answer_what_no_handler_does(void **state)
{
    char folder[] = "/tmp/test_web_XXXXXX";
    struct mk_config *config = web_config();
    struct mk_server *server;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "index.html", "index");
    write_file(folder, "page.html", "page");
    write_file(folder, "404.html", "nothing here");
    assert_int_equal(mk_config_set(config, "HOST", "DocumentRoot", folder, "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Indexfile", "index.html", "test"), 0);
    assert_int_equal(mk_config_set(config, "ERROR_PAGES", "404", "/404.html", "test"), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/api/:id", show, one), 0);
    assert_int_equal(mk_config_handle(config, "POST", "/page.html", show, two), 0);
    server = web_serve(config);
    web_expect(server, "/api/1", 200, "one id=1");
    web_expect(server, "/", 200, "index");
    web_expect(server, "/index.html", 200, "index");
    web_expect(server, "/404.html", 200, "nothing here");
    web_expect(server, "/none", 404, "nothing here");
    web_expect(server, "/page.html", 405, NULL); /* the path is the handler's */
    mk_server_free(server);
    remove_file(folder, "index.html");
    remove_file(folder, "page.html");
    remove_file(folder, "404.html");
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_find_their_handlers),
        cmocka_unit_test(types_choose_among_patterns),
        cmocka_unit_test(nothing_is_no_handler),
        cmocka_unit_test(a_thousand_routes_are_told_apart),
        cmocka_unit_test(a_plugin_runs_a_router_below_a_prefix),
        cmocka_unit_test(handlers_take_some_requests),
        cmocka_unit_test(a_handler_that_is_never_asked_is_refused),
        cmocka_unit_test(files_answer_what_no_handler_does),
        cmocka_unit_test(malformed_patterns_are_refused),
        cmocka_unit_test(a_reload_keeps_handlers_or_replaces_them_all),
        cmocka_unit_test(a_reload_adds_no_handlers_to_a_server_without),
        cmocka_unit_test(unused_configurations_leave_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_handler_may_answer_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
