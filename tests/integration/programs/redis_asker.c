/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/redis.h>
#include <monkey/server.h>
#include <monkey/web.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * redis_asker SOCKET URL WORKERS TIMEOUT_MS COMMANDS: a program whose handlers ask Redis whatever their query says, for tests.
 * GET /ask?WORDS           a command of words with + between; the answer is its result and what came
 * GET /both?A&B            two commands at once; the first answer is shown
 * GET /chain?WORDS         a command, and the same once more in its callback
 * GET /forget?WORDS        a command that nobody waits for
 * GET /late?WORDS          a command that is asked, and the handler answers all the same
 */

enum { WORDS_MAX = 16 };

static int ask(struct mk_redis *redis, struct mk_request *r, struct mk_str text, mk_redis_fn fn)
{
    struct mk_str words[WORDS_MAX];
    size_t n = 0;

    while (text.len > 0 && n < WORDS_MAX) {
        const char *plus = memchr(text.p, '+', text.len);
        const size_t len = plus ? (size_t)(plus - text.p) : text.len;

        words[n++] = (struct mk_str){text.p, len};
        text.p += len + (plus != NULL);
        text.len -= len + (plus != NULL);
    }
    return mk_redis_ask(redis, r, words, n, fn, redis);
}

static enum mk_verdict show(struct mk_request *r, const struct mk_redis_answer *answer, void *arg)
{
    const struct mk_redis_reply *reply = answer->reply;
    const char *text;

    (void)arg;
    if (answer->result < 0 && answer->result != MK_E_INVALID)
        return mk_reply_failure(r, answer->result);
    text = mk_request_printf(r, "%d %d %lld %s", answer->result, reply->type, reply->integer,
                             answer->text);
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(text));
}

static enum mk_verdict show_again(struct mk_request *r, const struct mk_redis_answer *answer,
                                  void *redis)
{
    const int err = answer->result < 0 ? answer->result : ask(redis, r, mk_request_query(r), show);

    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static enum mk_verdict wait(struct mk_request *r, int err)
{
    return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
}

static enum mk_verdict on_ask(struct mk_request *r, void *redis)
{
    return mk_later_waits(r) ? MK_VERDICT_LATER : wait(r, ask(redis, r, mk_request_query(r), show));
}

static enum mk_verdict on_both(struct mk_request *r, void *redis)
{
    struct mk_str first = mk_request_query(r), second = {NULL, 0};
    const char *cut = first.len > 0 ? memchr(first.p, '&', first.len) : NULL;
    int err = MK_E_INVALID;

    if (cut) {
        second = (struct mk_str){cut + 1, first.len - (size_t)(cut + 1 - first.p)};
        first.len = (size_t)(cut - first.p);
        err = ask(redis, r, first, show);
    }
    return wait(r, err < 0 ? err : ask(redis, r, second, show));
}

static enum mk_verdict on_chain(struct mk_request *r, void *redis)
{
    return wait(r, ask(redis, r, mk_request_query(r), show_again));
}

static enum mk_verdict on_forget(struct mk_request *r, void *redis)
{
    const int err = ask(redis, r, mk_request_query(r), NULL);

    return err < 0 ? mk_reply_failure(r, err)
                   : mk_reply_bytes(r, 200, "text/plain", MK_STR("forgotten"));
}

static enum mk_verdict on_late(struct mk_request *r, void *redis)
{
    const int err = ask(redis, r, mk_request_query(r), show);

    return err < 0 ? mk_reply_failure(r, err)
                   : mk_reply_bytes(r, 200, "text/plain", MK_STR("not waiting"));
}

static enum mk_verdict on_alive(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("alive"));
}

static int serve(struct mk_redis *redis, char **argv)
{
    const struct {
        const char *path;
        mk_handle_fn fn;
    } routes[] = {{"/ask", on_ask},       {"/both", on_both}, {"/chain", on_chain},
                  {"/forget", on_forget}, {"/late", on_late}, {"/alive", on_alive}};
    struct mk_config *config;
    struct mk_server *server;
    int err = mk_config_new(&config, NULL);

    if (err == 0)
        err = mk_config_set(config, "SERVER", "Listen", argv[1], "asker");
    if (err == 0)
        err = mk_config_set(config, "SERVER", "Workers", argv[3], "asker");
    for (size_t i = 0; err == 0 && i < sizeof(routes) / sizeof(routes[0]); i++)
        err = mk_config_handle(config, "GET", routes[i].path, routes[i].fn, redis);
    if (err != 0 || mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    if (mk_server_start(server) == 0)
        (void)getchar(); /* until the end of the input */
    mk_server_stop(server, 0);
    err = mk_server_wait(server, -1);
    mk_redis_free(redis);
    mk_server_free(server);
    return err != 0;
}

int main(int argc, char **argv)
{
    struct mk_redis_options options = {.size = sizeof(options)};
    struct mk_redis *redis;
    const char *why = "";

    if (argc != 6)
        return 2;
    options.url = argv[2];
    options.timeout_ms = (unsigned)atoi(argv[4]);
    options.commands = (unsigned)atoi(argv[5]);
    if (mk_redis_new(&redis, &options, &why) != 0) {
        (void)fprintf(stderr, "asker: %s\n", why);
        return 1;
    }
    return serve(redis, argv);
}
