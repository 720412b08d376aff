/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_PASSWORD_H
#define AUTH_PASSWORD_H

#include <monkey/types.h>

#include <stdbool.h>

/* Hashes of passwords: `{SHA1}` and `{SHA}` with base64, `$apr1$` of Apache, and whatever crypt(3) of this system can check. */

enum { PASSWORD_MAX = 255 };

/** Can this system check passwords against it? */
bool auth_password_is_hash(const char *hash);

/** The part of a hash that decides what checking costs: its scheme, with the rounds; borrowed. */
struct mk_str auth_password_setting(const char *hash);

/** Does checking take so long that it must not be done on a worker? */
bool auth_password_is_slow(const char *hash);

/** Is this the password? In a time that does not tell how much of it is right. Any thread. */
bool auth_password_matches(const char *hash, const char *password);

#endif
