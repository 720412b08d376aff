/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/choice.h"

#include "kit/text/words.h"

struct mk_str text_parameter(struct mk_str query, struct mk_str name)
{
    while (query.len > 0) {
        struct mk_str part = text_cut(&query, '&'), value = part, key = text_cut(&value, '=');

        if (key.len < part.len && text_is(key, name))
            return value;
    }
    return (struct mk_str){NULL, 0};
}

/* "q=0.25": 250 (RFC 9110 section 12.4.2); 1000 for what is none. */
static int weight_in(struct mk_str parameters)
{
    int weight = 1000;

    while (parameters.len > 0) {
        struct mk_str one = text_trim(text_cut(&parameters, ';'));

        if (one.len < 3 || (one.p[0] | 0x20) != 'q' || one.p[1] != '=' || one.p[2] != '0')
            continue;
        weight = 0;
        for (size_t i = 4, unit = 100; i < one.len && unit > 0; i++, unit /= 10)
            weight += (int)unit * (one.p[i] >= '0' && one.p[i] <= '9' ? one.p[i] - '0' : 0);
    }
    return weight;
}

int text_weight(struct mk_str accept, struct mk_str type)
{
    int weight = 0;

    while (accept.len > 0) {
        struct mk_str parameters = text_cut(&accept, ',');

        if (text_is_word(text_trim(text_cut(&parameters, ';')), type))
            weight = weight_in(parameters);
    }
    return weight;
}
