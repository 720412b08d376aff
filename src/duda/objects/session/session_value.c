/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_value.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 18 };

size_t mk_duda_session_value_prefix(char prefix[MK_DUDA_SESSION_PREFIX_MAX], int64_t expires)
{
    return (size_t)snprintf(prefix, MK_DUDA_SESSION_PREFIX_MAX, "%lld ", (long long)expires);
}

const char *mk_duda_session_value_read(const char *bytes, size_t len, int64_t *expires)
{
    size_t n = 0;

    *expires = 0;
    for (; n < len && bytes[n] >= '0' && bytes[n] <= '9'; n++) {
        if (n == DIGITS_MAX)
            return NULL;
        *expires = *expires * 10 + (bytes[n] - '0');
    }
    if (n == 0 || n == len || bytes[n] != ' ' || memchr(bytes, '\0', len))
        return NULL;
    return bytes + n + 1;
}
