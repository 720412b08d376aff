/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SHA256_H
#define DUDA_PACKAGE_SHA256_H
#include "duda_api.h"
struct duda_api_sha256 {
    void (*encode)(unsigned char *in, unsigned char *out, int in_len); /* raw 32 bytes */
};
typedef struct duda_api_sha256 sha256_object_t;
DUDA_OBJ sha256_object_t *sha256;
#endif
