/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "packages/websocket/envelope.h"

#include <string.h>

/* What comes from Redis as a broadcast of another server. One that is read is written again in the same bytes. */

static void require_same(const struct envelope *e, struct mk_str bytes)
{
    char head[ENVELOPE_HEAD_MAX];
    const size_t n = envelope_head(head, e);

    require(n < sizeof(head) && n + e->room.len + e->message.len == bytes.len);
    require(memcmp(head, bytes.p, n) == 0);
    require(e->room.p == bytes.p + n && e->message.p == e->room.p + e->room.len);
    require(e->room.len > 0 && e->room.len <= ENVELOPE_ROOM && !memchr(e->room.p, 0, e->room.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = exact_copy(data, size);
    const struct mk_str bytes = {copy, size};
    struct envelope e;

    if (envelope_read(&e, bytes) == 0)
        require_same(&e, bytes);
    free(copy);
    return 0;
}
