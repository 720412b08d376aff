/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_BASE64_H
#define DUDA_PACKAGE_BASE64_H
#include "duda_api.h"
/* base64: Bytes as text of 64 characters and back (RFC 4648, section 4). Results are terminated and owned by the caller. Any thread. */
struct duda_api_base64 {
    /* One line. *out_len, unless NULL: its length. NULL: no memory. */
    unsigned char *(*encode)(const unsigned char *src, size_t len, size_t *out_len);
    /* The bytes. What is no character of the alphabet is skipped. NULL: not a multiple of four of them is left, `=` is amidst
       them, or no memory. */
    unsigned char *(*decode)(const unsigned char *src, size_t len, size_t *out_len);
};
typedef struct duda_api_base64 base64_object_t;
DUDA_OBJ base64_object_t *base64;
#endif
