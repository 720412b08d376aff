/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/redis.h>

#include "data/crew/crew.h"
#include "data/redis/pool.h"

#include <monkey/events.h>

#include <stdlib.h>
#include <string.h>

/* What programs see: a client, its pools on the workers of a server, and requests that wait for answers. */

struct mk_redis {
    struct redis_servers base; /* first */
    char *transport;
    struct crew_place crew; /* struct redis_pool of each worker */
};

struct wish {
    struct redis_call base; /* first */
    struct mk_later later;
    mk_redis_fn fn; /* NULL: nobody waits for the answer */
    void *arg;
};

/* ---- answers ---- */

struct told {
    const struct wish *wish;
    const struct mk_redis_answer *answer;
};

static enum mk_verdict call(struct mk_request *r, void *arg)
{
    const struct told *told = arg;

    return told->wish->fn(r, told->answer, told->wish->arg);
}

static void tell(struct redis_pool *pool, struct redis_call *c,
                 const struct mk_redis_answer *answer)
{
    struct wish *wish = (struct wish *)(void *)c;
    struct told told = {wish, answer};

    (void)pool;
    (void)mk_later_answer(&wish->later, call, &told);
}

/* ---- workers ---- */

static void write_line(const struct remote_home *home, enum mk_log_level level, const char *line)
{
    mk_server_log(mk_worker_server(home->worker), level, "%s", line);
}

static struct redis_pool *new_pool(struct mk_redis *redis, struct mk_worker *w)
{
    const struct remote_home home = {.worker = w, .tls = redis->transport, .log = write_line};
    struct redis_pool *pool = calloc(1, sizeof(*pool));

    if (pool && redis_pool_init(pool, &redis->base, &home) == 0)
        return pool;
    free(pool);
    return NULL;
}

/* @return 0, MK_E_INVALID: the client is another server's; MK_E_NOMEM. */
static int find_pool(struct mk_redis *redis, struct mk_worker *w, struct redis_pool **pool)
{
    void **seat;
    const int err = crew_seat(&redis->crew, w, &seat);

    if (err < 0)
        return err;
    if (!*seat)
        *seat = new_pool(redis, w);
    *pool = *seat;
    return *seat ? 0 : MK_E_NOMEM;
}

/* ---- commands ---- */

/* @return its length; -1: it is invalid, or no memory. */
static ssize_t write_command(char **bytes, const struct mk_str *words, size_t n)
{
    const char **texts = calloc(n, sizeof(*texts));
    size_t *lens = calloc(n, sizeof(*lens));
    ssize_t len = -1;

    for (size_t i = 0; texts && lens && i < n; i++) {
        texts[i] = words[i].len > 0 ? words[i].p : "";
        lens[i] = words[i].len;
    }
    if (texts && lens)
        len = redis_format_words(bytes, (int)n, texts, lens);
    free((void *)texts);
    free(lens);
    return len;
}

/* @return NULL: it is invalid, or no memory. */
static struct wish *new_wish(const struct mk_str *words, size_t n)
{
    char *bytes = NULL;
    const ssize_t len = write_command(&bytes, words, n);
    struct redis_call *c =
        len > 0 ? redis_call_new(sizeof(struct wish), bytes, (size_t)len, 1) : NULL;

    redis_bytes_free(bytes);
    return (struct wish *)(void *)c;
}

static int run(struct redis_pool *pool, struct wish *wish, struct mk_request *r)
{
    int err = redis_pool_refuses(&wish->base) ? MK_E_INVALID : 0;

    if (err == 0 && wish->fn)
        err = mk_later_begin(&wish->later, r);
    if (err < 0)
        return err;
    err = redis_pool_run(pool, &wish->base, 0);
    if (err < 0)
        mk_later_drop(&wish->later);
    return err;
}

int mk_redis_ask(struct mk_redis *redis, struct mk_request *r, const struct mk_str *words,
                 size_t nwords, mk_redis_fn fn, void *arg)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct redis_pool *pool;
    struct wish *wish;
    int err;

    if (!redis || !r || !words || nwords == 0 || nwords > REDIS_WORDS_MAX)
        return MK_E_INVALID;
    mk_request_facts(r, &facts);
    err = find_pool(redis, facts.worker, &pool);
    if (err < 0)
        return err;
    wish = new_wish(words, nwords);
    if (!wish)
        return MK_E_NOMEM;
    wish->fn = fn;
    wish->arg = arg;
    err = run(pool, wish, r);
    if (err < 0)
        free(wish);
    return err;
}

/* ---- life ---- */

static void end_pool(void *pool)
{
    redis_pool_fini(pool);
    free(pool);
}

static void drop(struct mk_redis *redis)
{
    crew_fini(&redis->crew, end_pool);
    redis_servers_fini(&redis->base);
    free(redis->transport);
    free(redis);
}

static const char *set_up(struct mk_redis *redis, const struct mk_redis_options *o)
{
    struct redis_url url = {.db = 0};
    const char *why = o->url ? redis_url_read(&url, o->url) : "options have a url";
    const char *usual =
        redis_servers_init(&redis->base, &url, o->connections, o->timeout_ms, o->commands);

    crew_init(&redis->crew);
    redis->base.told = tell;
    redis->transport = strdup(o->transport ? o->transport : "tls");
    if (why || usual)
        return why ? why : usual;
    return redis->transport ? NULL : redis_no_memory;
}

int mk_redis_new(struct mk_redis **redis, const struct mk_redis_options *options, const char **why)
{
    struct mk_redis_options own = {0};
    const char *wrong;

    if (!redis || !options)
        return MK_E_INVALID;
    memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
    *redis = calloc(1, sizeof(**redis));
    if (!*redis)
        return MK_E_NOMEM;
    wrong = set_up(*redis, &own);
    if (!wrong)
        return 0;
    drop(*redis);
    *redis = NULL;
    if (why)
        *why = wrong;
    return wrong == redis_no_memory ? MK_E_NOMEM : MK_E_INVALID;
}

void mk_redis_free(struct mk_redis *redis)
{
    if (redis)
        drop(redis);
}
