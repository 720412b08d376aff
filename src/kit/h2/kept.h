/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_KEPT_H
#define KIT_H2_KEPT_H

#include <stdint.h>

/*
 * A site's responses repeat their field lines, and so do connections: the lines of the head that was written last are kept
 * once for all sessions of a thread, and what they are in its blocks with each of them (struct hpack_code).
 */

enum { H2_KEPT_MIN = 32, H2_KEPT_MAX = 512 };

/** Its number and its length are 0 at first. */
struct h2_kept {
    uint64_t number; /* of these lines: others have others */
    uint32_t len;
    char lines[H2_KEPT_MAX];
};

#endif
