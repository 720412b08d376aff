/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "keys.h"
#include "token.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Made with openssl for this test. */
static const char set[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"xxe2XsSh2_Odlo7RThqBwDRoLfnnANcjX0-"
    "2W4vYdk0CVKvuiTvTjl0bg5XRfRnTSXhDJHEqR"
    "MnOLi1JCcxR--65iOWnx-iekRX3B7MBHWE-x03lp9LUNDnRUFInG22jCkK7pYcg_T-LIAdKN5Ys3HLBBYMLnB_jw_"
    "HhSxbTDNenu"
    "nikXZOiJ8nIWCTrKQfc9sh_rhpqfChbaTbdPLetgRvXCVdGUiJGnC-CtPzMHLMi75-"
    "UZtHx5lZ7R5BMliCzsYoFmTAcCc9Vq9zye"
    "LLam1x11lO_GzOH2pG1xzsKdTtIQP945Butkse4kIUrkdQqGqN-uH5qE4jwYVMo9h-krw\",\"e\":\"AQAB\","
    "\"kid\":\"r\"},{\"kty\":"
    "\"EC\",\"crv\":\"P-256\",\"x\":\"iv5PFoJsvwUozLzkBpQ1QGI-Yf8M4nK5QTOsQJrd5eA\",\"y\":"
    "\"8FYEQuNqB9s2TF6lasuhEzg_QL"
    "T1GN4b6g0u7mHPKUY\",\"kid\":\"e\",\"use\":\"sig\",\"alg\":\"ES256\"},{\"kty\":\"oct\",\"k\":"
    "\"MDEyMzQ1Njc4OWFiY2RlZjAxMj"
    "M0NTY3ODlhYmNkZWY\",\"kid\":\"o\"},{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"},{"
    "\"kty\":\"RSA\",\"n\":\"xxe2XsSh2_Odl"
    "o7RThqBwDRoLfnnANcjX0-2W4vYdk0CVKvuiTvTjl0bg5XRfRnTSXhDJHEqRMnOLi1JCcxR--65iOWnx-"
    "iekRX3B7MBHWE-x03lp"
    "9LUNDnRUFInG22jCkK7pYcg_T-LIAdKN5Ys3HLBBYMLnB_jw_HhSxbTDNenunikXZOiJ8nIWCTrKQfc9sh_"
    "rhpqfChbaTbdPLetg"
    "RvXCVdGUiJGnC-CtPzMHLMi75-UZtHx5lZ7R5BMliCzsYoFmTAcCc9Vq9zyeLLam1x11lO_"
    "GzOH2pG1xzsKdTtIQP945Butkse4k"
    "IUrkdQqGqN-uH5qE4jwYVMo9h-krw\",\"e\":\"AQAB\",\"kid\":\"other\",\"use\":\"enc\"}]}";
static const char weak_set[] = "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"x9_RW8wDk2LLAsCZ_"
                               "KfhHuPNTbk3wJgfaiV-4XxmsMnrp8NkL6AzhgS66j5tZxwUsK805DmCB"
                               "Geevd0tq8iMwx4xJnpdL3sM9yQ3bsCi4q7po5nj582g6QmcvUfKQxl8ngi1BtTsaQzV"
                               "8TKuA7u9HAUI6KSHIouIJ2XzWS3AW-U\","
                               "\"e\":\"AQAB\"}]}";
static const char pem[] =
    "-----BEGIN PUBLIC "
    "KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiv5PFoJsvwUozLzkBpQ1QGI+Yf8M\n4nK5QTOs"
    "QJrd5eDwVgRC42oH2zZMXqVqy6ETOD9AtPUY3hvqDS7uYc8pRg==\n-----END PUBLIC KEY-----\n";
static const char hs256[] = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
                            "eyJzdWIiOiJhbGljZSIsImV4cCI6MjAwMH0.QJwLFGh0l5v6niK-oQA9DbDnldO"
                            "mj637haa6R0MQ1Zs";
static const char rs256[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJzdWIiOiJhbGljZSIsImV4cCI6MjAwMH0."
    "Ko4WTIXSXA037rDIdjpnx82eyRrQx"
    "Mnh4c1oAatBMMhwCj7yzV0-H-cA_12GrQjF2BrytcU7ucUe1V_141CqzEbFcNJ5m-ko1KAvm-saZqq7qf8VvZ3q_"
    "Z43Rj5ONlHPX"
    "0wIMcFyctvO41WIXDA3PLTczyl42yghGH0AJlKfLv-6rRXf1UV8E8kCOfdF9TpO6x6cZq9n9JhPEOwswb9K5MgS-"
    "24jLzNfnQOJt"
    "apNNDrwnxPiaiAnn0Lk6-_pFSn_4g2fZX6NwBei9yNPFxuYq4FF58dkctmBKXoj9d2mLVJ6upe9mYyGItKer4OSR-"
    "TPwvoJBaqBs"
    "8Dr30QaU3idlw";
static const char es256[] = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ."
                            "eyJzdWIiOiJhbGljZSIsImV4cCI6MjAwMH0.q-nq42Ndcdp5t7p5eIA7jhRcI3lHl"
                            "jDIdoOhai5ESTz0E1jkz1X8ZAn-R0f-H3JOMuFPrF-saEJ6sgwgPIv8rQ";

static struct keys *read_keys(const char *text)
{
    const char *why;
    struct keys *keys = jwt_keys_read(mk_str_from(text), &why);

    if (!keys)
        fail_msg("%s", why);
    return keys;
}

static bool is_valid(const struct keys *keys, struct mk_str text)
{
    char *copy = malloc(text.len + !text.len), room[TOKEN_ROOM];
    struct token t;
    bool valid;

    assert_non_null(copy);
    memcpy(copy, text.p, text.len);
    valid = jwt_token_read((struct mk_str){copy, text.len}, room, &t) == 0;
    if (valid) {
        valid = jwt_keys_verify(keys, t.algorithm, t.id, t.signed_text, t.signature);
        jwt_token_fini(&t);
    }
    free(copy);
    return valid;
}

/* RFC 7518 sections 3.2 to 3.4. */
static void test_signatures(void **state)
{
    static const char *const tokens[] = {hs256, rs256, es256};
    struct keys *keys = read_keys(set), *one = read_keys(pem);

    (void)state;
    for (size_t i = 0; i < COUNT(tokens); i++)
        assert_true(is_valid(keys, mk_str_from(tokens[i])));
    assert_true(is_valid(one, mk_str_from(es256)));
    assert_false(is_valid(one, mk_str_from(rs256)));
    assert_false(is_valid(one, mk_str_from(hs256)));
    jwt_keys_free(keys);
    jwt_keys_free(one);
}

/* Each character of a token is signed or is the signature; each shorter token is none. */
static void test_changed_tokens(void **state)
{
    static const char *const tokens[] = {hs256, es256};
    struct keys *keys = read_keys(set);

    (void)state;
    for (size_t i = 0; i < COUNT(tokens); i++) {
        size_t len = strlen(tokens[i]);
        char text[2048];

        for (size_t at = 0; at < len; at++) {
            memcpy(text, tokens[i], len);
            text[at] = text[at] == 'A' ? 'B' : 'A';
            assert_false(is_valid(keys, (struct mk_str){text, len}));
            assert_false(is_valid(keys, (struct mk_str){tokens[i], at}));
        }
    }
    jwt_keys_free(keys);
}

static size_t put_part(char *dst, const char *json)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned held = 0;
    size_t len = 0;

    for (; *json; json++) {
        bits = bits << 8 | (unsigned char)*json;
        for (held += 8; held >= 6; held -= 6)
            dst[len++] = alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0)
        dst[len++] = alphabet[bits << (6 - held) & 63];
    return len;
}

static void test_malformed_tokens(void **state)
{
    static const struct {
        const char *header, *claims;
        bool is_read;
    } rows[] = {
        {"{\"alg\":\"HS256\"}", "{}", true},
        {"{\"alg\":\"HS256\",\"kid\":\"a\\u0041\"}", "{}", true},
        {"{\"alg\":\"none\"}", "{}", false}, /* RFC 8725 section 3.2 */
        {"{\"alg\":\"hs256\"}", "{}",
         false}, /* names are compared as they are: RFC 7515 section 4.1.1 */
        {"{\"alg\":\"HS512\"}", "{}", false},
        {"{\"alg\":[\"HS256\"]}", "{}", false},
        {"{\"typ\":\"JWT\"}", "{}", false},
        {"{\"alg\":\"HS256\",\"alg\":\"none\"}", "{}", false}, /* RFC 7515 section 4 */
        {"{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}", "{}", false}, /* section 4.1.11 */
        {"{\"alg\":\"HS256\",\"kid\":7}", "{}", false},
        {"{\"alg\":\"HS256\",\"kid\":\"\\u0000\"}", "{}", false},
        {"[]", "{}", false},
        {"{\"alg\":\"HS256\"}", "[]", false},
        {"{\"alg\":\"HS256\"}", "{", false},
        {"{\"alg\":\"HS256\"}", "\"text\"", false},
    };
    char text[1024], room[TOKEN_ROOM];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct token t;
        size_t len = put_part(text, rows[i].header);

        text[len++] = '.';
        len += put_part(text + len, rows[i].claims);
        text[len++] = '.';
        len += put_part(text + len, "signature");
        if (jwt_token_read((struct mk_str){text, len}, room, &t) !=
            (rows[i].is_read ? 0 : MK_E_BAD))
            fail_msg("row %zu: %s", i, rows[i].header);
        if (rows[i].is_read)
            jwt_token_fini(&t);
    }
}

