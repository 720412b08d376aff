/* SPDX-License-Identifier: Apache-2.0 */
#include "sni.h"

enum { HOST_NAME = 0 };

static size_t number(const unsigned char *p)
{
    return (size_t)p[0] << 8 | p[1];
}

/* A list of one entry: the length of all, a type, the length of the name, the name. More of a type may not be. */
struct mk_str openssl_sni_parse(const unsigned char *p, size_t len)
{
    const struct mk_str none = {NULL, 0};

    if (len < 5 || number(p) != len - 2 || p[2] != HOST_NAME)
        return none;
    if (number(p + 3) == 0 || number(p + 3) != len - 5 || memchr(p + 5, '\0', len - 5))
        return none;
    return (struct mk_str){(const char *)p + 5, len - 5};
}
