/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_APR1_H
#define AUTH_APR1_H

#include <stdbool.h>

/*
 * "$apr1$salt$hash", what htpasswd of Apache writes without further options: a thousand rounds of MD5, in the way of the
 * "$1$" of crypt(3), which does not know this name. Fast to try today; not for new passwords.
 */

/** Salt of one to eight characters, 22 characters of hash. */
bool auth_apr1_is_hash(const char *hash);

/** @param hash  auth_apr1_is_hash */
bool auth_apr1_matches(const char *hash, const char *password);

#endif
