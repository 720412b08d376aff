/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_PROTOCOL_H
#define PROXY_PROTOCOL_H

#include "entry/settings.h"

/*
 * The PROXY protocol, versions 1 and 2, as sent to backends before the first byte of a connection. Pure.
 * https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
 */

enum { PROXY_PROTOCOL_MAX = 108 };

/** Whom a connection is for; IPv4 as IPv4-mapped IPv6. */
struct proxy_ends {
    bool is_known; /* false: nobody's, as health checks are, or a unix socket's */
    uint8_t source_ip[16], local_ip[16];
    unsigned source_port, local_port;
};

/** @param version  enum proxy_protocol, not OFF. @return bytes written. */
size_t proxy_protocol_write(char dst[PROXY_PROTOCOL_MAX], int version,
                            const struct proxy_ends *ends);

#endif
