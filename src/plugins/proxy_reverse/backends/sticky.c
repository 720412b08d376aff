/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/sticky.h"

#include "kit/digest/hmac.h"
#include "kit/pure/hex.h"
#include "kit/sha2/sha2.h"

#include <string.h>

HMAC_HASH(sha256, 64, SHA256_LEN);

void proxy_sticky_write(char dst[PROXY_STICKY_LEN], const char *key, const char *backend)
{
    uint8_t digest[SHA256_LEN];

    digest_hmac(&hmac_sha256, key, strlen(key), backend, strlen(backend), digest);
    hex_write(dst, digest, PROXY_STICKY_LEN / 2);
}
