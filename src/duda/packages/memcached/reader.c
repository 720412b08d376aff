/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "object.h"

#include <stdlib.h>
#include <string.h>

/* Whole lines, and which kinds of commands have them as an answer. */
static const struct word {
    const char *text;
    unsigned kinds;
    int result;
} words[] = {
    {"STORED", MEMC_STORE, MEMCACHED_OK},
    {"NOT_STORED", MEMC_STORE, MEMCACHED_NOT_STORED},
    {"EXISTS", MEMC_STORE, MEMCACHED_NOT_STORED},
    {"NOT_FOUND", MEMC_STORE | MEMC_DELETE | MEMC_NUMBER | MEMC_TOUCH, MEMCACHED_MISS},
    {"END", MEMC_GET, MEMCACHED_MISS},
    {"DELETED", MEMC_DELETE, MEMCACHED_OK},
    {"TOUCHED", MEMC_TOUCH, MEMCACHED_OK},
};

static int malformed(struct memc_reader *r, const char *why)
{
    r->why = why;
    return -1;
}

static int done(struct memc_reader *r, int result)
{
    r->result = result;
    r->state = MEMC_READER_DONE;
    return 0;
}

static bool has_prefix(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* @return the text after a decimal number of at most max; NULL: there is none */
static const char *read_number(const char *text, uint64_t max, uint64_t *number)
{
    const char *first = text;

    for (*number = 0; *text >= '0' && *text <= '9'; text++) {
        const unsigned digit = (unsigned)(*text - '0');

        if (*number > (max - digit) / 10)
            return NULL;
        *number = *number * 10 + digit;
    }
    return text == first ? NULL : text;
}

/* ---- lines ---- */

/* VALUE key flags bytes */
static int begin_value(struct memc_reader *r)
{
    const char *at = r->line + strlen("VALUE ");
    uint64_t flags, len;

    if (strncmp(at, r->key, r->key_len) != 0 || at[r->key_len] != ' ')
        return malformed(r, "the value of another key");
    at = read_number(at + r->key_len + 1, UINT32_MAX, &flags);
    at = at && *at == ' ' ? read_number(at + 1, UINT64_MAX, &len) : NULL;
    if (!at || *at != '\0')
        return malformed(r, "a malformed line VALUE");
    if (len > r->value_max)
        return malformed(r, "a value longer than value_max");
    r->value_len = (size_t)len;
    r->state = MEMC_READER_VALUE;
    return 0;
}

static int read_count(struct memc_reader *r)
{
    const char *end = read_number(r->line, UINT64_MAX, &r->number);

    return end && *end == '\0' ? done(r, MEMCACHED_OK) : malformed(r, "a malformed number");
}

static int read_refusal(struct memc_reader *r)
{
    const bool is_error = strcmp(r->line, "ERROR") == 0;

    if (!is_error && !has_prefix(r->line, "CLIENT_ERROR ") && !has_prefix(r->line, "SERVER_ERROR "))
        return malformed(r, "an unexpected answer");
    r->is_unknown = r->line[0] != 'S';
    return done(r, MEMCACHED_REFUSED);
}

static int first(struct memc_reader *r)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].kinds & r->kind && strcmp(r->line, words[i].text) == 0)
            return done(r, words[i].result);
    }
    if (r->kind == MEMC_GET && has_prefix(r->line, "VALUE "))
        return begin_value(r);
    if (r->kind == MEMC_PROBE && has_prefix(r->line, "VERSION "))
        return done(r, MEMCACHED_OK);
    if (r->kind == MEMC_NUMBER && r->line[0] >= '0' && r->line[0] <= '9')
        return read_count(r);
    return read_refusal(r);
}

static int tail(struct memc_reader *r)
{
    if (r->line[0] != '\0')
        return malformed(r, "a value longer than was said");
    r->state = MEMC_READER_END;
    return 0;
}

static int finish(struct memc_reader *r)
{
    return strcmp(r->line, "END") == 0 ? done(r, MEMCACHED_OK) : malformed(r, "no END");
}

/* A complete line, without its end and terminated. */
static int on_line(struct memc_reader *r)
{
    if (strlen(r->line) + 2 != r->line_len)
        return malformed(r, "a line with NUL");
    r->line_len = 0;
    switch (r->state) {
    case MEMC_READER_FIRST:
        return first(r);
    case MEMC_READER_TAIL:
        return tail(r);
    default:
        return finish(r);
    }
}

static ssize_t read_line(struct memc_reader *r, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (r->line_len == sizeof(r->line))
            return malformed(r, "a line that is too long");
        r->line[r->line_len++] = bytes[i];
        if (bytes[i] != '\n')
            continue;
        if (r->line_len < 2 || r->line[r->line_len - 2] != '\r')
            return malformed(r, "a line without CR");
        r->line[r->line_len - 2] = '\0';
        return on_line(r) < 0 ? -1 : (ssize_t)i + 1;
    }
    return (ssize_t)len;
}

/* ---- values ---- */

/* A length that was only announced costs no memory. */
static int make_room(struct memc_reader *r, size_t len)
{
    size_t room = r->value_room * 2;
    char *bytes;

    if (r->value && r->value_got + len < r->value_room)
        return 0;
    room = room > r->value_got + len + 1 ? room : r->value_got + len + 1;
    room = room > MEMC_VALUE_STEP ? room : MEMC_VALUE_STEP;
    room = room < r->value_len + 1 ? room : r->value_len + 1;
    bytes = realloc(r->value, room);
    if (!bytes)
        return malformed(r, "no memory");
    r->value = bytes;
    r->value_room = room;
    return 0;
}

static ssize_t read_value(struct memc_reader *r, const char *bytes, size_t len)
{
    const size_t missing = r->value_len - r->value_got, n = len < missing ? len : missing;

    if (make_room(r, n) < 0)
        return -1;
    if (n > 0)
        memcpy(r->value + r->value_got, bytes, n);
    r->value_got += n;
    r->value[r->value_got] = '\0';
    if (r->value_got == r->value_len)
        r->state = MEMC_READER_TAIL;
    return (ssize_t)n;
}

/* ---- the reader ---- */

void memc_reader_begin(struct memc_reader *r, enum memc_kind kind, const char *key, size_t key_len,
                       size_t value_max)
{
    *r = (struct memc_reader){.kind = kind, .key = key, .key_len = key_len, .value_max = value_max};
}

ssize_t memc_reader_feed(struct memc_reader *r, const char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len && r->state != MEMC_READER_DONE) {
        const ssize_t n = r->state == MEMC_READER_VALUE ? read_value(r, bytes + at, len - at)
                                                        : read_line(r, bytes + at, len - at);

        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    return (ssize_t)at;
}

void memc_reader_fini(struct memc_reader *r)
{
    free(r->value);
    r->value = NULL;
}
