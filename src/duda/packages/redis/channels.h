/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_CHANNELS_H
#define MK_DUDA_REDIS_CHANNELS_H

#include "object.h"

#include "data/redis/protocol.h"

/* Channels and patterns to which a context has subscribed, with their functions. */

struct redis_command;

typedef void (*redis_channel_fn)(redisAsyncContext *rc, void *reply, void *priv);

struct redis_channel {
    struct redis_channel *next;
    const struct redis_command *command; /* that is not confirmed yet; NULL: it is */
    redis_channel_fn fn;                 /* NULL: it does not want to know */
    void *priv;
    bool is_pattern;
    size_t len;
    char name[];
};

/** What a command does to channels: X(word, is_pattern, subscribes) */
#define REDIS_CHANNEL_WORDS(X)                                                                     \
    X(SUBSCRIBE, false, true)                                                                      \
    X(PSUBSCRIBE, true, true)                                                                      \
    X(UNSUBSCRIBE, false, false)                                                                   \
    X(PUNSUBSCRIBE, true, false)

struct redis_channel_verb {
    const char *word;
    bool is_pattern, subscribes;
};

/** @return what a command does to channels; NULL: nothing */
const struct redis_channel_verb *redis_channel_verb(const char *bytes);

/**
 * Add the channels of a command. One that is there already gets the function.
 * @param command  with its bytes. @return how many it names; 0: none, or no memory
 */
unsigned redis_channels_add(struct redis_channel **all, const struct redis_channel_verb *verb,
                            const struct redis_command *command, const char *bytes,
                            redis_channel_fn fn, void *priv);

/** @return how many channels a command names */
unsigned redis_channels_named(const char *bytes);

/** Take out those of a command that was refused. Free them. */
void redis_channels_refuse(struct redis_channel **all, const struct redis_command *command);

/** @return the place of the channel of a message or confirmation; NULL: it is not there */
struct redis_channel **redis_channels_find(struct redis_channel **all,
                                           const struct mk_redis_reply *message);

#endif
