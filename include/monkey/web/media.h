/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_MEDIA_H
#define MONKEY_WEB_MEDIA_H

/* Media types of fields (RFC 9110 section 8.3.1). Pure. Any thread. */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Is this the value of Content-Type for a type? Case and parameters do not matter. A type with a suffix is one of the suffix
 * too, as "application/problem+json; charset=utf-8" is "application/json" (RFC 6838 section 4.2.8).
 * @param value  of the field; {NULL, 0}: there is none
 * @param type   such as "application/json"
 * @return false: it is another type, or malformed
 */
MK_API bool mk_media_is(struct mk_str value, struct mk_str type);

#ifdef __cplusplus
}
#endif

#endif
