/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/redis.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>

/*
 * Pages whose visits Redis counts: GET /PAGE asks for its title and counts a visit, both at once, and the worker serves others
 * meanwhile.
 *
 *     cc visits.c -o visits $(pkg-config --cflags --libs monkey-redis) && ./visits 8080 redis://localhost
 *     redis-cli HSET titles home Welcome
 *     curl localhost:8080/home
 */

struct page {
    const char *title;
    long long visits;
    unsigned nanswers;
};

/* The last of both answers shows the page. */
static enum mk_verdict show(struct mk_request *r, const struct page *page)
{
    const char *text;

    if (page->nanswers < 2)
        return MK_VERDICT_LATER;
    text = mk_request_printf(r, "%s, visit %lld\n", page->title, page->visits);
    if (!text)
        return mk_reply_failure(r, MK_E_NOMEM);
    return mk_reply_bytes(r, 200, "text/plain; charset=utf-8", mk_str_from(text));
}

static enum mk_verdict on_title(struct mk_request *r, const struct mk_redis_answer *answer,
                                void *arg)
{
    const struct mk_str title = mk_redis_text(answer->reply);
    struct page *page = arg;

    if (answer->result < 0)
        return mk_reply_failure(r, answer->result);
    page->title = title.p ? mk_request_printf(r, "%.*s", (int)title.len, title.p) : "A page";
    page->nanswers++;
    return page->title ? show(r, page) : mk_reply_failure(r, MK_E_NOMEM);
}

static enum mk_verdict on_visit(struct mk_request *r, const struct mk_redis_answer *answer,
                                void *arg)
{
    struct page *page = arg;

    if (answer->result < 0)
        return mk_reply_failure(r, answer->result);
    page->visits = answer->reply->integer;
    page->nanswers++;
    return show(r, page);
}

static enum mk_verdict visit(struct mk_request *r, void *redis)
{
    const struct mk_str name = mk_path_value(r, MK_STR("page"));
    const struct mk_str title[] = {MK_STR("HGET"), MK_STR("titles"), name};
    const struct mk_str count[] = {MK_STR("HINCRBY"), MK_STR("visits"), name, MK_STR("1")};
    struct page *page;
    int err;

    if (mk_later_waits(r))
        return MK_VERDICT_LATER;
    page = mk_request_alloc(r, sizeof(*page));
    if (!page)
        return mk_reply_failure(r, MK_E_NOMEM);
    *page = (struct page){0};
    err = mk_redis_ask(redis, r, title, 3, on_title, page);
    if (err == 0)
        err = mk_redis_ask(redis, r, count, 4, on_visit, page);
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static int serve(struct mk_redis *redis, const char *address)
{
    struct mk_config *config;
    struct mk_server *server;

    if (mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", address, "visits") != 0 ||
        mk_config_handle(config, "GET", "/:page", visit, redis) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_stop(server, 1000);
    (void)!mk_server_wait(server, -1);
    mk_redis_free(redis);
    mk_server_free(server);
    return 0;
}

int main(int argc, char **argv)
{
    struct mk_redis_options options = {.size = sizeof(options)};
    struct mk_redis *redis;
    const char *why = "";

    if (argc != 3)
        return 1;
    options.url = argv[2];
    if (mk_redis_new(&redis, &options, &why) != 0) {
        (void)fprintf(stderr, "visits: %s\n", why);
        return 1;
    }
    return serve(redis, argv[1]);
}
