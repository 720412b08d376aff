/* SPDX-License-Identifier: Apache-2.0 */
#include "json/out.h"
#include "kit/pure/hex.h"
#include "json/scan.h"

enum {
    PIECE = 4096,
    STRETCH = 512,   /* bytes of a string for which there is room at once */
    ESCAPE_ROOM = 6, /* of one byte: \u001f */
    FIRST_ROOM = 1024,
};

void json_flush(struct json_out *out)
{
    size_t done = 0;

    while (!out->has_failed && done < out->len) {
        const size_t part = out->len - done < PIECE ? out->len - done : PIECE;

        if (out->give(out->user, out->text + done, part) != 0)
            out->has_failed = true;
        done += part;
    }
    out->len = 0;
}

/* Give whole pieces; what is left stays. */
static void give_pieces(struct json_out *out)
{
    const size_t len = out->len, left = len % PIECE;

    out->len -= left;
    json_flush(out);
    memmove(out->text, out->text + len - left, left);
    out->len = left;
}

char *json_make_room(struct json_out *out, size_t len)
{
    size_t room;
    char *text;

    if (out->give && out->len >= PIECE)
        give_pieces(out);
    if (out->has_failed)
        return NULL;
    if (out->room - out->len >= len)
        return out->text + out->len;
    room = 2 * out->room + len + FIRST_ROOM;
    text = json_memory->realloc(out->text, room);
    if (!text) {
        out->has_failed = true;
        return NULL;
    }
    out->text = text;
    out->room = room;
    return text + out->len;
}

void json_put(struct json_out *out, const char *bytes, size_t len)
{
    char *to = json_room(out, len);

    if (!to)
        return;
    memcpy(to, bytes, len);
    out->len += len;
}

static char *put_escaped(char *to, char c)
{
    *to++ = '\\';
    if (c == '"' || c == '\\') {
        *to++ = c;
        return to;
    }
    memcpy(to, "u00", 3);
    hex_write(to + 3, &c, 1);
    return to + 5;
}

/* @return behind what p to end are within a string */
static char *put_stretch(char *to, const char *p, const char *end)
{
    while (p < end) {
        p = json_copy_plain(&to, p, end, false);
        if (p < end)
            to = put_escaped(to, *p++);
    }
    return to;
}

static void put_long_string(struct json_out *out, const char *text, size_t len)
{
    JSON_PUT(out, "\"");
    while (len > 0) {
        const size_t part = len < STRETCH ? len : STRETCH;
        char *to = json_room(out, part * ESCAPE_ROOM);

        if (!to)
            return;
        out->len = (size_t)(put_stretch(to, text, text + part) - out->text);
        text += part;
        len -= part;
    }
    JSON_PUT(out, "\"");
}

void json_put_string(struct json_out *out, const char *text)
{
    const size_t len = text ? strlen(text) : 0;
    char *to;

    if (len > STRETCH) {
        put_long_string(out, text, len);
        return;
    }
    to = json_room(out, len * ESCAPE_ROOM + 2);
    if (!to)
        return;
    *to++ = '"';
    to = len > 0 ? put_stretch(to, text, text + len) : to;
    *to++ = '"';
    out->len = (size_t)(to - out->text);
}
