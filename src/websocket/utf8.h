/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_UTF8_H
#define WEBSOCKET_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** UTF-8 (RFC 3629) that is checked as it comes; zeroed before the first piece. */
struct ws_utf8 {
    uint8_t left; /* continuation bytes of the present character still to come */
    uint8_t low,
        high; /* bounds of the next one: no overlong forms, surrogates, or values above U+10FFFF */
};

/** @return whether the bytes so far begin some valid text: the first wrong byte is refused at once. */
bool ws_utf8_feed(struct ws_utf8 *u, const void *bytes, size_t len);

/** @return whether the text ends between two characters. */
static inline bool ws_utf8_is_whole(const struct ws_utf8 *u)
{
    return u->left == 0;
}

#endif
