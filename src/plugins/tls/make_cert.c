/* SPDX-License-Identifier: Apache-2.0 */
#include "make_cert.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>

static bool set_serial(X509 *cert, const struct tls_cert_plan *plan)
{
    BIGNUM *serial = BN_bin2bn(plan->serial, sizeof(plan->serial), NULL);
    bool done = serial && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert));

    BN_free(serial);
    return done;
}

static bool set_subject(X509 *cert, const struct tls_cert_plan *plan, EVP_PKEY *key)
{
    X509_NAME *name = X509_get_subject_name(cert);

    return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
                                      (const unsigned char *)plan->common_name, -1, -1, 0) &&
           X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, key);
}

static bool set_times(X509 *cert, const struct tls_cert_plan *plan)
{
    return ASN1_TIME_set(X509_getm_notBefore(cert), plan->from) &&
           ASN1_TIME_set(X509_getm_notAfter(cert), plan->until);
}

static bool add(X509 *cert, X509_EXTENSION *extension)
{
    bool done = extension && X509_add_ext(cert, extension, -1);

    X509_EXTENSION_free(extension);
    return done;
}

static bool add_names(X509 *cert, const struct tls_cert_plan *plan)
{
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    bool done = value && ASN1_OCTET_STRING_set(value, plan->names.der, (int)plan->names.len) &&
                add(cert, X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value));

    ASN1_OCTET_STRING_free(value);
    return done;
}

static bool add_extensions(X509 *cert, const struct tls_cert_plan *plan)
{
    static const struct {
        int nid;
        const char *value;
    } rows[] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, "serverAuth"},
        {NID_subject_key_identifier, "hash"},
    };
    X509V3_CTX ctx;

    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!add(cert, X509V3_EXT_nconf_nid(NULL, &ctx, rows[i].nid, rows[i].value)))
            return false;
    }
    return add_names(cert, plan);
}

static bool fill(X509 *cert, const struct tls_cert_plan *plan, EVP_PKEY *key)
{
    return X509_set_version(cert, X509_VERSION_3) && set_serial(cert, plan) &&
           set_subject(cert, plan, key) && set_times(cert, plan) && add_extensions(cert, plan) &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

/* @return whether the text and its end fit. */
static bool take_text(BIO *from, char *text, size_t size)
{
    int len = BIO_read(from, text, (int)size - 1);

    text[len > 0 ? len : 0] = '\0';
    return len > 0 && BIO_pending(from) == 0;
}

static bool write_pair(X509 *cert, EVP_PKEY *key, struct tls_cert_pair *pair)
{
    BIO *text = BIO_new(BIO_s_secmem());
    bool done = text && PEM_write_bio_PKCS8PrivateKey(text, key, NULL, NULL, 0, NULL, NULL) &&
                take_text(text, pair->key, sizeof(pair->key)) && PEM_write_bio_X509(text, cert) &&
                take_text(text, pair->certificate, sizeof(pair->certificate));

    BIO_free(text);
    return done;
}

int openssl_pair_make(const struct tls_cert_plan *plan, struct tls_cert_pair *pair, char *why,
                      size_t size)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    const char *reason = NULL;
    bool done = key && cert && fill(cert, plan, key) && write_pair(cert, key, pair);

    if (!done)
        reason = ERR_reason_error_string(ERR_peek_last_error());
    if (!done)
        (void)snprintf(why, size, "cannot make a certificate: %s", reason ? reason : "no memory");
    ERR_clear_error();
    X509_free(cert);
    EVP_PKEY_free(key);
    return done ? 0 : MK_E_SYS;
}
