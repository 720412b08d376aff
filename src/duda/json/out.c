/* SPDX-License-Identifier: Apache-2.0 */
#include "json/out.h"
#include "kit/json/scan.h"
#include "kit/pure/hex.h"

enum { FIRST_ROOM = 1024 };

static int grow(struct mk_json *j, size_t needed, void *arg)
{
    const size_t room = 2 * j->size + needed + FIRST_ROOM;
    char *text = json_memory->realloc(j->p, room);

    (void)arg;
    if (!text)
        return MK_E_NOMEM;
    j->p = text;
    j->size = room;
    return 0;
}

static int give(struct mk_json *j, size_t needed, void *arg)
{
    const struct json_out *out = arg;
    const size_t len = j->len;

    (void)needed;
    j->len = 0;
    return len == 0 || out->give(out->user, j->p, len) == 0 ? 0 : MK_E_PEER;
}

void json_out_grow(struct json_out *out)
{
    *out = (struct json_out){.j = {.room = grow, .after = JSON_AT_END}};
}

void json_out_give(struct json_out *out, char piece[JSON_PIECE], json_put_fn give_piece, void *user)
{
    *out = (struct json_out){
        .j = {.p = piece, .size = JSON_PIECE, .room = give, .arg = out, .after = JSON_AT_END},
        .give = give_piece,
        .user = user};
}

void json_out_flush(struct json_out *out)
{
    const int err = out->j.error < 0 ? 0 : give(&out->j, 0, out);

    if (err < 0)
        json_fail(&out->j, err);
}

static char *put_escape(char *to, char c)
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

static size_t escape(char *dst, struct mk_str piece)
{
    const char *p = piece.p, *end = p + piece.len;
    char *to = dst;

    while (p < end) {
        p = json_copy_plain(&to, p, end, false);
        if (p < end)
            to = put_escape(to, *p++);
    }
    return (size_t)(to - dst);
}

void json_put_string(struct mk_json *j, const char *text)
{
    const struct mk_str s = {text ? text : "", text ? strlen(text) : 0};

    if (!json_put_plain(j, s, false, false))
        json_put_escaped(j, s, escape);
}
