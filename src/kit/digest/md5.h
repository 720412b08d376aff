/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_DIGEST_MD5_H
#define KIT_DIGEST_MD5_H

#include <stddef.h>
#include <stdint.h>

/* MD5 (RFC 1321), for hashes of passwords that were written with it. It guards nothing new. */

enum { MD5_LEN = 16 };

struct md5 {
    uint32_t h[4];
    uint64_t total; /* bytes */
    uint8_t block[64];
};

void md5_init(struct md5 *m);
void md5_add(struct md5 *m, const void *bytes, size_t len);
void md5_end(struct md5 *m, uint8_t digest[MD5_LEN]);

#endif
