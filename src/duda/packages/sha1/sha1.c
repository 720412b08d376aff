/* SPDX-License-Identifier: Apache-2.0 */
#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_package.h"

#include "packages/sha1/sha1.h"

#include "kit/digest/digest.h"
#include "kit/digest/hmac.h"

/* SHA-1 (FIPS 180-4) and its message code. Old protocols ask for it; nothing new should. */

_Static_assert(sizeof(sha1_state_t) >= sizeof(struct sha1),
               "the state of a service has room for ours");

HMAC_HASH(sha1, 64, SHA1_LEN);

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

static void code(const void *key, size_t key_len, const void *in, size_t in_len, unsigned char *out)
{
    if (out)
        digest_hmac(&hmac_sha1, key, key_len, in, in_len, out);
}

static void encode(const void *in, unsigned char *out, unsigned long in_len)
{
    digest(in, out, in_len);
}

static int same(const void *a, const void *b, size_t len)
{
    return a && b && digest_is_same(a, b, len);
}

static sha1_object_t calls = {
    .encode = encode, .begin = begin, .add = add, .finish = finish, .hmac = code, .same = same};

duda_package_t *duda_package_main()
{
    static char name[] = "sha1", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
