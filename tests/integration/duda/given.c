/* SPDX-License-Identifier: Apache-2.0 */

#include "webservice.h"

#include <monkey/web.h>

#include <stdatomic.h>

DUDA_REGISTER("tests", "calls of libmonkey-web on a request of a service");

static atomic_int ended, was_null;
static duda_request_t *last;

static void note_end(duda_request_t *dr)
{
    atomic_fetch_add(&was_null, duda_request(dr) == NULL);
    atomic_fetch_add(&ended, 1);
}

/* ---- what reads ---- */

static void read_it(duda_request_t *dr)
{
    static const struct mk_str types[] = {MK_STR_INIT("text/html"),
                                          MK_STR_INIT("application/json")};
    struct mk_request *r = duda_request(dr);
    struct mk_str cookie = mk_cookie_value(r, MK_STR("a")), name = mk_path_value(r, MK_STR("name"));
    int64_t n = -1;

    if (mk_query_int(r, MK_STR("n"), &n) < 0)
        n = -2;
    response->send(dr, 200, "text/plain", "%.*s %.*s %lld %d", (int)cookie.len, cookie.p,
                   (int)name.len, name.p, (long long)n,
                   mk_choose_type(mk_request_header(r, MK_STR("Accept")), types, 2));
}

/* ---- what answers ---- */

static void answer(duda_request_t *dr)
{
    response->header(dr, "X-Dropped", "1");
    response->printf(dr, "dropped");
    (void)mk_reply_bytes(duda_request(dr), 201, "text/plain", MK_STR("given"));
    response->finalize(dr, note_end);
}

static void answer_alone(duda_request_t *dr)
{
    (void)mk_reply_error(duda_request(dr), 410, NULL);
}

/* After it, the objects of the service have nothing to add. */
static void answer_twice(duda_request_t *dr)
{
    (void)mk_reply_bytes(duda_request(dr), 200, "text/plain", MK_STR("first"));
    if (response->send(dr, 200, "text/plain", "second") != -1)
        abort();
}

static void as_entity(duda_request_t *dr)
{
    struct mk_json j;

    mk_json_begin_reply(&j, duda_request(dr), 1000);
    mk_json_object(&j);
    mk_json_key(&j, MK_STR("given"));
    mk_json_bool(&j, true);
    mk_json_close(&j);
    (void)mk_reply_json(duda_request(dr), 200, &j);
}

static void events(duda_request_t *dr)
{
    const struct mk_sse_event event = {.size = sizeof(event), .data = MK_STR_INIT("one")};
    struct mk_sse *s;

    if (mk_sse_open(duda_request(dr), NULL, &s) < 0 || mk_sse_send(s, &event) < 0)
        abort();
    mk_sse_close(s);
    response->finalize(dr, note_end);
}

static void nothing(duda_request_t *dr)
{
    (void)duda_request(dr);
}

/* Outside the call-back. */
static void answer_now(void *arg)
{
    (void)arg;
    (void)mk_reply_bytes(duda_request(last), 200, "text/plain", MK_STR("late"));
    (void)(response->_end)(last, note_end);
}

static void answer_late(duda_request_t *dr)
{
    last = dr;
    response->wait(dr);
    timer->after(20, answer_now, NULL);
}

/* ---- signed cookies ---- */

static struct mk_signer *signer; /* of this process, as a file of keys would be */

static void sign(duda_request_t *dr)
{
    const char *value = query->get(dr, "value");
    char text[MK_SIGNED_TEXT + 1];
    struct duda_cookie c = {.name = "user", .value = text};
    ssize_t len = mk_signed_write(text, sizeof(text) - 1, signer, MK_STR("user"),
                                  (struct mk_str){value, strlen(value)}, 4102444800);

    text[len > 0 ? len : 0] = '\0';
    cookie->put(dr, &c);
    response->send(dr, 200, "text/plain", "%zd", len);
}

static void verify(duda_request_t *dr)
{
    char value[64];
    unsigned key = 0;
    ssize_t len =
        mk_signed_cookie(duda_request(dr), signer, MK_STR("user"), value, sizeof(value), &key);

    if (len < 0)
        response->send(dr, 403, "text/plain", "%zd", len);
    else
        response->send(dr, 200, "text/plain", "%.*s by %u", (int)len, value, key);
}

/* ---- a group of event streams ---- */

