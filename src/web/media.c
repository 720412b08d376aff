/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/media.h>

#include "base/str.h"
#include "kit/text/words.h"
#include "web/parameter.h"

/* token of RFC 9110 section 5.6.2 */
static bool is_token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_token_byte(text.p[i]))
            return false;
    }
    return text.len > 0;
}

/* Parameters may be empty (section 5.6.6). */
static bool has_parameters(struct mk_str rest)
{
    struct mk_str name, value;
    int found = 1;

    while (found > 0) {
        rest = mk_str_trim(rest);
        while (rest.len > 0 && rest.p[0] == ';') {
            const struct mk_str behind = mk_str_trim(mk_str_skip(rest, 1));

            if (behind.len > 0 && behind.p[0] != ';')
                break;
            rest = behind;
        }
        found = mk_parameter_next(&rest, &name, &value);
    }
    return found == 0;
}

/* The type and its subtype are one slash apart. @return false: they are not */
static bool split(struct mk_str essence, struct mk_str *subtype)
{
    const struct mk_str type = text_cut(&essence, '/');

    *subtype = essence;
    return is_token(type) && is_token(*subtype);
}

static bool has_suffix(struct mk_str subtype, struct mk_str suffix)
{
    const size_t before = subtype.len > suffix.len ? subtype.len - suffix.len : 0;

    return before > 1 && subtype.p[before - 1] == '+' &&
           mk_str_ieq(mk_str_skip(subtype, before), suffix);
}

bool mk_media_is(struct mk_str value, struct mk_str type)
{
    size_t len = 0;
    struct mk_str essence, subtype, suffix;

    while (len < value.len && value.p[len] != ';')
        len++;
    essence = mk_str_trim((struct mk_str){value.p, len});
    if (!split(essence, &subtype) || !split(type, &suffix) ||
        !has_parameters(mk_str_skip(value, len)))
        return false;
    return mk_str_ieq(essence, type) || has_suffix(subtype, suffix);
}
