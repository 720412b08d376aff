/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GUARD_RECENT_H
#define KIT_GUARD_RECENT_H

#include "kit/digest/digest.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Credentials that were right a short time ago, so that a slow check is not paid for every request. A worker's own; it
 * holds digests under a key that leaves the process only with its memory.
 */

enum { RECENT_PLACES = 128, RECENT_MS = 60000 };

struct recent {
    uint8_t key[16]; /* add it to each digest first */
    struct {
        uint8_t digest[SHA1_LEN];
        int64_t until_ms;
    } places[RECENT_PLACES];
};

/** @return false: the system has no random bytes. */
bool recent_init(struct recent *r);
/** Begin a digest of credentials. */
void recent_begin(const struct recent *r, struct sha1 *s);

bool recent_has(const struct recent *r, const uint8_t digest[SHA1_LEN], int64_t now_ms);
void recent_put(struct recent *r, const uint8_t digest[SHA1_LEN], int64_t now_ms);

#endif