static struct mk_sse_group *news;
static pthread_once_t news_once = PTHREAD_ONCE_INIT;
static struct mk_server *server;

static void make_news(void)
{
    const struct mk_sse_group_options options = {.size = sizeof(options), .queue = 64 << 20};

    if (mk_sse_group_new(&news, server, &options) < 0)
        abort();
}

static void join(duda_request_t *dr)
{
    const struct mk_sse_options options = {.size = sizeof(options), .queue = 1 << 20};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_sse *s;

    mk_request_facts(duda_request(dr), &facts);
    server = facts.server;
    pthread_once(&news_once, make_news);
    if (mk_sse_open(duda_request(dr), &options, &s) < 0 || mk_sse_group_join(news, s) < 0)
        abort();
}

/* A thread of its own, which no worker waits for. */
static void *publish(void *arg)
{
    const long count = (long)(intptr_t)arg;
    static char text[10000];

    memset(text, 'x', sizeof(text));
    for (long i = 0; i < count; i++) {
        char id[24];
        const struct mk_sse_event event = {.size = sizeof(event),
                                           .id = {id, (size_t)snprintf(id, sizeof(id), "%ld", i)},
                                           .data = {text, sizeof(text)}};

        if (mk_sse_group_send(news, &event) < 0)
            abort();
    }
    return NULL;
}

static void begin_publishing(duda_request_t *dr)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, publish, (void *)(intptr_t)atoi(query->get(dr, "count"))) !=
        0)
        abort();
    pthread_detach(thread);
    response->send(dr, 202, "text/plain", "begun");
}

static void members(duda_request_t *dr)
{
    struct mk_sse_group_facts facts = {.size = sizeof(facts)};

    mk_sse_group_facts(news, &facts);
    response->send(dr, 200, "text/plain", "%zu %llu", facts.members, facts.slow);
}

static void close_news(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d", mk_sse_group_close(news));
}

/* ---- a router of the library, with groups and hooks ---- */

static struct mk_router *own;

static enum mk_verdict need_key(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_request_header(r, MK_STR("X-Key")).p ? MK_VERDICT_PASS : mk_reply_error(r, 401, NULL);
}

static enum mk_verdict show_id(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", mk_path_value(r, MK_STR("id")));
}

static int make_router(void)
{
    struct mk_routes *api;

    if (mk_router_new(&own) < 0 || mk_routes_group(mk_router_routes(own), "/api", &api) < 0)
        return -1;
    return mk_routes_before(api, need_key, NULL) +
           mk_routes_add(api, "GET", "/:id<int>", show_id, NULL) +
           mk_routes_add(mk_router_routes(own), "GET", "/free/:id", show_id, NULL);
}

static void run_own(duda_request_t *dr)
{
    if (mk_router_run(own, duda_request(dr), strlen("/given/own")) == MK_VERDICT_PASS)
        response->send(dr, 404, "text/plain", "no route");
}

/* ---- a hook ---- */

static void refuse(duda_request_t *dr)
{
    if (mk_request_header(duda_request(dr), MK_STR("X-Key")).p == NULL)
        (void)mk_reply_error(duda_request(dr), 403, NULL);
}

static void guarded(void)
{
    router->before(refuse);
    router->get("/it", read_it);
}

static void counts(duda_request_t *dr)
{
    int nobody = duda_request(NULL) == NULL;

    response->send(dr, 200, "text/plain", "%d %d %d", atomic_load(&ended), atomic_load(&was_null),
                   nobody);
}

int duda_main()
{
    const struct mk_str keys[] = {MK_STR_INIT("new key, of at least thirty-two bytes"),
                                  MK_STR_INIT("old key, of at least thirty-two bytes")};

    if (mk_signer_new(&signer, keys, 2) < 0 || make_router() < 0)
        return -1;
    router->route("GET POST", "/own/*rest", run_own);
    router->get("/join", join);
    router->get("/publish", begin_publishing);
    router->get("/members", members);
    router->get("/close", close_news);
    router->get("/sign", sign);
    router->get("/verify", verify);
    router->get("/read/:name", read_it);
    router->get("/answer", answer);
    router->get("/alone", answer_alone);
    router->get("/twice", answer_twice);
    router->get("/entity", as_entity);
    router->get("/events", events);
    router->get("/nothing", nothing);
    router->get("/late", answer_late);
    router->get("/counts", counts);
    router->group("/guarded", guarded);
    return 0;
}
