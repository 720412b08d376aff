/* SPDX-License-Identifier: Apache-2.0 */
#include "channels.h"

#include <stdlib.h>
#include <string.h>

static const struct redis_channel_verb verbs[] = {
#define REDIS_CHANNEL_VERB(word, is_pattern, subscribes) {#word, is_pattern, subscribes},
    REDIS_CHANNEL_WORDS(REDIS_CHANNEL_VERB)
#undef REDIS_CHANNEL_VERB
};

const struct redis_channel_verb *redis_channel_verb(const char *bytes)
{
    struct redis_words words = redis_words_of(bytes);
    struct redis_word word;

    if (!redis_words_next(&words, &word))
        return NULL;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (redis_word_is(&word, verbs[i].word))
            return &verbs[i];
    }
    return NULL;
}

unsigned redis_channels_named(const char *bytes)
{
    return redis_words_of(bytes).left - 1;
}

static struct redis_channel **find(struct redis_channel **at, bool is_pattern, const char *name,
                                   size_t len)
{
    for (; *at; at = &(*at)->next) {
        const struct redis_channel *ch = *at;

        if (ch->is_pattern == is_pattern && ch->len == len && memcmp(ch->name, name, len) == 0)
            return at;
    }
    return NULL;
}

static struct redis_channel *add_one(struct redis_channel **all, bool is_pattern,
                                     const struct redis_word *name,
                                     const struct redis_command *command)
{
    struct redis_channel **at = find(all, is_pattern, name->p, name->len);
    struct redis_channel *ch = at ? *at : calloc(1, sizeof(*ch) + name->len + 1);

    if (at || !ch)
        return ch;
    ch->command = command;
    ch->is_pattern = is_pattern;
    ch->len = name->len;
    memcpy(ch->name, name->p, name->len);
    ch->next = *all;
    *all = ch;
    return ch;
}

unsigned redis_channels_add(struct redis_channel **all, const struct redis_channel_verb *verb,
                            const struct redis_command *command, const char *bytes,
                            redis_channel_fn fn, void *priv)
{
    struct redis_words words = redis_words_of(bytes);
    struct redis_word word;
    unsigned n = 0;

    (void)redis_words_next(&words, &word);
    for (; redis_words_next(&words, &word); n++) {
        struct redis_channel *ch = add_one(all, verb->is_pattern, &word, command);

        if (!ch) {
            redis_channels_refuse(all, command);
            return 0;
        }
        ch->fn = fn;
        ch->priv = priv;
    }
    return n;
}

void redis_channels_refuse(struct redis_channel **all, const struct redis_command *command)
{
    while (*all) {
        struct redis_channel *ch = *all;

        if (ch->command != command) {
            all = &ch->next;
            continue;
        }
        *all = ch->next;
        free(ch);
    }
}

/* The name is the second word of all of them; of a message by pattern it is the pattern. */
struct redis_channel **redis_channels_find(struct redis_channel **all,
                                           const struct mk_redis_reply *message)
{
    const struct mk_redis_reply *name = message->element[1];

    if (name->type != REDIS_REPLY_STRING)
        return NULL;
    return find(all, message->element[0]->str[0] == 'p', name->str, (size_t)name->len);
}
