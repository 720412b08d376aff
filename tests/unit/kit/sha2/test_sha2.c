/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/sha2/sha2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NUMBER_OF(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The examples of FIPS 180-4: the empty text, one block, two blocks, and a million letters. */
static const struct {
    const char *text;
    unsigned times;
    const char *of256, *of512;
} vectors[] = {
    {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
     "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
     "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
     "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
     "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
     "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"},
};

static void to_hex(char *text, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBER_OF(vectors); i++) {
        uint8_t digest[SHA512_LEN];
        char text[2 * SHA512_LEN + 1];
        struct sha256 s2;
        struct sha512 s5;

        sha256_init(&s2);
        sha512_init(&s5);
        for (unsigned n = 0; n < vectors[i].times; n++) {
            sha256_add(&s2, vectors[i].text, strlen(vectors[i].text));
            sha512_add(&s5, vectors[i].text, strlen(vectors[i].text));
        }
        sha256_end(&s2, digest);
        to_hex(text, digest, SHA256_LEN);
        assert_string_equal(text, vectors[i].of256);
        sha512_end(&s5, digest);
        to_hex(text, digest, SHA512_LEN);
        assert_string_equal(text, vectors[i].of512);
    }
}

static void pieces_give_the_same(void **state)
{
    uint8_t bytes[300], whole[SHA512_LEN], parts[SHA512_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
        struct sha512 one, two;

        sha512_init(&one);
        two = one;
        sha512_add(&one, bytes, sizeof(bytes));
        sha512_add(&two, bytes, cut);
        sha512_add(&two, bytes + cut, sizeof(bytes) - cut);
        sha512_end(&one, whole);
        sha512_end(&two, parts);
        assert_memory_equal(whole, parts, sizeof(whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(pieces_give_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
