/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/str.h"
#include "settings/field.h"
#include "settings/units_int.h"

#include <stdbool.h>

/* The single values: a word in, a number or a flag out. */

const struct mk_unit mk_size_units[MK_SIZE_UNITS] = {
    {"B", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
const struct mk_unit mk_time_units[MK_TIME_UNITS] = {
    {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 86400 * 1000}};

int mk_read_bool(struct mk_str s, bool *value)
{
    static const struct {
        char name[6];
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
static int read_quantity(struct mk_str s, const struct mk_unit *units, size_t nunits, int64_t bare,
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
    return read_quantity(s, mk_size_units, MK_SIZE_UNITS, unit > 0 ? unit : 1, bytes);
}

int mk_read_time(struct mk_str s, int64_t *ms)
{
    return read_quantity(s, mk_time_units, MK_TIME_UNITS, 1000, ms);
}
