/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kit/digest/digest.h"
#include "kit/digest/hmac.h"
#include "kit/digest/md5.h"

HMAC_HASH(sha1, 64, SHA1_LEN);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void hex(char *dst, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        (void)snprintf(dst + i * 2, 3, "%02x", bytes[i]);
}

/* RFC 1321 appendix A.5, whole and byte by byte. */
static void test_md5_vectors(void **state)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"1234567890123456789012345678901234567890"
         "1234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = rows[i / 2].text;
        size_t step = i % 2 ? 1 : strlen(text) + 1;
        uint8_t digest[MD5_LEN];
        char hex[2 * MD5_LEN + 1];
        struct md5 m;

        md5_init(&m);
        for (size_t at = 0; at < strlen(text); at += step)
            md5_add(&m, text + at, i % 2 ? 1 : strlen(text));
        md5_end(&m, digest);
        for (size_t j = 0; j < MD5_LEN; j++)
            (void)snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(hex, rows[i / 2].digest);
    }
}

static void test_sha1_vectors(void **state)
{
    static const struct {
        const char *text;
        unsigned times;
        const char *digest; /* FIPS 180 examples */
    } rows[] = {
        {"", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
        {"0123456701234567012345670123456701234567012345670123456701234567", 10,
         "dea356a2cddd90c7a7ecedc5ebb563934f460452"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t digest[SHA1_LEN];
        char text[2 * SHA1_LEN + 1];
        struct sha1 s;

        sha1_init(&s);
        for (unsigned n = 0; n < rows[i].times; n++)
            sha1_add(&s, rows[i].text, strlen(rows[i].text));
        sha1_end(&s, digest);
        hex(text, digest, sizeof(digest));
        assert_string_equal(text, rows[i].digest);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    assert_true(digest_is_same("abc", "abc", 3));
    assert_false(digest_is_same("abc", "abd", 3));
    assert_false(digest_is_same("abc", "bbc", 3));
    assert_true(digest_is_same("abc", "xyz", 0));
}

/* RFC 2202 section 3. */
static void test_hmac_vectors(void **state)
{
    static const struct {
        char key[81];
        const char *text, *code;
    } rows[] = {
        {"\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v", "Hi There",
         "b617318655057264e28bc0b6fb378c8ef146be00"},
        {"Jefe", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
        {"", "Test Using Larger Than Block-Size Key - Hash Key First",
         "aa4ae5e15272d00e95705637ce8a3b55ed402112"}, /* its key is 80 times 0xaa */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t code[SHA1_LEN], key[80];
        char text[2 * SHA1_LEN + 1];
        size_t len = strlen(rows[i].key);

        memset(key, 0xaa, sizeof(key));
        memcpy(key, rows[i].key, len);
        digest_hmac(&hmac_sha1, key, len > 0 ? len : sizeof(key), rows[i].text,
                    strlen(rows[i].text), code);
        hex(text, code, sizeof(code));
        assert_string_equal(text, rows[i].code);
    }
}

static void test_hmac_of_nothing(void **state)
{
    uint8_t code[SHA1_LEN];
    char text[2 * SHA1_LEN + 1];

    (void)state;
    digest_hmac(&hmac_sha1, NULL, 0, NULL, 0, code);
    hex(text, code, sizeof(code));
    assert_string_equal(text, "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_md5_vectors),     cmocka_unit_test(test_sha1_vectors),
        cmocka_unit_test(test_same_bytes),      cmocka_unit_test(test_hmac_vectors),
        cmocka_unit_test(test_hmac_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
