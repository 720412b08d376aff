/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/utf8.h"

#include <string.h>

/* RFC 3629 section 4: what may follow a first byte. @return whether it is one. */
static bool begin(struct ws_utf8 *u, uint8_t c)
{
    u->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    u->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (c >= 0xc2 && c <= 0xdf)
        u->left = 1;
    else if (c >= 0xe0 && c <= 0xef)
        u->left = 2;
    else if (c >= 0xf0 && c <= 0xf4)
        u->left = 3;
    else
        return c < 0x80;
    return true;
}

static bool go_on(struct ws_utf8 *u, uint8_t c)
{
    if (c < u->low || c > u->high)
        return false;
    u->left--;
    u->low = 0x80;
    u->high = 0xbf;
    return true;
}

/* Most text is ASCII: eight bytes at once. @return bytes passed. */
static size_t pass_ascii(const uint8_t *p, size_t len)
{
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t eight;

        memcpy(&eight, p + i, 8);
        if (eight & 0x8080808080808080U)
            break;
    }
    return i;
}

bool ws_utf8_feed(struct ws_utf8 *u, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < len; i++) {
        if (u->left == 0)
            i += pass_ascii(p + i, len - i);
        if (i == len)
            break;
        if (!(u->left > 0 ? go_on(u, p[i]) : begin(u, p[i])))
            return false;
    }
    return true;
}
