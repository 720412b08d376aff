/* SPDX-License-Identifier: Apache-2.0 */
#include "data/redis/protocol.h"

#include "data/redis/bounds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <hiredis/hiredis.h>

/* ---- commands ---- */

/* A command without words has no answer, so those behind it would get wrong ones. */
static ssize_t checked(char **bytes, int len)
{
    if (len > 2 && (*bytes)[1] != '0')
        return len;
    if (len >= 0)
        redis_bytes_free(*bytes);
    *bytes = NULL;
    return -1;
}

ssize_t redis_format(char **bytes, const char *format, va_list args)
{
    *bytes = NULL;
    return format ? checked(bytes, redisvFormatCommand(bytes, format, args)) : -1;
}

/* @return whether the library, which counts in int, can write them */
static bool are_words(int n, const char *const *words, const size_t *lens)
{
    size_t sum = 0;

    for (int i = 0; words && i < n; i++) {
        const size_t len = !words[i] ? REDIS_COMMAND_MAX : lens ? lens[i] : strlen(words[i]);

        if (len >= REDIS_COMMAND_MAX - sum)
            return false;
        sum += len;
    }
    return words && n > 0 && n <= REDIS_COMMAND_MAX / 64;
}

ssize_t redis_format_words(char **bytes, int n, const char *const *words, const size_t *lens)
{
    *bytes = NULL;
    if (!are_words(n, words, lens))
        return -1;
    return checked(bytes, redisFormatCommandArgv(bytes, n, (const char **)(uintptr_t)words, lens));
}

void redis_bytes_free(char *bytes)
{
    redisFreeCommand(bytes);
}

struct redis_words redis_words_of(const char *bytes)
{
    char *end;
    const unsigned n = (unsigned)strtoul(bytes + 1, &end, 10);

    return (struct redis_words){end + 2, n};
}

bool redis_words_next(struct redis_words *words, struct redis_word *word)
{
    char *end;

    if (words->left == 0)
        return false;
    word->len = strtoul(words->at + 1, &end, 10);
    word->p = end + 2;
    words->at = word->p + word->len + 2;
    words->left--;
    return true;
}

bool redis_word_is(const struct redis_word *word, const char *text)
{
    return strlen(text) == word->len && strncasecmp(word->p, text, word->len) == 0;
}

/* ---- answers ---- */

struct redis_reader {
    redisReader *reader;
    size_t used; /* memory of the answer under way */
    const char *why;
};

void redis_reply_free(struct mk_redis_reply *reply)
{
    if (!reply)
        return;
    for (size_t i = 0; reply->element && i < reply->elements; i++)
        redis_reply_free(reply->element[i]);
    free(reply->element);
    free(reply->str);
    free(reply);
}

static void free_object(void *reply)
{
    redis_reply_free(reply);
}

/* @return an answer, or a part of one, that has its place; NULL: no memory, or the answer has too much of it */
static struct mk_redis_reply *add(const redisReadTask *part, int type, size_t size)
{
    struct redis_reader *r = part->privdata;
    struct mk_redis_reply *reply = NULL, *parent = part->parent ? part->parent->obj : NULL;

    if (size < REDIS_ANSWER_MAX && r->used + size + sizeof(*reply) <= REDIS_ANSWER_MAX)
        reply = calloc(1, sizeof(*reply));
    else
        r->why = "the answer is too long";
    if (!reply)
        return NULL;
    r->used += size + sizeof(*reply);
    reply->type = type;
    if (parent)
        parent->element[part->idx] = reply;
    return reply;
}

/* A reply without its contents must not stay where the reader would free it once more. */
static void *drop(const redisReadTask *part, struct mk_redis_reply *reply)
{
    struct mk_redis_reply *parent = part->parent ? part->parent->obj : NULL;

    if (parent)
        parent->element[part->idx] = NULL;
    free(reply);
    return NULL;
}

