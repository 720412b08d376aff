/* SPDX-License-Identifier: Apache-2.0 */
#include "http/range.h"

#include "base/limits.h"
#include "base/str.h"

#include <monkey/field.h>

#include <stdbool.h>

/** What one written range comes to. */
enum verdict { SATISFIABLE, UNSATISFIABLE, IGNORED };

/** Digits only; a number above 64 bits counts as the largest. */
static bool parse_number(struct mk_str s, uint64_t *n)
{
    int err = mk_str_to_u64(s, UINT64_MAX - 1, n);

    if (err == MK_E_LIMIT)
        *n = UINT64_MAX;
    return err != MK_E_BAD;
}

static enum verdict parse_suffix(struct mk_str digits, uint64_t size, struct mk_range *range)
{
    uint64_t length;

    if (!parse_number(digits, &length))
        return IGNORED;
    if (length == 0)
        return UNSATISFIABLE;
    if (size == 0) /* satisfiable, says RFC 9110 section 14.1.2, but no 206 can express it */
        return IGNORED;
    range->first = length < size ? size - length : 0;
    range->last = size - 1;
    return SATISFIABLE;
}

static enum verdict parse_range(struct mk_str spec, uint64_t size, struct mk_range *range)
{
    const char *dash = memchr(spec.p, '-', spec.len);
    struct mk_str from, to;

    if (!dash)
        return IGNORED;
    from = (struct mk_str){spec.p, (size_t)(dash - spec.p)};
    to = mk_str_skip(spec, from.len + 1);
    if (from.len == 0)
        return parse_suffix(to, size, range);
    range->last = UINT64_MAX;
    if (!parse_number(from, &range->first) || (to.len > 0 && !parse_number(to, &range->last)) ||
        range->last < range->first)
        return IGNORED;
    if (range->first >= size)
        return UNSATISFIABLE;
    if (range->last >= size)
        range->last = size - 1;
    return SATISFIABLE;
}

/** Overlapping or adjoining; both lie within a size, so last + 1 does not overflow. */
static bool touches(const struct mk_range *a, const struct mk_range *b)
{
    return a->first <= b->last + 1 && b->first <= a->last + 1;
}

static void widen(struct mk_range *to, const struct mk_range *with)
{
    if (with->first < to->first)
        to->first = with->first;
    if (with->last > to->last)
        to->last = with->last;
}

/** Fold every later range that touches ranges[at] into it. @return how many are left. */
static int fold(struct mk_range *ranges, int count, int at)
{
    for (int i = at + 1; i < count;) {
        if (!touches(&ranges[at], &ranges[i])) {
            i++;
            continue;
        }
        widen(&ranges[at], &ranges[i]);
        count--;
        memmove(ranges + i, ranges + i + 1, (size_t)(count - i) * sizeof(*ranges));
        i = at + 1; /* wider now: those passed over may touch it */
    }
    return count;
}

static int merge(struct mk_range *ranges, int count)
{
    for (int i = 0; i < count; i++)
        count = fold(ranges, count, i);
    return count;
}

/** Read the list behind "bytes=". @return satisfiable ranges in all, or MK_E_BAD. */
static int parse_list(struct mk_str list, uint64_t size, struct mk_range *all)
{
    struct mk_str spec;
    int asked = 0, count = 0;

    while (mk_list_next(&list, &spec)) {
        enum verdict verdict;

        if (++asked > MK_LIMIT_RANGES_ASKED)
            return MK_E_BAD;
        verdict = parse_range(spec, size, &all[count]);
        if (verdict == IGNORED)
            return MK_E_BAD;
        if (verdict == SATISFIABLE)
            count++;
    }
    return asked > 0 ? count : MK_E_BAD;
}

int mk_range_parse(struct mk_str value, uint64_t size, struct mk_range *ranges, int max)
{
    const struct mk_str unit = MK_STR("bytes=");
    struct mk_range all[MK_LIMIT_RANGES_ASKED];
    int count;

    if (value.len < unit.len || !mk_str_ieq((struct mk_str){value.p, unit.len}, unit))
        return 0;
    count = parse_list(mk_str_skip(value, unit.len), size, all);
    if (count < 0)
        return 0;
    if (count == 0)
        return MK_E_INVALID;
    count = merge(all, count);
    if (count > max)
        return 0;
    memcpy(ranges, all, (size_t)count * sizeof(*ranges));
    return count;
}
