/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/protocol.h"

#include <arpa/inet.h>
#include <stdio.h>

static bool is_v4(const uint8_t ip[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

static const char *text_of(const uint8_t ip[16], bool v4, char dst[INET6_ADDRSTRLEN])
{
    return inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip + 12 : ip, dst, INET6_ADDRSTRLEN);
}

static size_t write_v1(char *dst, const struct proxy_ends *e, bool v4)
{
    char source[INET6_ADDRSTRLEN], local[INET6_ADDRSTRLEN];
    int n;

    if (!e->is_known)
        return (size_t)snprintf(dst, PROXY_PROTOCOL_MAX, "PROXY UNKNOWN\r\n");
    n = snprintf(dst, PROXY_PROTOCOL_MAX, "PROXY %s %s %s %u %u\r\n", v4 ? "TCP4" : "TCP6",
                 text_of(e->source_ip, v4, source), text_of(e->local_ip, v4, local), e->source_port,
                 e->local_port);
    return (size_t)n;
}

static char *put(char *at, const void *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

static char *put_port(char *at, unsigned port)
{
    uint16_t wire = htons((uint16_t)port);

    return put(at, &wire, sizeof(wire));
}

static size_t write_v2(char *dst, const struct proxy_ends *e, bool v4)
{
    static const char signature[12] = {'\r', '\n', '\r', '\n', '\0', '\r',
                                       '\n', 'Q',  'U',  'I',  'T',  '\n'};
    size_t ip_at = v4 ? 12 : 0, ip_len = v4 ? 4 : 16;
    char *at = put(dst, signature, sizeof(signature));

    *at++ = e->is_known ? 0x21 : 0x20; /* version 2; PROXY or LOCAL */
    *at++ = (char)(!e->is_known ? 0x00 : v4 ? 0x11 : 0x21);
    at = put_port(at, e->is_known ? (unsigned)(2 * ip_len + 4) : 0);
    if (!e->is_known)
        return (size_t)(at - dst);
    at = put(at, e->source_ip + ip_at, ip_len);
    at = put(at, e->local_ip + ip_at, ip_len);
    at = put_port(at, e->source_port);
    at = put_port(at, e->local_port);
    return (size_t)(at - dst);
}

size_t proxy_protocol_write(char dst[PROXY_PROTOCOL_MAX], int version,
                            const struct proxy_ends *ends)
{
    bool v4 = is_v4(ends->source_ip) && is_v4(ends->local_ip);

    return version == PROXY_PROTOCOL_V1 ? write_v1(dst, ends, v4) : write_v2(dst, ends, v4);
}
