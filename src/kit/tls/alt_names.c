/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/alt_names.h"

#include <arpa/inet.h>
#include <stdbool.h>

enum {
    TAG_SEQUENCE = 0x30,
    TAG_HOST = 0x82,    /* [2] dNSName */
    TAG_ADDRESS = 0x87, /* [7] iPAddress, in network byte order */
    HEAD_MAX = 4,       /* a tag and the longest length that we need */
    HOST_MAX = 253,     /* RFC 1035 section 2.3.4, without the final dot */
    LABEL_MAX = 63,
};

static bool is_label_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* A last label that begins with a digit would be an address with a mistake in it. */
static bool is_host(const char *name)
{
    size_t label = 0;
    const char *last = name;

    if (strlen(name) > HOST_MAX)
        return false;
    if (strncmp(name, "*.", 2) == 0)
        name += 2;
    for (; *name; name++) {
        if (*name == '.' ? label == 0 : !is_label_byte(*name))
            return false;
        label = *name == '.' ? 0 : label + 1;
        if (label == 1)
            last = name;
        if (label > LABEL_MAX)
            return false;
    }
    return label > 0 && !(*last >= '0' && *last <= '9');
}

/* Tag and length in the one form that DER has for it. @return its bytes. */
static size_t put_head(uint8_t *to, uint8_t tag, size_t len)
{
    size_t used = 0;

    to[used++] = tag;
    if (len > 0xff)
        to[used++] = 0x82;
    else if (len > 0x7f)
        to[used++] = 0x81;
    if (len > 0xff)
        to[used++] = (uint8_t)(len >> 8);
    to[used++] = (uint8_t)len;
    return used;
}

static int add(struct tls_alt_names *to, uint8_t tag, const void *value, size_t len)
{
    if (len + HEAD_MAX > sizeof(to->der) - to->len)
        return MK_E_LIMIT;
    to->len += put_head(to->der + to->len, tag, len);
    memcpy(to->der + to->len, value, len);
    to->len += len;
    return 0;
}

static int add_name(struct tls_alt_names *to, const char *name)
{
    uint8_t address[sizeof(struct in6_addr)];

    if (inet_pton(AF_INET, name, address) == 1)
        return add(to, TAG_ADDRESS, address, sizeof(struct in_addr));
    if (inet_pton(AF_INET6, name, address) == 1)
        return add(to, TAG_ADDRESS, address, sizeof(address));
    return is_host(name) ? add(to, TAG_HOST, name, strlen(name)) : MK_E_INVALID;
}

int tls_alt_names_encode(struct tls_alt_names *to, const char *const *names, const char **wrong)
{
    uint8_t head[HEAD_MAX];
    size_t len;

    to->len = 0;
    for (; *names; names++) {
        int err = add_name(to, *names);

        *wrong = *names;
        if (err < 0)
            return err;
    }
    len = put_head(head, TAG_SEQUENCE, to->len);
    if (len > sizeof(to->der) - to->len)
        return MK_E_LIMIT;
    memmove(to->der + len, to->der, to->len);
    memcpy(to->der, head, len);
    to->len += len;
    return 0;
}
