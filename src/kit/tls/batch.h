/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_BATCH_H
#define KIT_TLS_BATCH_H

#include <stddef.h>
#include <sys/uio.h>

/* What a caller gives in pieces, to be encrypted in one. */

size_t tls_batch_len(const struct iovec *iov, int niov);

/**
 * Bytes from a place on, at most room, in one piece: where they lie if they are one there, else copied.
 * @param at  in all the pieces together
 * @param to  room for them
 * @return how many; 0 behind the end.
 */
size_t tls_batch_take(const struct iovec *iov, int niov, size_t at, char *to, size_t room,
                      const char **bytes);

#endif
