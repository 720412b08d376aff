/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "kit/pure/hash.h"
#include "objects/session/session_value.h"
#include "data/redis/nodes.h"
#include "data/redis/protocol.h"

#include <string.h>

/*
 * What a server of Redis sends, whole and dripped: the same answers, and the same refusal of what is none. Texts in them are read
 * as redirects of a cluster and as values of sessions.
 */

enum { DEPTH_MAX = 16 };

struct sum {
    uint64_t value;
    unsigned answers;
    int result;
};

static void add(struct sum *sum, const void *bytes, size_t len)
{
    sum->value = hash_64(sum->value, bytes, len);
}

static void read_text(const struct mk_redis_reply *reply)
{
    static const struct remote_place from = {.host = "::1"};
    const size_t len = (size_t)reply->len;
    char *copy = exact_copy(reply->str, len + 1);
    struct redis_redirect r;
    int64_t expires;
    const char *text;

    require(copy[len] == '\0');
    if (redis_redirect_read(&r, copy, len, &from) == 0)
        require(r.slot < REDIS_SLOTS && r.place.port > 0);
    text = mk_duda_session_value_read(copy, len, &expires);
    require(!text || (expires >= 0 && text > copy && text <= copy + len));
    require(redis_slot(copy, len) < REDIS_SLOTS);
    free(copy);
}

static void read_reply(struct sum *sum, const struct mk_redis_reply *reply, unsigned depth)
{
    require(reply && depth < DEPTH_MAX);
    add(sum, &reply->type, sizeof(reply->type));
    add(sum, &reply->integer, sizeof(reply->integer));
    if (reply->str) {
        add(sum, reply->str, (size_t)reply->len);
        read_text(reply);
    }
    for (size_t i = 0; i < reply->elements; i++)
        read_reply(sum, reply->element[i], depth + 1);
}

static void read_all(struct redis_reader *r, struct sum *sum)
{
    struct mk_redis_reply *reply = NULL;

    while (sum->result == 0) {
        sum->result = redis_reader_next(r, &reply);
        if (!reply)
            return;
        require(sum->result == 0);
        sum->answers++;
        read_reply(sum, reply, 0);
        redis_reply_free(reply);
    }
}

static struct sum read_in_pieces(const uint8_t *data, size_t size, size_t step)
{
    struct redis_reader *r = redis_reader_new();
    struct sum sum = {.value = 0};

    require(r != NULL);
    for (size_t at = 0; at < size && sum.result == 0; at += step) {
        const size_t len = step < size - at ? step : size - at;
        char *copy = exact_copy(data + at, len);

        sum.result = redis_reader_feed(r, copy, len);
        free(copy);
        read_all(r, &sum);
    }
    require(sum.result == 0 || redis_reader_why(r)[0] != '\0');
    redis_reader_free(r);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sum whole = read_in_pieces(data, size, size),
                     dripped = read_in_pieces(data, size, 1);

    require(whole.result == dripped.result && whole.answers == dripped.answers);
    require(whole.result < 0 || whole.value == dripped.value);
    return 0;
}
