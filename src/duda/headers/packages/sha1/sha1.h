/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SHA1_H
#define DUDA_PACKAGE_SHA1_H
#include "duda_api.h"
#define SHA_DIGEST_LENGTH 20
struct duda_api_sha1 {
    void (*encode)(const void *in, unsigned char *out, unsigned long in_len); /* raw 20 bytes */
};
typedef struct duda_api_sha1 sha1_object_t;
DUDA_OBJ sha1_object_t *sha1;
#endif
