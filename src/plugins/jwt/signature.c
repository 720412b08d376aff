/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include "kit/digest/digest.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <string.h>

enum {
    COORDINATE = 32,
    SHA256_LEN = 32,
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = 8192,
    POINT_LEN = 1 + 2 * COORDINATE
};

static bool is_p256(const EVP_PKEY *pkey)
{
    char name[32];
    size_t len;

    return EVP_PKEY_get_group_name(pkey, name, sizeof(name), &len) == 1 &&
           strcmp(name, "prime256v1") == 0;
}

enum algorithm jwt_signature_algorithm(const EVP_PKEY *pkey)
{
    int bits = EVP_PKEY_get_bits(pkey);

    if (EVP_PKEY_is_a(pkey, "RSA"))
        return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX ? RS256 : NO_ALGORITHM;
    return EVP_PKEY_is_a(pkey, "EC") && is_p256(pkey) ? ES256 : NO_ALGORITHM;
}

/* A key of these parameters, which are freed. NULL: they are none, or one that is not ours. */
static EVP_PKEY *make(const char *type, OSSL_PARAM_BLD *builder, bool is_complete)
{
    OSSL_PARAM *params = is_complete ? OSSL_PARAM_BLD_to_param(builder) : NULL;
    EVP_PKEY_CTX *ctx = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
    EVP_PKEY *pkey = NULL;

    if (ctx && EVP_PKEY_fromdata_init(ctx) == 1)
        (void)EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params);
    if (pkey && jwt_signature_algorithm(pkey) == NO_ALGORITHM) {
        EVP_PKEY_free(pkey);
        pkey = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    ERR_clear_error();
    return pkey;
}

EVP_PKEY *jwt_signature_rsa(const uint8_t *n, size_t n_len, const uint8_t *e, size_t e_len)
{
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = BN_bin2bn(n, (int)n_len, NULL), *exponent = BN_bin2bn(e, (int)e_len, NULL);
    bool is_complete = builder && modulus && exponent && BN_is_odd(exponent) &&
                       BN_num_bits(exponent) >= 2 && BN_num_bits(exponent) <= 64 &&
                       OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
                       OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1;
    EVP_PKEY *pkey = make("RSA", builder, is_complete);

    BN_free(modulus);
    BN_free(exponent);
    return pkey;
}

EVP_PKEY *jwt_signature_p256(const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len)
{
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    uint8_t point[POINT_LEN] = {POINT_CONVERSION_UNCOMPRESSED};
    bool is_complete = builder && x_len == COORDINATE && y_len == COORDINATE;

    if (is_complete) {
        memcpy(point + 1, x, COORDINATE);
        memcpy(point + 1 + COORDINATE, y, COORDINATE);
        is_complete = OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME,
                                                      "prime256v1", 0) == 1 &&
                      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point,
                                                       sizeof(point)) == 1;
    }
    return make("EC", builder, is_complete);
}

/* OpenSSL reads a signature in DER, a token has its two numbers one after the other. @return DER's length; 0. */
static size_t der_of(struct mk_str signature, uint8_t *der, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)signature.p;
    BIGNUM *r, *s;
    ECDSA_SIG *pair;
    int len = 0;

    if (signature.len != 2 * (size_t)COORDINATE)
        return 0;
    r = BN_bin2bn(bytes, COORDINATE, NULL);
    s = BN_bin2bn(bytes + COORDINATE, COORDINATE, NULL);
    pair = ECDSA_SIG_new();
    if (!r || !s || !pair || ECDSA_SIG_set0(pair, r, s) != 1) {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(pair);
        return 0;
    }
    if (i2d_ECDSA_SIG(pair, NULL) <= (int)size)
        len = i2d_ECDSA_SIG(pair, &der);
    ECDSA_SIG_free(pair);
    return len > 0 ? (size_t)len : 0;
}

static bool verify(EVP_PKEY *pkey, struct mk_str text, const void *signature, size_t len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool matches = ctx && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, pkey) == 1 &&
                   EVP_DigestVerify(ctx, signature, len, (const uint8_t *)text.p, text.len) == 1;

    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return matches;
}

bool jwt_signature_matches(EVP_PKEY *pkey, enum algorithm algorithm, struct mk_str text,
                           struct mk_str signature)
{
    uint8_t der[80];
    size_t len;

    if (algorithm == RS256)
        return verify(pkey, text, signature.p, signature.len);
    len = der_of(signature, der, sizeof(der));
    return len > 0 && verify(pkey, text, der, len);
}

bool jwt_signature_matches_secret(struct mk_str secret, struct mk_str text, struct mk_str signature)
{
    uint8_t code[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    return signature.len == SHA256_LEN &&
           HMAC(EVP_sha256(), secret.p, (int)secret.len, (const uint8_t *)text.p, text.len, code,
                &len) &&
           digest_is_same(code, signature.p, SHA256_LEN);
}
