/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_PROXY_HEAD_H
#define MK_HTTP_PROXY_HEAD_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/* The PROXY protocol header, versions 1 (text) and 2 (binary), that a load balancer puts before a connection's own bytes. */

enum {
    MK_PROXY_V1_MAX = 107, /* "PROXY ... CR LF" */
};

struct mk_proxy_head {
    bool
        has_source; /* false: LOCAL, UNKNOWN or a unix socket; the connection's own address counts */
    uint8_t source_ip[16]; /* IPv4 as IPv4-mapped IPv6 */
    uint16_t source_port;
};

/**
 * @return > 0: length of the header; MK_E_AGAIN: feed more from the start; MK_E_BAD: this is none.
 * Reads nothing past buf[len-1].
 */
ssize_t mk_proxy_head_parse(struct mk_proxy_head *h, const char *buf, size_t len) MK_MUST_USE;

#endif
