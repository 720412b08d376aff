/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "kit/pure/hex.h"
#include "kit/text/words.h"

#include <string.h>

void rewrite_values_of(struct values *v, const struct mk_request *r)
{
    memset(&v->of_target, 0, sizeof(v->of_target));
    for (int which = MK_VARIABLE_TEXT + 1; which < MK_VARIABLE_COUNT; which++)
        v->of_target.variables[which] = mk_request_variable(r, which, v->room[which]);
}

/* @return whether text began with it, which is taken away. */
static bool take(struct mk_str *text, struct mk_str beginning)
{
    if (!text_begins(*text, beginning))
        return false;
    *text = (struct mk_str){text->p + beginning.len, text->len - beginning.len};
    return true;
}

/* RFC 9110 section 4.2.3: the same with or without the port of the scheme, and with a slash or nothing after it. */
static bool take_origin(struct mk_str *location, const struct values *v)
{
    const struct mk_str *of = v->of_target.variables, sent = of[MK_VARIABLE_HTTP_HOST],
                        name = of[MK_VARIABLE_HOST];
    const bool is_secure = text_is(of[MK_VARIABLE_SCHEME], MK_STR("https"));
    const struct mk_str own_port = is_secure ? MK_STR(":443") : MK_STR(":80");

    if (!take(location, of[MK_VARIABLE_SCHEME]) || !take(location, MK_STR("://")))
        return false;
    if (take(location, sent))
        return true;
    if (!take(location, name))
        return false;
    return text_is(sent, name) ||
           (sent.len == name.len + own_port.len &&
            memcmp(sent.p + sent.len - own_port.len, own_port.p, own_port.len) == 0);
}

/* @return the next byte of an encoded text, decoded; -1: there is none. */
static int next_byte(struct mk_str *s)
{
    const bool is_code = s->len > 2 && s->p[0] == '%';
    const int high = is_code ? hex_value(s->p[1]) : -1, low = is_code ? hex_value(s->p[2]) : -1;
    const size_t len = high >= 0 && low >= 0 ? 3 : 1;
    int byte;

    if (s->len == 0)
        return -1;
    byte = len > 1 ? high * 16 + low : (unsigned char)s->p[0];
    *s = (struct mk_str){s->p + len, s->len - len};
    return byte;
}

/* @param path  decoded, as requests' paths are: of several slashes it has one */
static bool is_path(struct mk_str location, struct mk_str path)
{
    int byte, before = 0;

    while ((byte = next_byte(&location)) >= 0) {
        if (byte == '/' && before == '/')
            continue;
        if (path.len == 0 || byte != (unsigned char)path.p[0])
            return false;
        path = (struct mk_str){path.p + 1, path.len - 1};
        before = byte;
    }
    return path.len == 0;
}

static bool is_query(struct mk_str a, struct mk_str b)
{
    int byte;

    do {
        byte = next_byte(&a);
        if (byte != next_byte(&b))
            return false;
    } while (byte >= 0);
    return true;
}

bool rewrite_values_lead_here(const struct values *v, struct mk_str location)
{
    const struct mk_str *of = v->of_target.variables;
    struct mk_str query, path;

    if (location.len > 0 && location.p[0] != '/' && !take_origin(&location, v))
        return false;
    query = text_cut(&location, '#'); /* a fragment is the client's own */
    if (text_is(query, of[MK_VARIABLE_TARGET]))
        return true;
    path = text_cut(&query, '?');
    return is_path(path.len > 0 ? path : MK_STR("/"), of[MK_VARIABLE_PATH]) &&
           is_query(query, of[MK_VARIABLE_QUERY]);
}
