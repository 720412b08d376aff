/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <mbedtls/net_sockets.h>

/*
 * Between the library and the kit's link. It reads in two steps, head and rest of a record, which come from one read of
 * ours where they are small.
 */

int mbed_wire_send(void *link, const unsigned char *bytes, size_t len)
{
    struct mbed_link *own = link;
    ssize_t n = tls_link_write(&own->link, bytes, len);

    if (n < 0)
        return MBEDTLS_ERR_NET_CONN_RESET;
    own->told_alert |=
        len > 0 && bytes[0] == MBEDTLS_SSL_MSG_ALERT; /* the library gives whole records */
    return (int)n;
}

/* @return > 0, or an error of the library; 0 at the end. */
static int read_socket(struct mbed_link *own, void *to, size_t len)
{
    ssize_t n = tls_link_read(&own->link, to, len);

    if (n >= 0)
        return (int)n;
    return own->link.is_blocked ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_NET_CONN_RESET;
}

ssize_t mbed_wire_begin(struct mbed_link *own)
{
    ssize_t n = tls_link_read(&own->link, own->in, sizeof(own->in));

    own->in_at = 0;
    own->in_len = n > 0 ? (uint16_t)n : 0;
    return n;
}

int mbed_wire_recv(void *link, unsigned char *bytes, size_t len)
{
    struct mbed_link *own = link;

    if (own->in_len == 0 && len >= sizeof(own->in)) {
        own->has_touched = true; /* pages of its buffer behind the first */
        return read_socket(own, bytes, len < INT32_MAX ? len : INT32_MAX);
    }
    if (own->in_len == 0) {
        int n = read_socket(own, own->in, sizeof(own->in));

        if (n <= 0)
            return n;
        own->in_at = 0;
        own->in_len = (uint16_t)n;
    }
    if (len > own->in_len)
        len = own->in_len;
    memcpy(bytes, own->in + own->in_at, len);
    own->in_at += (uint16_t)len;
    own->in_len -= (uint16_t)len;
    return (int)len;
}
