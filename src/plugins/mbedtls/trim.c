/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"
#include "link.h"

#include <sys/mman.h>
#include <unistd.h>

/*
 * The library has two buffers of 17 KB for each connection, from its first byte to its end, and no call to
 * shrink them. Between two records only their first bytes mean something. What lies behind those, whole pages of it,
 * is given back to the system and comes again, zeroed, when it is next written. Some builds shrink the buffers themselves.
 */

#ifndef MBEDTLS_SSL_VARIABLE_BUFFER_LENGTH

enum { KEPT = 64 }; /* sequence number, head and IV */

static void give_back(unsigned char *buffer, size_t size, size_t page)
{
    uintptr_t from = ((uintptr_t)buffer + KEPT + page - 1) & ~(uintptr_t)(page - 1);
    uintptr_t to = ((uintptr_t)buffer + size) & ~(uintptr_t)(page - 1);

    if (to > from)
        (void)madvise(buffer + (from - (uintptr_t)buffer), to - from, MADV_DONTNEED);
}

void mbed_trim(struct mbed_link *own)
{
    const mbedtls_ssl_context *ssl = &own->ssl;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!own->has_touched || own->in_len > 0 || ssl->MBED_MEMBER(in_left) > 0 ||
        ssl->MBED_MEMBER(out_left) > 0 || mbedtls_ssl_check_pending(ssl))
        return;
    own->has_touched = false;
    give_back(ssl->MBED_MEMBER(in_buf), MBEDTLS_SSL_IN_CONTENT_LEN, page);
    give_back(ssl->MBED_MEMBER(out_buf), MBEDTLS_SSL_OUT_CONTENT_LEN, page);
}

#else

void mbed_trim(struct mbed_link *own)
{
    own->has_touched = false;
}

#endif