static void test_too_long_a_token(void **state)
{
    char text[TOKEN_MAX + 1], room[TOKEN_ROOM];
    struct token t;
    size_t len = put_part(text, "{\"alg\":\"HS256\"}");

    (void)state;
    text[len++] = '.';
    len += put_part(text + len, "{}");
    text[len++] = '.';
    memset(text + len, 'A', sizeof(text) - len);
    assert_true(jwt_token_read((struct mk_str){text, TOKEN_MAX - 1}, room, &t) == 0 ||
                jwt_token_read((struct mk_str){text, TOKEN_MAX}, room, &t) == 0);
    jwt_token_fini(&t);
    assert_int_equal(jwt_token_read((struct mk_str){text, TOKEN_MAX + 1}, room, &t), MK_E_BAD);
}

static void test_files_that_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "it has no public key in PEM"},
        {"{}", "it is no JWK Set"},
        {"{\"keys\":{}}", "it is no JWK Set"},
        {"{\"keys\":[]}", "it has no key of HS256, RS256 or ES256"},
        {"{\"keys\":[1,{\"kty\":\"OKP\"}]}", "it has no key of HS256, RS256 or ES256"},
        {weak_set, "one of its keys is malformed or too weak"},
        {"{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2hvcnQ\"}]}",
         "one of its keys is malformed or too weak"},
        {"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
         "one of its keys is malformed or too weak"},
        {"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"!\",\"e\":\"AQAB\"}]}",
         "one of its keys is malformed or too weak"},
        {"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n",
         "it has no public key in PEM"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *why = NULL;

        assert_null(jwt_keys_read(mk_str_from(rows[i].text), &why));
        assert_string_equal(why, rows[i].why);
    }
}

