/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <stdio.h>

enum { PIECE = 4096 };

/* @return whether there is room for len bytes more */
static bool make_room(struct json_out *out, size_t len)
{
    size_t room;
    char *text;

    if (out->room - out->len >= len)
        return true;
    room = 2 * out->room + len + 64;
    text = json_memory->realloc(out->text, room);
    if (!text)
        return false;
    out->text = text;
    out->room = room;
    return true;
}

static void gather(struct json_out *out, const char *bytes, size_t len)
{
    if (out->has_failed || !make_room(out, len)) {
        out->has_failed = true;
        return;
    }
    memcpy(out->text + out->len, bytes, len);
    out->len += len;
}

void json_flush(struct json_out *out)
{
    if (!out->has_failed && out->len > 0 && out->give(out->user, out->text, out->len) != 0)
        out->has_failed = true;
    out->len = 0;
}

void json_put(struct json_out *out, const char *bytes, size_t len)
{
    while (out->give && len > PIECE - out->len && !out->has_failed) {
        const size_t part = PIECE - out->len;

        gather(out, bytes, part);
        json_flush(out);
        bytes += part;
        len -= part;
    }
    gather(out, bytes, len);
}

static void put_escaped(struct json_out *out, char c)
{
    char escape[8];

    if (c == '"' || c == '\\')
        (void)snprintf(escape, sizeof(escape), "\\%c", c);
    else
        (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)(unsigned char)c);
    json_put(out, escape, strlen(escape));
}

void json_put_string(struct json_out *out, const char *text)
{
    json_put(out, "\"", 1);
    while (text && *text) {
        size_t plain = 0;

        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
            plain++;
        json_put(out, text, plain);
        text += plain;
        if (*text)
            put_escaped(out, *text++);
    }
    json_put(out, "\"", 1);
}
