/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_OUTLET_H
#define KIT_TLS_OUTLET_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/*
 * Records on their way to the socket. What the kernel does not take is kept with the link; the bytes of the
 * caller's in it are not counted as sent before they are, so he offers them again, and they are passed over
 * then. So nobody believes that bytes have left which are still here, and memory is bound by one batch a link.
 */

struct tls_outlet {
    char *left; /* heap; NULL: nothing waits */
    uint32_t left_at, left_len;
    uint32_t untold; /* bytes of the caller's in it, not yet counted as sent */
};

enum {
    TLS_OUTLET_MAX = 320 << 10
}; /* bytes that wait with one link; a peer that makes us answer and reads nothing meets it */

/**
 * Send what waits, then records, or keep them behind it.
 * @param bytes  of the caller's in records
 * @param told   grows by those of his bytes that have left now, earlier ones first
 * @param more   further records follow at once
 * @return 0: all has left; MK_E_AGAIN: the rest waits; MK_E_PEER or MK_E_NOMEM: the link is broken.
 */
int tls_outlet_send(struct tls_outlet *o, int fd, const char *records, size_t len, size_t bytes,
                    bool more, size_t *told) MK_MUST_USE;

void tls_outlet_fini(struct tls_outlet *o);

#endif
