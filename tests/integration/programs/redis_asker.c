/* SPDX-License-Identifier: Apache-2.0 */
#include "asker.h"

#include <monkey/redis.h>

/*
 * redis_asker SOCKET URL WORKERS TIMEOUT_MS COMMANDS TRANSPORT [SETTING ...]: a program whose handlers ask Redis whatever
 * their query says, for tests.
 * GET /ask?WORDS           a command of words with + between; the answer is its result and what came
 * GET /both?A&B            two commands at once; the first answer is shown
 * GET /chain?WORDS         a command, and the same once more in its callback
 * GET /forget?WORDS        a command that nobody waits for
 * GET /why?WORDS           a command; the answer is its result and text, also if it has failed
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

static enum mk_verdict explain(struct mk_request *r, const struct mk_redis_answer *answer,
                               void *arg)
{
    (void)arg;
    return asker_explain(r, answer->result, answer->text);
}

static enum mk_verdict show_again(struct mk_request *r, const struct mk_redis_answer *answer,
                                  void *redis)
{
    return asker_wait(r, answer->result < 0 ? answer->result
                                            : ask(redis, r, mk_request_query(r), show));
}

static enum mk_verdict on_ask(struct mk_request *r, void *redis)
{
    return mk_later_waits(r) ? MK_VERDICT_LATER
                             : asker_wait(r, ask(redis, r, mk_request_query(r), show));
}

static enum mk_verdict on_why(struct mk_request *r, void *redis)
{
    return asker_wait(r, ask(redis, r, mk_request_query(r), explain));
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
    return asker_wait(r, err < 0 ? err : ask(redis, r, second, show));
}

static enum mk_verdict on_chain(struct mk_request *r, void *redis)
{
    return asker_wait(r, ask(redis, r, mk_request_query(r), show_again));
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

static int make(void **client, const char *url, char **own, const char **why)
{
    const struct mk_redis_options options = {.size = sizeof(options),
                                             .url = url,
                                             .timeout_ms = (unsigned)atoi(own[0]),
                                             .commands = (unsigned)atoi(own[1]),
                                             .transport = own[2]};
    struct mk_redis *redis = NULL;
    const int err = mk_redis_new(&redis, &options, why);

    *client = redis;
    return err;
}

static void end(void *redis)
{
    mk_redis_free(redis);
}

int main(int argc, char **argv)
{
    static const struct asker_route routes[] = {
        {"/ask", on_ask},       {"/why", on_why},   {"/both", on_both}, {"/chain", on_chain},
        {"/forget", on_forget}, {"/late", on_late}, {NULL, NULL},
    };
    const struct asker asker = {routes, 3, make, end};

    return asker_run(&asker, argc, argv);
}
