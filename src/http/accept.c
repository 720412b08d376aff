/* SPDX-License-Identifier: Apache-2.0 */
#include "http/accept.h"

#include "base/str.h"

#include <monkey/field.h>

enum { MALFORMED = -1, ABSENT = -2 };

int mk_accept_weight(struct mk_str s)
{
    int value, scale = 1000;

    if (s.len == 0 || s.len > 5 || (s.p[0] != '0' && s.p[0] != '1'))
        return MALFORMED;
    if (s.len > 1 && s.p[1] != '.')
        return MALFORMED;
    value = (s.p[0] - '0') * scale;
    for (size_t i = 2; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return MALFORMED;
        scale /= 10;
        value += (s.p[i] - '0') * scale;
    }
    return value <= 1000 ? value : MALFORMED;
}

/** Split "gzip;q=0.5". @return its weight or MALFORMED. */
static int parse_member(struct mk_str member, struct mk_str *name)
{
    const char *semicolon = memchr(member.p, ';', member.len);
    struct mk_str weight;

    *name = member;
    if (!semicolon)
        return 1000;
    name->len = (size_t)(semicolon - member.p);
    weight = mk_str_trim(mk_str_skip(member, name->len + 1));
    *name = mk_str_trim(*name);
    if (weight.len < 2 || mk_char_lower(weight.p[0]) != 'q' || weight.p[1] != '=')
        return MALFORMED;
    return mk_accept_weight(mk_str_skip(weight, 2));
}

static bool names_coding(struct mk_str name, struct mk_str coding)
{
    if (mk_str_ieq(name, coding))
        return true;
    return mk_str_ieq(name, MK_STR("x-gzip")) && mk_str_ieq(coding, MK_STR("gzip"));
}

unsigned mk_accept_encoding(struct mk_str accept, struct mk_str coding)
{
    bool identity = mk_str_ieq(coding, MK_STR("identity"));
    int any = ABSENT;
    struct mk_str member, name;

    while (mk_list_next(&accept, &member)) {
        int weight = parse_member(member, &name);

        if (weight == MALFORMED)
            continue;
        if (names_coding(name, coding))
            return (unsigned)weight;
        if (any == ABSENT && mk_str_eq(name, MK_STR("*")))
            any = weight;
    }
    if (identity)
        return any == 0 ? 0 : 1;
    return any == ABSENT ? 0 : (unsigned)any;
}