static void test_secrets(void **state)
{
    const char *why;
    struct keys *keys = jwt_keys_of_secret(MK_STR("0123456789abcdef0123456789abcdef\r\n"), &why);

    (void)state;
    assert_non_null(keys);
    assert_true(is_valid(keys, mk_str_from(hs256)));
    assert_false(is_valid(keys, mk_str_from(es256)));
    jwt_keys_free(keys);
    assert_null(jwt_keys_of_secret(MK_STR("0123456789abcdef0123456789abcde\n\n"), &why));
    assert_string_equal(why, "a secret has at least 32 bytes");
}

static void test_keys_of_a_set_are_counted(void **state)
{
    char text[8192];
    size_t len = (size_t)sprintf(text, "{\"keys\":[");
    const char *why;

    (void)state;
    for (int i = 0; i <= KEYS_MAX; i++)
        len += (size_t)sprintf(text + len, "%s{\"kty\":\"oct\",\"k\":\"%s\"}", i ? "," : "",
                               "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY");
    sprintf(text + len, "]}");
    assert_null(jwt_keys_read(mk_str_from(text), &why));
    assert_string_equal(why, "it has more than 32 keys");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_changed_tokens),
        cmocka_unit_test(test_malformed_tokens),
        cmocka_unit_test(test_too_long_a_token),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_keys_of_a_set_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
