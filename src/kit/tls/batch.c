/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/batch.h"

#include <string.h>

size_t tls_batch_len(const struct iovec *iov, int niov)
{
    size_t len = 0;

    for (int i = 0; i < niov; i++)
        len += iov[i].iov_len;
    return len;
}

size_t tls_batch_take(const struct iovec *iov, int niov, size_t at, char *to, size_t room,
                      const char **bytes)
{
    size_t len = 0;

    for (int i = 0; i < niov && len < room; i++) {
        const char *part = iov[i].iov_base;
        size_t n = iov[i].iov_len;

        if (at >= n) {
            at -= n;
            continue;
        }
        part += at;
        n -= at;
        at = 0;
        if (len == 0 && (i == niov - 1 || n >= room)) {
            *bytes = part;
            return n < room ? n : room;
        }
        n = n < room - len ? n : room - len;
        memcpy(to + len, part, n);
        len += n;
    }
    *bytes = to;
    return len;
}
