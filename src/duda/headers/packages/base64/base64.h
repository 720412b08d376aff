/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_BASE64_H
#define DUDA_PACKAGE_BASE64_H
#include "duda_api.h"
struct duda_api_base64 { /* results owned by caller; one line, NUL terminated after encode */
    unsigned char *(*encode)(const unsigned char *src, size_t len, size_t *out_len);
    unsigned char *(*decode)(
        const unsigned char *src, size_t len,
        size_t *out_len); /* skips foreign bytes; NULL if not a multiple of 4 */
};
typedef struct duda_api_base64 base64_object_t;
DUDA_OBJ base64_object_t *base64;
#endif
