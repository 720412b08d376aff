/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_SIGNED_H
#define MONKEY_WEB_SIGNED_H

/*
 * Values that clients keep and cannot change: cookies, and tokens in links or forms. A code of HMAC-SHA-256 (RFC 2104, FIPS
 * 180-4) covers the name, the value and its expiry. The client can read the value, and anyone who has a copy can send it until
 * it expires: a value that must be secret, or revoked earlier, stays in the server.
 *
 *     const struct mk_cookie cookie = {.size = sizeof(cookie), .name = MK_STR("__Host-user"), .value = user,
 *                                      .path = MK_STR("/"), .secure = true, .http_only = true};
 *
 *     mk_reply_signed_cookie(&reply, signer, &cookie, 3600);
 *     ...
 *     char user[64];
 *     ssize_t len = mk_signed_cookie(r, signer, MK_STR("__Host-user"), user, sizeof(user), NULL);
 */

#include <monkey/web/cookie.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Keys that sign and verify. It does not change, so any number of threads use it at once. */
struct mk_signer;

enum {
    MK_SIGNER_KEYS = 8,
    MK_SIGNER_KEY_MIN =
        32, /* bytes, of random bits: of `openssl rand 32`, not a word that somebody chose */
    MK_SIGNER_KEY_MAX = 1024,
    MK_SIGNED_NAME = 512,   /* bytes of a name */
    MK_SIGNED_VALUE = 2048, /* bytes of a value */
    MK_SIGNED_TEXT = 2800   /* room for the text of any value */
};

/**
 * Take keys. The first one signs, all of them verify: for a change of keys the new one comes first, and the old one goes when
 * what it has signed has expired.
 * @param keys  copied; wiped by mk_signer_free
 * @return 0; MK_E_INVALID: a key is too short, or there is none; MK_E_LIMIT: too many, or one is too long; MK_E_NOMEM. Any thread.
 */
MK_API int mk_signer_new(struct mk_signer **signer, const struct mk_str *keys,
                         size_t nkeys) MK_MUST_USE;
/** NULL is allowed. */
MK_API void mk_signer_free(struct mk_signer *signer);

/**
 * Sign a value, in letters, digits and `-_.`: they need no escapes in cookies, links and fields.
 * @param dst      room for MK_SIGNED_TEXT, or less if the value is shorter; not terminated
 * @param name     what the value is, not empty: a text that was signed by another name is not ours
 * @param value    any bytes
 * @param expires  seconds since 1970 from which it is not valid any more, > 0
 * @return bytes written; MK_E_INVALID; MK_E_LIMIT: name or value is too long, or dst too small. Any thread.
 */
MK_API ssize_t mk_signed_write(char *dst, size_t size, const struct mk_signer *signer,
                               struct mk_str name, struct mk_str value,
                               int64_t expires) MK_MUST_USE;

/**
 * Verify a text, and read its value. The time that it takes says nothing about keys or codes.
 * @param dst   out: the value, not terminated, only for a result >= 0
 * @param text  as it came from a client
 * @param now   seconds since 1970
 * @param key   out: the number of the key that signed it; not 0: sign it again; NULL: not wanted
 * @return bytes of the value; MK_E_BAD: this name and these keys have not signed it; MK_E_TIMEOUT: they have, and it has
 *         expired; MK_E_LIMIT: dst is too small for it; MK_E_INVALID. Any thread.
 */
MK_API ssize_t mk_signed_read(char *dst, size_t size, const struct mk_signer *signer,
                              struct mk_str name, struct mk_str text, int64_t now,
                              unsigned *key) MK_MUST_USE;

/**
 * Add a Set-Cookie line whose value is signed, as mk_reply_cookie does.
 * @param cookie   its value is any bytes; its max_age may be another time than
 * @param valid_s  seconds from now for which it can be verified, > 0
 * @return 0, or as mk_signed_write and mk_reply_cookie.
 */
MK_API int mk_reply_signed_cookie(struct mk_reply *p, const struct mk_signer *signer,
                                  const struct mk_cookie *cookie, int64_t valid_s);

/**
 * The value of a signed cookie of a request. Of several with that name, of which others may have planted some, the first that
 * is valid counts, among the first 8.
 * @return as mk_signed_read; MK_E_NOENT: there is none of that name.
 */
MK_API ssize_t mk_signed_cookie(const struct mk_request *r, const struct mk_signer *signer,
                                struct mk_str name, char *dst, size_t size,
                                unsigned *key) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
