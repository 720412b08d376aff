/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_package.h"

#include "packages/base64/base64.h"

#include "kit/pure/base64.h"

/* Base64 in the standard alphabet: RFC 4648 section 4. */

static unsigned char *encode(const unsigned char *src, size_t len, size_t *out_len)
{
    unsigned char *text;
    size_t n;

    if (!src || len > BASE64_LEN_MAX)
        return NULL;
    text = mem->alloc(base64_encoded_len(len) + 1);
    if (!text)
        return NULL;
    n = base64_encode((char *)text, src, len);
    text[n] = '\0';
    if (out_len)
        *out_len = n;
    return text;
}

static unsigned char *decode(const unsigned char *src, size_t len, size_t *out_len)
{
    unsigned char *bytes;
    ssize_t n;

    if (!src)
        return NULL;
    bytes = mem->alloc(base64_decoded_room(len) + 1);
    if (!bytes)
        return NULL;
    n = base64_decode_among(bytes, (const char *)src, len);
    if (n < 0) {
        mem->free(bytes);
        return NULL;
    }
    bytes[n] = '\0';
    if (out_len)
        *out_len = (size_t)n;
    return bytes;
}

static base64_object_t calls = {.encode = encode, .decode = decode};

duda_package_t *duda_package_main()
{
    static char name[] = "base64", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
