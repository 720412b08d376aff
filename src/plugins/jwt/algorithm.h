/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JWT_ALGORITHM_H
#define JWT_ALGORITHM_H

#include <monkey/types.h>

/** Algorithms of RFC 7518 section 3.1. */
enum algorithm { HS256, RS256, ES256, NO_ALGORITHM };

/** The algorithm of an alg member; names are case-sensitive. */
enum algorithm jwt_algorithm_of(struct mk_str name);
/** The name of one, terminated. */
const char *jwt_algorithm_name(enum algorithm algorithm);

#endif
