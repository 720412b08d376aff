/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "base/str.h"
#include "settings/field.h"

#include <stdbool.h>

/* The single values: a word in, a number or a flag out. */

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit size_units[] = {
    {"b", 1},
    {"k", 1 << 10},
    {"m", 1 << 20},
    {"g", 1 << 30},
};

static const struct unit time_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 86400 * 1000},
};

int mk_read_bool(struct mk_str s, bool *value)
{
    static const struct {
        const char *name;
        bool value;
    } words[] = {{"on", true},  {"off", false}, {"yes", true},
                 {"no", false}, {"true", true}, {"false", false}};

    for (size_t i = 0; i < MK_ARRAY_LEN(words); i++) {
        if (mk_str_ieq(s, mk_str_from(words[i].name))) {
            *value = words[i].value;
            return 0;
        }
    }
    return MK_E_BAD;
}

/* A number and the unit right behind it; bare is the factor of a number without unit. */
static int read_quantity(struct mk_str s, const struct unit *units, size_t nunits, int64_t bare,
                         int64_t *value)
{
    size_t digits = 0;
    int64_t factor = 0;
    uint64_t n;
    int err;

    while (digits < s.len && (unsigned char)(s.p[digits] - '0') < 10)
        digits++;
    if (digits == s.len)
        factor = bare;
    for (size_t i = 0; i < nunits; i++) {
        if (mk_str_ieq(mk_str_skip(s, digits), mk_str_from(units[i].name)))
            factor = units[i].factor;
    }
    if (factor == 0)
        return MK_E_BAD;
    err = mk_str_to_u64((struct mk_str){s.p, digits}, (uint64_t)(INT64_MAX / factor), &n);
    if (err < 0)
        return err;
    *value = (int64_t)n * factor;
    return 0;
}

int mk_read_size(struct mk_str s, int64_t unit, int64_t *bytes)
{
    return read_quantity(s, size_units, MK_ARRAY_LEN(size_units), unit > 0 ? unit : 1, bytes);
}

int mk_read_time(struct mk_str s, int64_t *ms)
{
    return read_quantity(s, time_units, MK_ARRAY_LEN(time_units), 1000, ms);
}
