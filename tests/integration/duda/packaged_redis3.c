/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/redis/redis.h"

DUDA_REGISTER("tests", "clients of redis");

#ifndef OPTIONS
#define OPTIONS
#endif

/* Commands that were accepted, call-backs, those of requests that had ended. */
static int accepted, answered, left;
static redis_client_t *values;

static void count(int *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void show(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    const redisReply *reply = answer->reply;

    (void)arg;
    count(&answered);
    if (!dr)
        count(&left);
    else if (reply && reply->type == REDIS_REPLY_INTEGER)
        response->send(dr, 200, "text/plain", "%d %lld", answer->result, reply->integer);
    else if (reply && reply->type == REDIS_REPLY_ARRAY)
        response->send(dr, 200, "text/plain", "%d %zu elements", answer->result, reply->elements);
    else if (reply && reply->type == REDIS_REPLY_NIL)
        response->send(dr, 200, "text/plain", "%d nil", answer->result);
    else
        response->send(dr, 200, "text/plain", "%d %s", answer->result, answer->text);
}

static void begun(duda_request_t *dr, int result)
{
    if (result == 0)
        count(&accepted);
    else
        response->send(dr, 503, "text/plain", "%d", result);
}

/* The words of the command stand in the query, with commas between them. */
enum { WORDS_MAX = 16 };

static int split(char *text, const char **words)
{
    char *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(text, ",", &rest); word && n < WORDS_MAX;
         word = strtok_r(NULL, ",", &rest))
        words[n++] = word;
    return n;
}

static void ask(duda_request_t *dr)
{
    const char *words[WORDS_MAX];
    char text[512];
    int n;

    snprintf(text, sizeof(text), "%s", query->get(dr, "c"));
    n = split(text, words);
    begun(dr, redis->run_words(values, dr, show, NULL, n, words, NULL));
}

static void get(duda_request_t *dr)
{
    begun(dr, redis->run(values, dr, show, NULL, "GET %s", query->get(dr, "key")));
}

static void set(duda_request_t *dr)
{
    size_t len = 0;
    const char *body = request->body(dr, &len);

    begun(dr, redis->run(values, dr, show, NULL, "SET %s %b", query->get(dr, "key"), body, len));
}

static void pop(duda_request_t *dr)
{
    long ms = 0;

    query->get_number(dr, "ms", &ms);
    begun(dr, redis->run_within(values, (unsigned)ms, dr, show, NULL, "BLPOP %s 0",
                                query->get(dr, "key")));
}

/* ---- many commands of one request ---- */

struct many {
    int left;
    long long last;
};

static void one_of_many(duda_request_t *dr, const struct redis_answer *answer, void *arg)
{
    struct many *many = arg;

    count(&answered);
    if (answer->result == 0 && answer->reply->integer == many->last + 1)
        many->last++;
    if (--many->left > 0)
        return;
    if (dr)
        response->send(dr, 200, "text/plain", "%lld", many->last);
    free(many);
}

static void many(duda_request_t *dr)
{
    struct many *many = calloc(1, sizeof(*many));
    long n = 0;

    query->get_number(dr, "n", &n);
    many->left = 1;
    for (long i = 0; i < n && redis->run(values, dr, one_of_many, many, "INCR many") == 0; i++) {
        count(&accepted);
        many->left++;
    }
    if (--many->left == 0) {
        response->send(dr, 503, "text/plain", "none");
        free(many);
    }
}

static void alone(duda_request_t *dr)
{
    int result = redis->run(values, NULL, NULL, NULL, "SET alone %s", "alone");

    begun(dr, result ? result : redis->run(values, dr, show, NULL, "GET alone"));
}

static void wrong(duda_request_t *dr)
{
    static const char *const words[] = {"GET", NULL};
    int is_refused =
        redis->run(values, dr, show, NULL, "") == REDIS_REFUSED &&
        redis->run(values, dr, show, NULL, NULL) == REDIS_REFUSED &&
        redis->run(values, dr, show, NULL, "multi") == REDIS_REFUSED &&
        redis->run(values, dr, show, NULL, "Subscribe news") == REDIS_REFUSED &&
        redis->run(NULL, dr, show, NULL, "GET key") == REDIS_REFUSED &&
        redis->run(values, dr, NULL, NULL, "GET key") == REDIS_REFUSED &&
        redis->run(values, (duda_request_t *)&values, show, NULL, "GET key") == REDIS_REFUSED &&
        redis->run_within(values, 5, dr, NULL, NULL, "GET key") == REDIS_REFUSED &&
        redis->run_words(values, dr, show, NULL, 0, words, NULL) == REDIS_REFUSED &&
        redis->run_words(values, dr, show, NULL, 2, words, NULL) == REDIS_REFUSED &&
        redis->run_words(values, dr, show, NULL, 1, NULL, NULL) == REDIS_REFUSED &&
        redis->subscribe(NULL, "news", NULL, NULL) < 0 &&
        redis->subscribe(values, "news", NULL, NULL) < 0 &&
        redis->unsubscribe(values, "nothing") < 0 && redis->unsubscribe(values, NULL) < 0 &&
        !redis->client(&(struct redis_options){.server = "127.0.0.1:1"});

    response->send(dr, 200, "text/plain", is_refused ? "all refused" : "accepted");
}

/* ---- channels ---- */

static char heard[4096];

static void on_message(const char *channel, const char *message, size_t len, void *arg)
{
    size_t at = strlen(heard);

    if (message && strcmp(message, "enough") == 0)
        redis->unsubscribe(values, channel);
    snprintf(heard + at, sizeof(heard) - at, "%s %s/%zu %s;", (char *)arg, channel, len,
             message ? message : "from now on");
}

static void listens(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d",
                   redis->subscribe(values, query->get(dr, "channel"), on_message, "it"));
}

static void mute(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d",
                   redis->unsubscribe(values, query->get(dr, "channel")));
}

static void show_heard(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%s", heard);
}

static void counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d", __atomic_load_n(&accepted, __ATOMIC_RELAXED),
                   __atomic_load_n(&answered, __ATOMIC_RELAXED),
                   __atomic_load_n(&left, __ATOMIC_RELAXED));
}

static void are_refused(void)
{
    char name[200];
    const struct redis_options rows[] = {
        {.server = NULL},
        {.server = ""},
        {.server = "localhost"},
        {.server = "1.2.3:6379"},
        {.server = "redis://localhost?ca=/tmp/ca.pem"},
        {.server = "127.0.0.1"},
        {.server = "127.0.0.1:65536"},
        {.server = "127.0.0.1:6379", .connections = 17},
        {.server = "127.0.0.1:6379", .password = name},
        {.server = "127.0.0.1:6379", .user = name},
    };

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (redis->client(&rows[i]))
            abort();
    if (redis->client(NULL))
        abort();
}

int duda_main()
{
    const struct redis_options options = {.server = SERVER, OPTIONS};

    duda_load_package(redis, "redis");
    are_refused();
    values = redis->client(&options);
    if (!values)
        return 1;
    router->get("/ask", ask);
    router->get("/get", get);
    router->post("/set", set);
    router->get("/pop", pop);
    router->get("/many", many);
    router->get("/alone", alone);
    router->get("/wrong", wrong);
    router->get("/listen", listens);
    router->get("/mute", mute);
    router->get("/heard", show_heard);
    router->get("/counts", counts);
    return 0;
}
