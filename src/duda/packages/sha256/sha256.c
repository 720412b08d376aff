/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_package.h"

#include "packages/sha256/sha256.h"

#include "kit/digest/digest.h"
#include "kit/digest/hmac.h"
#include "kit/sha2/sha2.h"

/* SHA-256 and SHA-512 (FIPS 180-4) and their message codes. */

_Static_assert(sizeof(sha256_state_t) >= sizeof(struct sha256) &&
                   sizeof(sha512_state_t) >= sizeof(struct sha512),
               "the state of a service has room for ours");

HMAC_HASH(sha256, 64, SHA256_LEN);
HMAC_HASH(sha512, 128, SHA512_LEN);

static void begin(sha256_state_t *state)
{
    struct sha256 s;

    if (!state)
        return;
    sha256_init(&s);
    memcpy(state, &s, sizeof(s));
}

static void add(sha256_state_t *state, const void *in, size_t in_len)
{
    struct sha256 s;

    if (!state || !in)
        return;
    memcpy(&s, state, sizeof(s));
    sha256_add(&s, in, in_len);
    memcpy(state, &s, sizeof(s));
}

static void finish(sha256_state_t *state, unsigned char *out)
{
    struct sha256 s;

    if (!state || !out)
        return;
    memcpy(&s, state, sizeof(s));
    sha256_end(&s, out);
    explicit_bzero(&s, sizeof(s));
    explicit_bzero(state, sizeof(*state));
}

static void digest(const void *in, unsigned char *out, size_t in_len)
{
    sha256_state_t state;

    begin(&state);
    add(&state, in, in_len);
    finish(&state, out);
}

static void code(const void *key, size_t key_len, const void *in, size_t in_len, unsigned char *out)
{
    if (out)
        digest_hmac(&hmac_sha256, key, key_len, in, in_len, out);
}

/* in_len is an int since 2012: less than nothing is nothing. */
static void encode(unsigned char *in, unsigned char *out, int in_len)
{
    digest(in, out, in_len > 0 ? (size_t)in_len : 0);
}

static int same(const void *a, const void *b, size_t len)
{
    return a && b && digest_is_same(a, b, len);
}

static void begin512(sha512_state_t *state)
{
    struct sha512 s;

    if (!state)
        return;
    sha512_init(&s);
    memcpy(state, &s, sizeof(s));
}

static void add512(sha512_state_t *state, const void *in, size_t in_len)
{
    struct sha512 s;

    if (!state || !in)
        return;
    memcpy(&s, state, sizeof(s));
    sha512_add(&s, in, in_len);
    memcpy(state, &s, sizeof(s));
}

static void finish512(sha512_state_t *state, unsigned char *out)
{
    struct sha512 s;

    if (!state || !out)
        return;
    memcpy(&s, state, sizeof(s));
    sha512_end(&s, out);
    explicit_bzero(&s, sizeof(s));
    explicit_bzero(state, sizeof(*state));
}

static void digest512(const void *in, unsigned char *out, size_t in_len)
{
    sha512_state_t state;

    begin512(&state);
    add512(&state, in, in_len);
    finish512(&state, out);
}

static void code512(const void *key, size_t key_len, const void *in, size_t in_len,
                    unsigned char *out)
{
    if (out)
        digest_hmac(&hmac_sha512, key, key_len, in, in_len, out);
}

static sha256_object_t calls = {.encode = encode,
                                .begin = begin,
                                .add = add,
                                .finish = finish,
                                .hmac = code,
                                .same = same,
                                .encode512 = digest512,
                                .begin512 = begin512,
                                .add512 = add512,
                                .finish512 = finish512,
                                .hmac512 = code512};

duda_package_t *duda_package_main()
{
    static char name[] = "sha256", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
