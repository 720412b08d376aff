/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_package.h"

#include "packages/sha256/sha256.h"

#include "kit/digest/digest.h"
#include "sha2.h"

/* SHA-256 and SHA-512 (FIPS 180-4) and their message codes. */

_Static_assert(sizeof(sha256_state_t) >= sizeof(struct sha256) &&
                   sizeof(sha512_state_t) >= sizeof(struct sha512),
               "the state of a service has room for ours");

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

/* The key as a block of so many bytes, each with this pad: RFC 2104 section 2. */
static void add_key(sha256_state_t *state, const unsigned char key[64], unsigned char pad)
{
    unsigned char block[64];

    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = key[i] ^ pad;
    begin(state);
    add(state, block, sizeof(block));
    explicit_bzero(block, sizeof(block));
}

static void hmac(const void *key, size_t key_len, const void *in, size_t in_len, unsigned char *out)
{
    unsigned char block[64] = {0}, inner[32];
    sha256_state_t state;

    if (key && key_len > sizeof(block))
        digest(key, block, key_len);
    else if (key && key_len > 0)
        memcpy(block, key, key_len);
    add_key(&state, block, 0x36);
    add(&state, in, in_len);
    finish(&state, inner);
    add_key(&state, block, 0x5c);
    add(&state, inner, sizeof(inner));
    finish(&state, out);
    explicit_bzero(block, sizeof(block));
}

/* in_len is an int since 2012: less than nothing is nothing. */
static void encode(unsigned char *in, unsigned char *out, int in_len)
{
    digest(in, out, in_len > 0 ? (size_t)in_len : 0);
}

static int same(const void *a, const void *b, size_t len)
{
    return a && b && is_same_bytes(a, b, len);
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

/* The key as a block of so many bytes, each with this pad: RFC 2104 section 2. */
static void add_key512(sha512_state_t *state, const unsigned char key[128], unsigned char pad)
{
    unsigned char block[128];

    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = key[i] ^ pad;
    begin512(state);
    add512(state, block, sizeof(block));
    explicit_bzero(block, sizeof(block));
}

static void hmac512(const void *key, size_t key_len, const void *in, size_t in_len,
                    unsigned char *out)
{
    unsigned char block[128] = {0}, inner[64];
    sha512_state_t state;

    if (key && key_len > sizeof(block))
        digest512(key, block, key_len);
    else if (key && key_len > 0)
        memcpy(block, key, key_len);
    add_key512(&state, block, 0x36);
    add512(&state, in, in_len);
    finish512(&state, inner);
    add_key512(&state, block, 0x5c);
    add512(&state, inner, sizeof(inner));
    finish512(&state, out);
    explicit_bzero(block, sizeof(block));
}

static sha256_object_t calls = {.encode = encode,
                                .begin = begin,
                                .add = add,
                                .finish = finish,
                                .hmac = hmac,
                                .same = same,
                                .encode512 = digest512,
                                .begin512 = begin512,
                                .add512 = add512,
                                .finish512 = finish512,
                                .hmac512 = hmac512};

duda_package_t *duda_package_main()
{
    static char name[] = "sha256", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
