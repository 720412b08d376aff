#include "webservice.h"

#include "packages/redis/redis.h"

#include <stdlib.h>

/*
 * Answers that are expensive to make, kept in Redis for all servers: GET /@NAME@/primes/N counts the primes up to N. Without
 * Redis it works, too, and counts each time. The field X-Cache says where the answer is from.
 */

DUDA_REGISTER("@NAME@", "a cache");

#ifndef CACHE
#define CACHE "redis://127.0.0.1:6379"
#endif

enum { NUMBER_MAX = 20000000, KEPT_S = 60, CACHE_MS = 300, KEY_MAX = 64 };

static redis_client_t *cache_client;

static char *key_of(char key[KEY_MAX], long n)
{
    snprintf(key, KEY_MAX, "@NAME@:primes:%ld", n);
    return key;
}

static void show(duda_request_t *dr, const char *from, long count)
{
    response->header(dr, "X-Cache", from);
    response->send(dr, 200, "text/plain", "%ld\n", count);
}

/* ---- the work, on another thread */

struct job {
    long n, count; /* count -1: no memory */
};

static void count_primes(void *arg)
{
    struct job *job = arg;
    char *is_composite = calloc((size_t)job->n + 1, 1);

    job->count = is_composite ? 0 : -1;
    for (long i = 2; is_composite && i <= job->n; i++) {
        if (is_composite[i])
            continue;
        job->count++;
        for (long at = i * i; i <= job->n / i && at <= job->n; at += i)
            is_composite[at] = 1;
    }
    free(is_composite);
}

/* Nobody waits until Redis has it. */
static void keep(const struct job *job)
{
    char key[KEY_MAX];

    redis->run(cache_client, NULL, NULL, NULL, "SET %s %ld EX %d", key_of(key, job->n), job->count,
               KEPT_S);
}

static void counted(duda_request_t *dr, void *arg)
{
    const struct job *job = arg;

    if (job->count < 0) {
        response->problem(dr, 503, "Try again later", NULL);
        return;
    }
    keep(job);
    show(dr, "miss", job->count);
}

static void count(duda_request_t *dr, long n)
{
    struct job *job = mem->alloc_z(sizeof(*job));

    if (job) {
        job->n = n;
        if (task->run(dr, count_primes, counted, mem->free, job) == 0)
            return;
        mem->free(job);
    }
    response->problem(dr, 503, "Try again later", NULL);
}

/* ---- requests */

static long number_of(duda_request_t *dr)
{
    long n = 0;

    param->get_number(dr, "n", &n);
    return n;
}

static void looked_up(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    (void)arg;
    if (!dr)
        return; /* the client has left */
    if (answer->result == REDIS_OK && answer->reply->type == REDIS_REPLY_STRING)
        show(dr, "hit", strtol(answer->reply->str, NULL, 10));
    else
        count(dr, number_of(dr));
}

static void primes(duda_request_t *dr)
{
    const long n = number_of(dr);
    char key[KEY_MAX];

    if (n < 0 || n > NUMBER_MAX)
        response->problem(dr, 400, "A number up to 20,000,000 is wanted", NULL);
    else if (redis->run_within(cache_client, CACHE_MS, dr, looked_up, NULL, "GET %s",
                               key_of(key, n)) < 0)
        count(dr, n);
}

int duda_main()
{
    const struct redis_options options = {.server = CACHE};

    duda_load_package(redis, "redis");
    cache_client = redis->client(&options);
    if (!cache_client)
        return -1;
    router->get("/primes/:n<int>", primes);
    return 0;
}
