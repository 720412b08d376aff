/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_VALUE_H
#define MK_DUDA_OBJECTS_SESSION_VALUE_H

#include <stddef.h>
#include <stdint.h>

/*
 * How a value of a session is written in Redis, as a field of a hash: `EXPIRES TEXT`, where EXPIRES is in seconds since 1970,
 * and 0 in a value that expires by its last use.
 */

enum { MK_DUDA_SESSION_PREFIX_MAX = 20 }; /* digits, the blank and the terminator */

/** Write what stands before the text. @return its length */
size_t mk_duda_session_value_prefix(char prefix[MK_DUDA_SESSION_PREFIX_MAX], int64_t expires);

/**
 * Read a field that another server may have written.
 * @param bytes  of the field, with a terminator after len of them
 * @param expires  out
 * @return the text in it, terminated; NULL: it is none
 */
const char *mk_duda_session_value_read(const char *bytes, size_t len, int64_t *expires);

#endif
