/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "http/accept.h"
#include "http/preconditions.h"
#include "http/range.h"

#include <stdio.h>

/*
 * Any bytes as a Range value: what comes out lies within the size, in ranges that neither
 * overlap nor adjoin, and reads the same when written again. The other fields that choose what
 * is sent are read from the same bytes.
 * Input: eight bytes of size, the value.
 */

static void check_ranges(const struct mk_range *ranges, int count, uint64_t size)
{
    for (int i = 0; i < count; i++) {
        require(ranges[i].first <= ranges[i].last && ranges[i].last < size);
        for (int k = 0; k < i; k++) {
            require(ranges[i].first > ranges[k].last + 1 || ranges[k].first > ranges[i].last + 1);
        }
    }
}

static void check_again(const struct mk_range *ranges, int count, uint64_t size)
{
    char text[6 + MK_LIMIT_RANGES * 48] = "bytes=";
    struct mk_range again[MK_LIMIT_RANGES];
    size_t len = 6;

    for (int i = 0; i < count; i++) {
        int n = snprintf(text + len, sizeof(text) - len, "%llu-%llu,",
                         (unsigned long long)ranges[i].first, (unsigned long long)ranges[i].last);

        len += (size_t)n;
    }
    require(mk_range_parse((struct mk_str){text, len}, size, again, MK_LIMIT_RANGES) == count);
    require(memcmp(ranges, again, (size_t)count * sizeof(*ranges)) == 0);
}

static void check_others(struct mk_str value)
{
    const struct mk_validators v = {MK_STR("\"abc\""), 784111777, 784200000};
    const struct mk_preconditions match = {.if_match = value};
    const struct mk_preconditions none_match = {.if_none_match = value};

    require(mk_accept_encoding(value, MK_STR("gzip")) <= 1000);
    require(mk_accept_encoding(value, MK_STR("identity")) <= 1000);
    /* what matches strongly matches weakly */
    if (mk_preconditions_eval(&match, &v, true) == MK_PRECONDITION_PASS)
        require(mk_preconditions_eval(&none_match, &v, false) == MK_PRECONDITION_FAILED);
    if (mk_if_range_holds(value, &v) && value.len > 0 && value.p[0] == '"')
        require(value.len == v.etag.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mk_range ranges[MK_LIMIT_RANGES];
    uint64_t length = 0;
    char *text;
    int count;

    for (int i = 0; i < 8; i++)
        length = length << 8 | take_byte(&data, &size);
    text = exact_copy(data, size);
    check_others((struct mk_str){text, size});
    count = mk_range_parse((struct mk_str){text, size}, length, ranges, MK_LIMIT_RANGES);
    require(count == MK_E_INVALID || (count >= 0 && count <= MK_LIMIT_RANGES));
    if (count > 0) {
        check_ranges(ranges, count, length);
        check_again(ranges, count, length);
    }
    free(text);
    return 0;
}
