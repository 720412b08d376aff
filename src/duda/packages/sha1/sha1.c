/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_package.h"

#include "packages/sha1/sha1.h"

#include "kit/digest/digest.h"

/* SHA-1 (FIPS 180-4) and its message code. Old protocols ask for it; nothing new should. */

_Static_assert(sizeof(sha1_state_t) >= sizeof(struct sha1),
               "the state of a service has room for ours");

static void begin(sha1_state_t *state)
{
    struct sha1 s;

    if (!state)
        return;
    sha1_init(&s);
    memcpy(state, &s, sizeof(s));
}

static void add(sha1_state_t *state, const void *in, size_t in_len)
{
    struct sha1 s;

    if (!state || !in)
        return;
    memcpy(&s, state, sizeof(s));
    sha1_add(&s, in, in_len);
    memcpy(state, &s, sizeof(s));
}

static void finish(sha1_state_t *state, unsigned char *out)
{
    struct sha1 s;

    if (!state || !out)
        return;
    memcpy(&s, state, sizeof(s));
    sha1_end(&s, out);
    explicit_bzero(&s, sizeof(s));
    explicit_bzero(state, sizeof(*state));
}

static void digest(const void *in, unsigned char *out, size_t in_len)
{
    sha1_state_t state;

    begin(&state);
    add(&state, in, in_len);
    finish(&state, out);
}

/* The key as a block of so many bytes, each with this pad: RFC 2104 section 2. */
static void add_key(sha1_state_t *state, const unsigned char key[64], unsigned char pad)
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
    unsigned char block[64] = {0}, inner[20];
    sha1_state_t state;

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

static void encode(const void *in, unsigned char *out, unsigned long in_len)
{
    digest(in, out, in_len);
}

static int same(const void *a, const void *b, size_t len)
{
    return a && b && is_same_bytes(a, b, len);
}

static sha1_object_t calls = {
    .encode = encode, .begin = begin, .add = add, .finish = finish, .hmac = hmac, .same = same};

duda_package_t *duda_package_main()
{
    static char name[] = "sha1", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
