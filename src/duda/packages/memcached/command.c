/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    enum memc_kind kind;
} verbs[] = {
#define MEMC_VERB(name, word, kind) {word, kind},
    MEMC_COMMANDS(MEMC_VERB)
#undef MEMC_VERB
};

enum { NUMBERS_MAX = 64 }; /* the word, flags, seconds, length and line end */

/* A blank or line end in a key would be another command. */
static bool is_key(const char *key)
{
    size_t len = 0;

    if (!key)
        return false;
    for (; key[len] != '\0'; len++) {
        if (len == MEMC_KEY_MAX || (unsigned char)key[len] <= ' ' || key[len] == 0x7f)
            return false;
    }
    return len > 0;
}

static bool is_valid(const struct memc_order *o, enum memc_kind kind, size_t value_max)
{
    if (kind != MEMC_PROBE && !is_key(o->key))
        return false;
    return kind != MEMC_STORE || ((o->value || o->len == 0) && o->len <= value_max);
}

/* @return bytes of the line with its end */
static int write_line(char *dst, size_t size, const struct memc_order *o, enum memc_kind kind)
{
    const char *word = verbs[o->verb].word;

    switch (kind) {
    case MEMC_STORE:
        return snprintf(dst, size, "%s %s 0 %" PRIu64 " %zu\r\n", word, o->key, o->number, o->len);
    case MEMC_NUMBER:
    case MEMC_TOUCH:
        return snprintf(dst, size, "%s %s %" PRIu64 "\r\n", word, o->key, o->number);
    case MEMC_PROBE:
        return snprintf(dst, size, "%s\r\n", word);
    default:
        return snprintf(dst, size, "%s %s\r\n", word, o->key);
    }
}

static void add_value(struct memc_command *c, const struct memc_order *o)
{
    char *at = c->bytes + c->call.len;

    if (o->len > 0)
        memcpy(at, o->value, o->len);
    memcpy(at + o->len, "\r\n", 2);
    c->call.len += o->len + 2;
}

struct memc_command *memc_command_new(const struct memc_order *order, size_t value_max,
                                      bool *is_refused)
{
    const enum memc_kind kind = verbs[order->verb].kind;
    const size_t line_max = NUMBERS_MAX + MEMC_KEY_MAX;
    struct memc_command *c;

    *is_refused = !is_valid(order, kind, value_max);
    if (*is_refused)
        return NULL;
    c = malloc(sizeof(*c) + line_max + order->len + 2);
    if (!c)
        return NULL;
    *c = (struct memc_command){.kind = kind};
    c->call.bytes = c->bytes;
    c->call.len = (size_t)write_line(c->bytes, line_max, order, kind);
    if (order->key) {
        c->key_at = strlen(verbs[order->verb].word) + 1;
        c->key_len = strlen(order->key);
        c->hash = memc_hash(order->key, c->key_len);
    }
    if (kind == MEMC_STORE)
        add_value(c, order);
    return c;
}
