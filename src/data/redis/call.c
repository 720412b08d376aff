/* SPDX-License-Identifier: Apache-2.0 */
#include "data/redis/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char asking[] = "*1\r\n$6\r\nASKING\r\n";

enum { ASKING_LEN = sizeof(asking) - 1 };

struct redis_call *redis_call_new(size_t size, const char *bytes, size_t len, unsigned nanswers)
{
    struct redis_call *c = malloc(size + ASKING_LEN + len);

    if (!c)
        return NULL;
    memset(c, 0, size);
    c->nanswers = nanswers;
    c->len = len;
    c->bytes = (char *)c + size;
    memcpy(c->bytes, asking, ASKING_LEN);
    memcpy(c->bytes + ASKING_LEN, bytes, len);
    redis_call_ask(c, false);
    return c;
}

const char *redis_call_command(const struct redis_call *c)
{
    return c->bytes + ASKING_LEN;
}

void redis_call_ask(struct redis_call *c, bool is_asking)
{
    const bool was_asking = c->call.bytes == c->bytes;

    c->nanswers += (unsigned)is_asking - (unsigned)was_asking;
    c->call.bytes = is_asking ? c->bytes : c->bytes + ASKING_LEN;
    c->call.len = is_asking ? c->len + ASKING_LEN : c->len;
}

/* ---- answers ---- */

void redis_intake_begin(struct redis_intake *in, const struct redis_call *c, bool is_first)
{
    in->nleft = c->nanswers;
    in->is_greeting = c->is_greeting;
    in->is_first = is_first;
}

/* What a server sends at its limit of connections, word for word, before it closes this one. A script may answer the same later. */
static bool is_full(const struct mk_redis_reply *reply)
{
    return reply->type == MK_REDIS_ERROR &&
           (strcmp(reply->str, "ERR max number of clients reached") == 0 ||
            strcmp(reply->str, "ERR max number of clients + cluster connections reached") == 0);
}

static enum remote_progress refuse(struct redis_intake *in, const char *why)
{
    (void)snprintf(in->why, sizeof(in->why), "%s", why);
    return REMOTE_BAD;
}

static enum remote_progress take(struct redis_intake *in)
{
    if (in->is_first && is_full(in->reply)) {
        (void)refuse(in, in->reply->str);
        return REMOTE_FULL;
    }
    in->is_first = false;
    if (in->is_greeting && in->reply->type == MK_REDIS_ERROR)
        return refuse(in, in->reply->str);
    return --in->nleft == 0 ? REMOTE_DONE : REMOTE_MORE;
}

/* Bytes behind an answer come again with the next one, and the reader has them already. */
static int feed(struct redis_intake *in, const char *bytes, size_t len)
{
    if (!in->reader)
        in->reader = redis_reader_new();
    if (!in->reader)
        return -1;
    return in->nahead > 0 ? 0 : redis_reader_feed(in->reader, bytes, len);
}

enum remote_progress redis_intake_read(struct redis_intake *in, const char *bytes, size_t len,
                                       size_t *used)
{
    enum remote_progress progress = REMOTE_MORE;

    if (feed(in, bytes, len) < 0)
        return refuse(in, in->reader ? redis_reader_why(in->reader) : "no memory");
    while (progress == REMOTE_MORE) {
        redis_reply_free(in->reply);
        if (redis_reader_next(in->reader, &in->reply) < 0)
            return refuse(in, redis_reader_why(in->reader));
        if (!in->reply)
            break;
        progress = take(in);
    }
    in->nahead = in->reply ? redis_reader_ahead(in->reader) : 0;
    *used = len - in->nahead;
    return progress;
}

void redis_intake_reset(struct redis_intake *in)
{
    redis_reply_free(in->reply);
    in->reply = NULL;
}

void redis_intake_fini(struct redis_intake *in)
{
    redis_reader_free(in->reader);
}
