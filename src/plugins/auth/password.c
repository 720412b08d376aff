/* SPDX-License-Identifier: Apache-2.0 */
#include "password.h"

#include "apr1.h"

#include "kit/digest/digest.h"
#include "kit/pure/base64.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHA1_BASE64_LEN = 28,
    SCRYPT_COST_LEN = 11, /* characters behind $7$ */
};

/* @return what follows the name of the scheme, or NULL: it is not SHA-1. */
static const char *sha1_of(const char *hash)
{
    static const char *const names[] = {"{SHA1}", "{SHA}"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(hash, names[i], strlen(names[i])) == 0)
            return hash + strlen(names[i]);
    }
    return NULL;
}

static bool decode_sha1(const char *text, uint8_t digest[SHA1_BASE64_LEN])
{
    return strlen(text) == SHA1_BASE64_LEN &&
           base64_decode(digest, text, SHA1_BASE64_LEN) == SHA1_LEN;
}

static bool sha1_matches(const char *text, const char *password)
{
    uint8_t wanted[SHA1_BASE64_LEN], got[SHA1_LEN];
    struct sha1 s;

    if (!decode_sha1(text, wanted))
        return false;
    sha1_init(&s);
    sha1_add(&s, password, strlen(password));
    sha1_end(&s, got);
    return digest_is_same(wanted, got, SHA1_LEN);
}

static bool crypt_matches(const char *hash, const char *password)
{
    struct crypt_data *data = calloc(1, sizeof(*data)); /* 32 KB: too large for the stack */
    const char *got = data ? crypt_r(password, hash, data) : NULL;
    bool same = got && *got != '*' && strlen(got) == strlen(hash) &&
                digest_is_same(got, hash, strlen(hash));

    if (data)
        explicit_bzero(data, sizeof(*data));
    free(data);
    return same;
}

bool auth_password_is_hash(const char *hash)
{
    const char *sha1 = sha1_of(hash);
    uint8_t digest[SHA1_BASE64_LEN];

    if (sha1)
        return decode_sha1(sha1, digest);
    if (strncmp(hash, "$apr1$", 6) == 0)
        return auth_apr1_is_hash(hash);
    /* A setting such as "$y$j9T$salt$hash". What is only text would be taken for a hash of 1976 (DES). */
    return hash[0] == '$' && strlen(hash) > 10 && strchr(hash + 1, '$') && !strchr(hash, ' ');
}

/* "$6$salt$...", "$6$rounds=9000$salt$...", "$2b$12$...", "$y$j9T$salt$...", "$7$CU..../....salt$..." */
struct mk_str auth_password_setting(const char *hash)
{
    const char *name_end = hash[0] == '$' ? strchr(hash + 1, '$') : NULL, *end;

    if (!name_end)
        return (struct mk_str){hash, strcspn(hash, "}")};
    end = name_end + 1;
    if (strncmp(end, "rounds=", 7) == 0 || hash[1] == '2' || hash[1] == 'y' || hash[1] == 'g')
        end += strcspn(end, "$");
    else if (hash[1] == '7')
        end += strnlen(end, SCRYPT_COST_LEN);
    return (struct mk_str){hash, (size_t)(end - hash)};
}

bool auth_password_is_slow(const char *hash)
{
    return !sha1_of(hash);
}

bool auth_password_matches(const char *hash, const char *password)
{
    const char *sha1 = sha1_of(hash);

    if (auth_apr1_is_hash(hash))
        return auth_apr1_matches(hash, password);
    return sha1 ? sha1_matches(sha1, password) : crypt_matches(hash, password);
}
