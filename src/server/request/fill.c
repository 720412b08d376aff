/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/fill.h"

#include "base/limits.h"
#include "base/str.h"
#include "http/escape.h"

enum writing { AS_IT_IS, AS_PATH, AS_VALUE, AS_NAME, AS_HOST };

/* The target, the query and the host were sent as parts of a URL, and judged so. */
static enum writing writing_of(int which, enum mk_fill_place place)
{
    switch (which) {
    case MK_VARIABLE_TEXT:
    case MK_VARIABLE_ENVIRONMENT:
        return AS_IT_IS;
    case MK_VARIABLE_PATH:
        return place == MK_FILL_QUERY ? AS_VALUE : place == MK_FILL_FILE ? AS_IT_IS : AS_PATH;
    case MK_VARIABLE_QUERY:
        return place == MK_FILL_FILE ? AS_NAME : AS_IT_IS;
    case MK_VARIABLE_HOST:
    case MK_VARIABLE_HTTP_HOST:
        if (place == MK_FILL_URL)
            return AS_IT_IS;
        if (place == MK_FILL_FILE)
            return AS_HOST;
        break;
    case MK_VARIABLE_TARGET:
    case MK_VARIABLE_SCHEME:
        if (place == MK_FILL_URL)
            return AS_IT_IS;
        break;
    default:
        break;
    }
    return place == MK_FILL_LINE ? AS_IT_IS : place == MK_FILL_FILE ? AS_NAME : AS_VALUE;
}

/* What a client sends could lead elsewhere: ".." is a host to the grammar of RFC 3986 section 3.2.2. */
static bool is_name(struct mk_str value)
{
    return value.len > 0 && value.p[0] != '.' && !memchr(value.p, '/', value.len);
}

static size_t write_value(char *dst, struct mk_str value, enum writing writing)
{
    if (writing == AS_PATH)
        return mk_escape_path(dst, value);
    if (writing == AS_VALUE)
        return mk_escape_value(dst, value);
    for (size_t i = 0; i < value.len; i++) /* names of hosts have no case, and files have */
        dst[i] = writing == AS_HOST ? mk_char_lower(value.p[i]) : value.p[i];
    return value.len;
}

/* "$uri/" and "/a$uri" have one slash where two texts meet. */
static struct mk_str meet(struct mk_str value, const struct mk_template_piece *piece, bool is_last,
                          char before)
{
    if (piece->which == MK_VARIABLE_PATH && !is_last && value.len > 1 &&
        value.p[value.len - 1] == '/')
        value.len--;
    return before == '/' && value.len > 0 && value.p[0] == '/' ? mk_str_skip(value, 1) : value;
}

/* As QUERY, which URL becomes, no value is shorter. */
static char *make_room(struct mk_request *r, const struct mk_template *t, enum mk_fill_place place)
{
    char room[MK_VARIABLE_ROOM];
    size_t size = 1;

    for (size_t i = 0; i < t->count; i++) {
        const enum writing writing = writing_of(t->pieces[i].which, place);
        const size_t len = mk_template_value(&t->pieces[i], r, room).len;

        size += writing == AS_PATH || writing == AS_VALUE ? len * MK_ESCAPE_URI_GROWTH : len;
    }
    return size <= MK_LIMIT_FILLED ? mk_arena_alloc(&r->arena, size) : NULL;
}

struct mk_str mk_template_fill(struct mk_request *r, const struct mk_template *t,
                               enum mk_fill_place place)
{
    char room[MK_VARIABLE_ROOM],
        *dst = make_room(r, t, place == MK_FILL_URL ? MK_FILL_QUERY : place);
    size_t len = 0;

    if (!dst)
        return (struct mk_str){NULL, 0};
    for (size_t i = 0; i < t->count; i++) {
        const struct mk_template_piece *piece = &t->pieces[i];
        const enum writing writing = writing_of(piece->which, place);
        struct mk_str value = mk_template_value(piece, r, room);

        if (writing >= AS_NAME && !is_name(value))
            return (struct mk_str){dst, 0};
        if (place == MK_FILL_FILE)
            value = meet(value, piece, i + 1 == t->count, len > 0 ? dst[len - 1] : '\0');
        len += write_value(dst + len, value, writing);
        if (place == MK_FILL_URL && mk_template_is_text(piece) && value.len > 0 &&
            memchr(value.p, '?', value.len))
            place = MK_FILL_QUERY;
    }
    dst[len] = '\0';
    return (struct mk_str){dst, len};
}
