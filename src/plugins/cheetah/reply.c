/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include "kit/text/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- room ---- */

/* @return where len bytes go, or NULL: they do not fit, or there is no memory. */
static char *make_room(struct reply *r, size_t len)
{
    size_t room = r->room ? r->room : 512;
    char *p;

    if (r->failed)
        return NULL;
    if (len > REPLY_MAX - r->len) {
        r->truncated = true;
        return NULL;
    }
    while (room - r->len < len)
        room *= 2;
    if (room != r->room) {
        p = realloc(r->p, room);
        if (!p) {
            r->failed = true;
            return NULL;
        }
        r->p = p;
        r->room = room;
    }
    p = r->p + r->len;
    r->len += len;
    return p;
}

static void put(struct reply *r, const char *bytes, size_t len)
{
    char *p = make_room(r, len);

    if (p && len > 0)
        memcpy(p, bytes, len);
}

static void put_word(struct reply *r, const char *text)
{
    put(r, text, strlen(text));
}

static void pad(struct reply *r, size_t count)
{
    char *p = make_room(r, count);

    if (p)
        memset(p, ' ', count);
}

/* ---- bytes of others ---- */

static bool is_plain(const struct reply *r, unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '\\' && !(r->json && c == '"');
}

static void put_escape(struct reply *r, unsigned char c)
{
    char text[TEXT_JSON_GROWTH];
    bool is_coded = r->json && c != '"' && c != '\\';

    put(r, text, is_coded ? text_json_byte(text, c) : text_line_byte(text, c));
}

static void put_escaped(struct reply *r, struct mk_str s)
{
    size_t done = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_plain(r, c))
            continue;
        put(r, s.p + done, i - done);
        put_escape(r, c);
        done = i + 1;
    }
    put(r, s.p + done, s.len - done);
}

/* ---- members ---- */

static void comma(struct reply *r)
{
    if (r->has_member)
        put_word(r, ", ");
    r->has_member = true;
}

static void put_key(struct reply *r, const char *key)
{
    if (r->json) {
        comma(r);
        put_word(r, "\"");
        put_word(r, key);
        put_word(r, "\": ");
    } else if (!r->columns) {
        put_word(r, key);
        put_word(r, ": ");
    }
}

/* In words: fill the cell that began at an offset, or end the line. */
static void end_value(struct reply *r, size_t began)
{
    if (r->json)
        return;
    if (!r->columns) {
        put_word(r, "\n");
        return;
    }
    if (r->len - began < r->columns[r->column].width)
        pad(r, r->columns[r->column].width - (r->len - began));
    put_word(r, "  ");
    r->column++;
}

void cheetah_reply_text(struct reply *r, const char *key, struct mk_str value)
{
    size_t began;

    put_key(r, key);
    began = r->len;
    if (r->json)
        put_word(r, "\"");
    put_escaped(r, value);
    if (!r->json && r->columns && value.len == 0)
        put_word(r, "-");
    if (r->json)
        put_word(r, "\"");
    end_value(r, began);
}

void cheetah_reply_own(struct reply *r, const char *key, const char *value)
{
    size_t began;

    if (r->json || !value[0]) {
        cheetah_reply_text(r, key, mk_str_from(value));
        return;
    }
    put_key(r, key);
    began = r->len;
    put_word(r, value);
    end_value(r, began);
}

void cheetah_reply_number(struct reply *r, const char *key, uint64_t value)
{
    char text[24];
    size_t began;

    put_key(r, key);
    began = r->len;
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    put_word(r, text);
    end_value(r, began);
}

void cheetah_reply_real(struct reply *r, const char *key, double value)
{
    char text[32];
    size_t began;

    put_key(r, key);
    began = r->len;
    (void)snprintf(text, sizeof(text), "%.15g", value);
    put_word(r, text);
    end_value(r, began);
}

/* ---- lists ---- */

/* The blanks that fill up the last cell say nothing. */
static void end_line(struct reply *r)
{
    while (r->len > r->row_at && r->p[r->len - 1] == ' ')
        r->len--;
    put_word(r, "\n");
}

void cheetah_reply_list(struct reply *r, const char *key, const struct reply_column *columns,
                        unsigned ncolumns)
{
    if (r->json) {
        put_key(r, key);
        put_word(r, "[");
        r->has_member = false;
        return;
    }
    put_word(r, key);
    put_word(r, ":\n");
    r->row_at = r->len;
    r->columns = columns;
    r->column = 0;
    put_word(r, "  ");
    for (unsigned i = 0; i < ncolumns; i++) {
        size_t began = r->len;

        put_word(r, columns[i].title);
        end_value(r, began);
    }
    r->columns = NULL;
    end_line(r);
}

void cheetah_reply_row(struct reply *r, const struct reply_column *columns)
{
    r->row_at = r->len;
    r->columns = columns;
    r->column = 0;
    if (r->json) {
        comma(r);
        put_word(r, "{");
        r->has_member = false;
    } else {
        put_word(r, "  ");
    }
}

/* Keep what came since row_at, if it and everything before it fits. */
static void end_row(struct reply *r, bool had_rows)
{
    if (r->len > REPLY_MAX - REPLY_RESERVE)
        r->truncated = true;
    if (r->truncated) {
        r->len = r->row_at;
        r->has_member = had_rows;
    }
}

void cheetah_reply_row_end(struct reply *r)
{
    /* Without a row before it there was no comma. */
    bool had_rows = r->json && !r->failed && r->len > r->row_at && r->p[r->row_at] == ',';

    r->columns = NULL;
    if (r->json)
        put_word(r, "}");
    else
        end_line(r);
    r->has_member = true;
    end_row(r, had_rows);
}

void cheetah_reply_list_end(struct reply *r)
{
    if (r->json)
        put_word(r, "]");
    r->has_member = true;
}

static void put_formatted(struct reply *r, const char *fmt, va_list args) MK_PRINTF(2, 0);

static void put_formatted(struct reply *r, const char *fmt, va_list args)
{
    char text[1024];
    int len = vsnprintf(text, sizeof(text), fmt, args);

    if (len > 0)
        put(r, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void cheetah_reply_raw(struct reply *r, const char *fmt, ...)
{
    va_list args;

    r->row_at = r->len;
    va_start(args, fmt);
    put_formatted(r, fmt, args);
    va_end(args);
    end_row(r, false);
}

/* ---- the whole ---- */

void cheetah_reply_begin(struct reply *r, bool json)
{
    *r = (struct reply){.json = json};
    if (json)
        put_word(r, "{");
}

void cheetah_reply_free(struct reply *r)
{
    free(r->p);
    *r = (struct reply){0};
}

void cheetah_reply_end(struct reply *r)
{
    static const char words[] = "error: out of memory\n";
    static const char object[] = "{\"error\": \"out of memory\"}\n";

    if (r->truncated && r->json)
        put_word(r, r->has_member ? ", \"truncated\": true" : "\"truncated\": true");
    else if (r->truncated)
        put_word(r, "truncated: the reply is longer than 4 MB\n");
    if (r->json)
        put_word(r, "}\n");
    if (!r->failed || !r->p)
        return;
    r->len = 0; /* the first piece had room for this */
    r->failed = false;
    put_word(r, r->json ? object : words);
}

void cheetah_reply_add(struct reply *r, const char *text)
{
    put_word(r, text);
}

void cheetah_reply_error(struct reply *r, bool json, const char *fmt, ...)
{
    char text[512];
    va_list args;

    cheetah_reply_free(r);
    cheetah_reply_begin(r, json);
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    cheetah_reply_text(r, "error", mk_str_from(text));
    cheetah_reply_end(r);
}
