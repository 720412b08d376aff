/* SPDX-License-Identifier: Apache-2.0 */
#include "algorithm.h"

#include "kit/text/words.h"

static const char names[][6] = {[HS256] = "HS256", [RS256] = "RS256", [ES256] = "ES256"};

enum algorithm jwt_algorithm_of(struct mk_str name)
{
    for (size_t i = 0; i < NO_ALGORITHM; i++) {
        if (text_is(name, mk_str_from(names[i])))
            return (enum algorithm)i;
    }
    return NO_ALGORITHM;
}

const char *jwt_algorithm_name(enum algorithm algorithm)
{
    return names[algorithm];
}
