/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include "why.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <time.h>

/* ---- reading ---- */

static BIO *open_bytes(const struct tls_file *file)
{
    return file->len <= INT32_MAX ? BIO_new_mem_buf(file->bytes, (int)file->len) : NULL;
}

/* Nobody is there to type it: a terminal that waits would keep the server from starting. */
static int no_password(char *buf, int size, int writing, void *arg)
{
    bool *is_locked = arg;

    (void)buf;
    (void)size;
    (void)writing;
    *is_locked = true;
    return -1;
}

STACK_OF(X509) * openssl_pairs_parse(const struct tls_file *file, struct tls_report *r)
{
    STACK_OF(X509) *certificates = sk_X509_new_null();
    BIO *bytes = open_bytes(file);
    X509 *one;

    ERR_clear_error();
    while (bytes && certificates && (one = PEM_read_bio_X509(bytes, NULL, NULL, NULL))) {
        if (sk_X509_push(certificates, one) > 0)
            continue;
        X509_free(one);
        break;
    }
    BIO_free(bytes);
    if (certificates && sk_X509_num(certificates) > 0 &&
        ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
        ERR_clear_error(); /* the end of the file */
        return certificates;
    }
    tls_fault(r, "%s: %s: is not a certificate in PEM: %s", file->key, file->path,
              openssl_why_failed());
    sk_X509_pop_free(certificates, X509_free);
    return NULL;
}

static EVP_PKEY *parse_key(const struct tls_file *file, struct tls_report *r)
{
    BIO *bytes = open_bytes(file);
    bool is_locked = false;
    EVP_PKEY *key = bytes ? PEM_read_bio_PrivateKey(bytes, NULL, no_password, &is_locked) : NULL;

    BIO_free(bytes);
    if (key)
        return key;
    if (is_locked)
        tls_fault(r, "%s: %s: has a password, which nobody can type here", file->key, file->path);
    else
        tls_fault(r, "%s: %s: is not a private key in PEM: %s", file->key, file->path,
                  openssl_why_failed());
    ERR_clear_error();
    return NULL;
}

/* ---- judging ---- */

const char *openssl_pairs_date(const ASN1_TIME *when, char text[PAIRS_DATE_TEXT])
{
    BIO *to = BIO_new(BIO_s_mem());
    int len = to && ASN1_TIME_print(to, when) == 1 ? BIO_read(to, text, PAIRS_DATE_TEXT - 1) : 0;

    BIO_free(to);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

/* A device that does not know the time yet is to start, and so are other sites; clients judge for themselves. */
static void judge_time(const X509 *leaf, const struct tls_file *file, int64_t *not_after,
                       struct tls_report *r)
{
    const ASN1_TIME *from = X509_get0_notBefore(leaf), *until = X509_get0_notAfter(leaf);
    char text[PAIRS_DATE_TEXT];
    struct tm tm;

    if (ASN1_TIME_to_tm(until, &tm) == 1)
        *not_after = timegm(&tm);
    if (X509_cmp_current_time(until) <= 0)
        tls_warn(r, "%s: %s: expired on %s; clients will refuse it", file->key, file->path,
                 openssl_pairs_date(until, text));
    if (X509_cmp_current_time(from) > 0)
        tls_warn(r, "%s: %s: is not valid before %s; if that has passed, the clock is wrong",
                 file->key, file->path, openssl_pairs_date(from, text));
}

static bool is_doubled(const EVP_PKEY *key, const int *kinds, size_t n, const struct tls_file *file,
                       struct tls_report *r)
{
    for (size_t i = 0; i < n; i++) {
        if (kinds[i] != EVP_PKEY_get_base_id(key))
            continue;
        tls_fault(r, "%s: %s: there is a certificate for this kind of key already", file->key,
                  file->path);
        return true;
    }
    return false;
}

static bool fits(X509 *leaf, EVP_PKEY *key, const struct tls_files *f, size_t i,
                 struct tls_report *r)
{
    if (X509_check_private_key(leaf, key) == 1)
        return true;
    ERR_clear_error();
    tls_fault(r, "KeyFile: %s: is not the key of the certificate in %s", f->keys[i].path,
              f->certificates[i].path);
    return false;
}

/* ---- using ---- */

/* Who issued it, up to an authority that clients know; the leaf itself may stand there too. */
static bool add_chain(SSL_CTX *ctx, X509 *leaf, STACK_OF(X509) * certificates, int from)
{
    for (int i = from; i < sk_X509_num(certificates); i++) {
        X509 *one = sk_X509_value(certificates, i);

        if (X509_cmp(one, leaf) != 0 && SSL_CTX_add1_chain_cert(ctx, one) != 1)
            return false;
    }
    return true;
}

static bool use_chain_file(SSL_CTX *ctx, X509 *leaf, const struct tls_file *chain,
                           struct tls_report *r)
{
    STACK_OF(X509) * certificates;
    bool ok;

    if (!chain->bytes)
        return true;
    certificates = openssl_pairs_parse(chain, r);
    ok = certificates && add_chain(ctx, leaf, certificates, 0);
    sk_X509_pop_free(certificates, X509_free);
    return ok;
}

static bool use(SSL_CTX *ctx, STACK_OF(X509) * certificates, EVP_PKEY *key,
                const struct tls_files *f, size_t i, struct tls_report *r)
{
    X509 *leaf = sk_X509_value(certificates, 0);

    ERR_clear_error();
    if (SSL_CTX_use_certificate(ctx, leaf) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1 &&
        add_chain(ctx, leaf, certificates, 1))
        return use_chain_file(ctx, leaf, &f->chain, r);
    tls_fault(r, "CertificateFile: %s: cannot be used: %s", f->certificates[i].path,
              openssl_why_failed());
    return false;
}

static bool use_pair(SSL_CTX *ctx, const struct tls_files *f, size_t i, int *kinds,
                     struct tls_report *r)
{
    STACK_OF(X509) *certificates = openssl_pairs_parse(&f->certificates[i], r);
    EVP_PKEY *key = parse_key(&f->keys[i], r);
    bool ok = certificates && key;

    if (ok) {
        X509 *leaf = sk_X509_value(certificates, 0);

        judge_time(leaf, &f->certificates[i], &r->not_after[i], r);
        ok = fits(leaf, key, f, i, r) && !is_doubled(key, kinds, i, &f->certificates[i], r) &&
             use(ctx, certificates, key, f, i, r);
        kinds[i] = EVP_PKEY_get_base_id(key);
    }
    sk_X509_pop_free(certificates, X509_free);
    EVP_PKEY_free(key);
    return ok;
}

int openssl_pairs_use(SSL_CTX *ctx, const struct tls_files *f, struct tls_report *r)
{
    int kinds[TLS_PAIRS_MAX] = {0};
    bool ok = true;

    for (size_t i = 0; i < f->npairs; i++)
        ok = use_pair(ctx, f, i, kinds, r) && ok;
    return ok ? 0 : MK_E_INVALID;
}