static void *new_text(const redisReadTask *part, int type, const char *text, size_t len)
{
    struct mk_redis_reply *reply = add(part, type, len + 1);

    if (!reply)
        return NULL;
    reply->str = malloc(len + 1);
    if (!reply->str)
        return drop(part, reply);
    memcpy(reply->str, text, len);
    reply->str[len] = '\0';
    reply->len = (int)len;
    return reply;
}

static void *create_string(const redisReadTask *part, char *text, size_t len)
{
    const int type = part->type == REDIS_REPLY_STATUS || part->type == REDIS_REPLY_ERROR
                         ? part->type
                         : REDIS_REPLY_STRING;

    return new_text(part, type, text, len);
}

#if HIREDIS_MAJOR >= 1
typedef size_t count;
#else
typedef int count;
#endif

/* Trees are freed by recursion, here and by those who read them. */
static bool is_too_deep(const redisReadTask *part)
{
    unsigned depth = 0;

    while (depth < REDIS_DEPTH_MAX && part->parent) {
        part = part->parent;
        depth++;
    }
    return depth == REDIS_DEPTH_MAX;
}

static void *create_array(const redisReadTask *part, count n)
{
    const size_t elements = (size_t)n, each = sizeof(void *);
    struct mk_redis_reply *reply;

    if (is_too_deep(part)) {
        ((struct redis_reader *)part->privdata)->why = "the answer nests too deeply";
        return NULL;
    }
    reply = add(part, REDIS_REPLY_ARRAY,
                elements < REDIS_ANSWER_MAX / each ? elements * each : REDIS_ANSWER_MAX);

    if (!reply || elements == 0)
        return reply;
    reply->element = calloc(elements, each);
    if (!reply->element)
        return drop(part, reply);
    reply->elements = elements;
    return reply;
}

static void *create_integer(const redisReadTask *part, long long n)
{
    struct mk_redis_reply *reply = add(part, REDIS_REPLY_INTEGER, 0);

    if (reply)
        reply->integer = n;
    return reply;
}

static void *create_nil(const redisReadTask *part)
{
    return add(part, REDIS_REPLY_NIL, 0);
}

#if HIREDIS_MAJOR >= 1
/* Of the third version of the protocol, which a program may ask for. */
static void *create_double(const redisReadTask *part, double value, char *text, size_t len)
{
    (void)value;
    return new_text(part, REDIS_REPLY_STRING, text, len);
}

static void *create_bool(const redisReadTask *part, int value)
{
    return create_integer(part, value);
}
#endif

static redisReplyObjectFunctions makers = {
    .createString = create_string,
    .createArray = create_array,
    .createInteger = create_integer,
    .createNil = create_nil,
#if HIREDIS_MAJOR >= 1
    .createDouble = create_double,
    .createBool = create_bool,
#endif
    .freeObject = free_object,
};

struct redis_reader *redis_reader_new(void)
{
    struct redis_reader *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->reader = redisReaderCreateWithFunctions(&makers);
    if (!r->reader) {
        free(r);
        return NULL;
    }
    r->reader->privdata = r;
    return r;
}

void redis_reader_free(struct redis_reader *r)
{
    if (!r)
        return;
    redisReaderFree(r->reader);
    free(r);
}

int redis_reader_feed(struct redis_reader *r, const char *bytes, size_t len)
{
    if (redisReaderFeed(r->reader, bytes, len) != REDIS_OK)
        return -1;
    if (r->reader->len - r->reader->pos <= REDIS_ANSWER_MAX)
        return 0;
    r->why = "the answer is too long";
    return -1;
}

int redis_reader_next(struct redis_reader *r, struct mk_redis_reply **reply)
{
    void *got = NULL;

    *reply = NULL;
    if (redisReaderGetReply(r->reader, &got) != REDIS_OK)
        return -1;
    *reply = got;
    if (got)
        r->used = 0;
    return 0;
}

size_t redis_reader_ahead(const struct redis_reader *r)
{
    return r->reader->len - r->reader->pos;
}

const char *redis_reader_why(const struct redis_reader *r)
{
    return r->why ? r->why : r->reader->errstr;
}
