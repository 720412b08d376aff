/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/number.h"

uint32_t number_of(struct mk_str text, uint32_t max)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text.p[i] - '0');
        if (number > max)
            return 0;
    }
    return (uint32_t)number;
}
