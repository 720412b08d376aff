/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/redis/redis.h"

DUDA_REGISTER("tests", "the published calls of redis");

/* Call-backs: connected, connected in vain, disconnected, lost, answers, commands without an answer. */
static struct {
    int connected, failed, disconnected, lost, answers, unanswered;
} counts;

static void count(int *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void on_connect(const redisAsyncContext *rc, int status)
{
    (void)rc;
    count(status == REDIS_OK ? &counts.connected : &counts.failed);
}

static void on_disconnect(const redisAsyncContext *rc, int status)
{
    (void)rc;
    count(status == REDIS_OK ? &counts.disconnected : &counts.lost);
}

static void print(duda_request_t *dr, const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_ARRAY:
        response->printf(dr, "[");
        for (size_t i = 0; i < reply->elements; i++)
            print(dr, reply->element[i]);
        response->printf(dr, "]");
        break;
    case REDIS_REPLY_INTEGER:
        response->printf(dr, "%lld;", reply->integer);
        break;
    case REDIS_REPLY_NIL:
        response->printf(dr, "nil;");
        break;
    default:
        response->printf(dr, "%s/%d;", reply->str, reply->len);
    }
}

static void finish(redisAsyncContext *rc, duda_request_t *dr)
{
    response->cont(dr);
    response->end(dr, NULL);
    redis->disconnect(rc);
}

static void note(redisAsyncContext *rc, void *reply, void *last)
{
    duda_request_t *dr = redis->getDudarequest(rc);

    count(reply ? &counts.answers : &counts.unanswered);
    if (!dr)
        return;
    if (reply)
        print(dr, reply);
    else
        response->printf(dr, "%s;", rc->errstr);
    if (last)
        finish(rc, dr);
}

static redisAsyncContext *begin(duda_request_t *dr)
{
    redisAsyncContext *rc = redis->connect("127.0.0.1", REDIS_PORT, dr);

    response->http_status(dr, 200);
    response->wait(dr);
    redis->setConnectCallback(rc, on_connect);
    redis->setDisconnectCallback(rc, on_disconnect);
    redis->attach(rc, dr);
    return rc;
}

static void cb_commands(duda_request_t *dr)
{
    redisAsyncContext *rc = begin(dr);

    redis->command(rc, NULL, NULL, "DEL key number list");
    redis->command(rc, note, NULL, "GET %s", "key");
    redis->command(rc, note, NULL, "SET %s %b", "key", "a\0b", (size_t)3);
    redis->command(rc, note, NULL, "GET key");
    redis->command(rc, note, NULL, "INCRBY number %d", 42);
    redis->command(rc, note, NULL, "RPUSH list one two");
    redis->command(rc, note, NULL, "LRANGE list 0 -1");
    redis->command(rc, note, "last", "INCR list");
}

static void cb_slow(duda_request_t *dr)
{
    redis->command(begin(dr), note, "last", "BLPOP never 0");
}

static void cb_freed(duda_request_t *dr)
{
    redisAsyncContext *rc = begin(dr);

    redis->command(rc, note, NULL, "GET key");
    redis->command(rc, note, NULL, "GET key");
    redis->free(rc);
    response->printf(dr,
                     redis->command(rc, note, NULL, "GET key") == REDIS_ERR ? "freed" : "taken");
    response->cont(dr);
    response->end(dr, NULL);
}

/* ---- channels ---- */

static redisAsyncContext *hears;
static char heard[4096];

static void on_message(redisAsyncContext *rc, void *got, void *priv)
{
    const redisReply *reply = got;
    size_t at = strlen(heard);

    (void)rc;
    if (!reply)
        snprintf(heard + at, sizeof(heard) - at, "%s ended;", (char *)priv);
    else if (reply->element[2]->type == REDIS_REPLY_INTEGER)
        snprintf(heard + at, sizeof(heard) - at, "%s %s %s %lld;", (char *)priv,
                 reply->element[0]->str, reply->element[1]->str, reply->element[2]->integer);
    else
        snprintf(heard + at, sizeof(heard) - at, "%s %s %s %s;", (char *)priv,
                 reply->element[0]->str, reply->element[1]->str,
                 reply->element[reply->elements - 1]->str);
}

static void cb_listen(duda_request_t *dr)
{
    hears = redis->connect("127.0.0.1", REDIS_PORT, NULL);
    redis->attach(hears, dr);
    redis->command(hears, on_message, "news", "SUBSCRIBE news other");
    redis->command(hears, on_message, "pattern", "PSUBSCRIBE n*");
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

static void cb_heard(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%s", heard);
    response->end(dr, NULL);
}

static void cb_mute(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d", redis->command(hears, NULL, NULL, "UNSUBSCRIBE news"),
                     redis->command(hears, NULL, NULL, "UNSUBSCRIBE"));
    response->end(dr, NULL);
}

static void cb_deaf(duda_request_t *dr)
{
    redis->disconnect(hears);
    response->http_status(dr, 200);
    response->end(dr, NULL);
}

/* ---- misuse ---- */

static void cb_wrong(duda_request_t *dr)
{
    redisAsyncContext none = {.err = 0}, *named, *rc = begin(dr);
    int refused;

    named = redis->connect("redis.example", 6379, dr);
    refused = named && named->err && strlen(named->errstr) > 0 && redis->attach(named, dr) < 0 &&
              redis->command(named, note, NULL, "GET key") < 0 &&
              redis->setConnectCallback(named, on_connect) < 0;
    redis->disconnect(named);
    redis->disconnect(named);
    redis->disconnect(NULL);
    redis->free(NULL);
    redis->free(&none);
    refused = refused && redis->command(NULL, note, NULL, "GET key") < 0 &&
              redis->command(&none, note, NULL, "GET key") < 0 && redis->attach(&none, dr) < 0 &&
              redis->command(rc, note, NULL, " ") < 0 && redis->command(rc, note, NULL, NULL) < 0 &&
              redis->command(rc, note, NULL, "SUBSCRIBE") < 0 &&
              redis->getDudarequest(&none) == NULL && redis->getDudarequest(rc) == dr &&
              redis->setConnectCallback(rc, on_connect) < 0 &&
              !redis->connect("127.0.0.1", REDIS_PORT, (duda_request_t *)&none);
    response->printf(dr, refused ? "all refused" : "taken");
    finish(rc, dr);
}

static void cb_counts(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d %d %d", counts.connected, counts.failed, counts.disconnected,
                     counts.lost, counts.answers, counts.unanswered);
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(redis, "redis");
    map->static_add_ref("/commands", cb_commands);
    map->static_add_ref("/slow", cb_slow);
    map->static_add_ref("/freed", cb_freed);
    map->static_add_ref("/listen", cb_listen);
    map->static_add_ref("/heard", cb_heard);
    map->static_add_ref("/mute", cb_mute);
    map->static_add_ref("/deaf", cb_deaf);
    map->static_add_ref("/wrong", cb_wrong);
    map->static_add_ref("/counts", cb_counts);
    return 0;
}
