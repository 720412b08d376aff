/* SPDX-License-Identifier: Apache-2.0 */
#include "staple.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <time.h>

enum { SKEW_S = 300 }; /* between our clock and the authority's */

/* ---- in a handshake ---- */

static const struct staple *find(const struct staples *s, const X509 *certificate, int64_t now_s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (X509_cmp(s->items[i].about, certificate) == 0 && now_s <= s->items[i].until_s)
            return &s->items[i];
    }
    return NULL;
}

static int on_status(SSL *ssl, void *arg)
{
    const X509 *certificate = SSL_get_certificate(ssl);
    const struct staple *staple = certificate ? find(arg, certificate, time(NULL)) : NULL;
    unsigned char *copy = staple ? OPENSSL_memdup(staple->response, (size_t)staple->len) : NULL;

    if (!copy)
        return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, staple->len); /* takes it */
    return SSL_TLSEXT_ERR_OK;
}

/* ---- reading ---- */

struct verdict {
    int status;
    X509 *issuer; /* of the certificate; borrowed; NULL: not in its chain */
};

static int64_t seconds(const ASN1_GENERALIZEDTIME *when)
{
    struct tm tm;

    return when && ASN1_TIME_to_tm(when, &tm) == 1 ? timegm(&tm) : INT64_MAX;
}

/* Authorities number each on its own, so the number is not enough. */
static bool is_issuer(const X509 *certificate, const ASN1_OBJECT *algorithm,
                      const ASN1_OCTET_STRING *hash)
{
    const EVP_MD *md = EVP_get_digestbyobj(algorithm);
    unsigned char name[EVP_MAX_MD_SIZE];
    unsigned len;

    return md && X509_NAME_digest(X509_get_issuer_name(certificate), md, name, &len) == 1 &&
           (int)len == ASN1_STRING_length(hash) &&
           memcmp(name, ASN1_STRING_get0_data(hash), len) == 0;
}

static bool is_about(OCSP_SINGLERESP *single, const X509 *certificate)
{
    ASN1_OBJECT *algorithm = NULL;
    ASN1_OCTET_STRING *issuer = NULL;
    ASN1_INTEGER *serial = NULL;

    return OCSP_id_get0_info(&issuer, &algorithm, NULL, &serial,
                             (OCSP_CERTID *)(uintptr_t)OCSP_SINGLERESP_get0_id(single)) == 1 &&
           ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(certificate)) == 0 &&
           is_issuer(certificate, algorithm, issuer);
}

/* One after the other is the current one: OpenSSL's way to walk them. */
static X509 *next_certificate(SSL_CTX *ctx, bool first)
{
    return SSL_CTX_set_current_cert(ctx, first ? SSL_CERT_SET_FIRST : SSL_CERT_SET_NEXT) == 1
               ? SSL_CTX_get0_certificate(ctx)
               : NULL;
}

/* Of the current certificate, as far as its chain goes. Borrowed. */
static X509 *find_issuer(SSL_CTX *ctx, X509 *leaf)
{
    STACK_OF(X509) *chain = NULL;

    if (SSL_CTX_get0_chain_certs(ctx, &chain) != 1)
        return NULL;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        if (X509_check_issued(sk_X509_value(chain, i), leaf) == X509_V_OK)
            return sk_X509_value(chain, i);
    }
    return NULL;
}

static bool take_single(struct staple *s, SSL_CTX *ctx, OCSP_SINGLERESP *single,
                        struct verdict *verdict)
{
    ASN1_GENERALIZEDTIME *next = NULL;

    for (X509 *c = next_certificate(ctx, true); c; c = next_certificate(ctx, false)) {
        if (!is_about(single, c))
            continue;
        verdict->status = OCSP_single_get0_status(single, NULL, NULL, NULL, &next);
        verdict->issuer = find_issuer(ctx, c);
        s->until_s = seconds(next);
        s->about = c;
        return X509_up_ref(c) == 1;
    }
    return false;
}

/*
 * By the issuer itself, or by whom it gave the right to (RFC 6960 section 4.2.2.2). It is trusted for this, whoever stands
 * above it.
 * @param flags  X509_V_FLAG_NO_CHECK_TIME: by a certificate of any time; 0: by one of now
 */
static bool is_signed(OCSP_BASICRESP *basic, X509 *issuer, unsigned long flags)
{
    STACK_OF(X509) *signers = sk_X509_new_null();
    X509_STORE *trusted = X509_STORE_new();
    bool ok = signers && trusted && sk_X509_push(signers, issuer) > 0 &&
              X509_STORE_add_cert(trusted, issuer) == 1 &&
              X509_STORE_set_flags(trusted, X509_V_FLAG_PARTIAL_CHAIN | flags) == 1 &&
              OCSP_basic_verify(basic, signers, trusted, 0) == 1;

    X509_STORE_free(trusted);
    sk_X509_free(signers);
    return ok;
}

static bool is_over(const struct staple *s)
{
    return s->until_s < time(NULL) - SKEW_S;
}

/* That a certificate of theirs ran out must not keep a server from starting, no more than an old response does. */
static bool check_signature(struct staple *s, OCSP_BASICRESP *basic, X509 *issuer)
{
    if (is_signed(basic, issuer, 0))
        return true;
    s->until_s = INT64_MIN;
    return is_signed(basic, issuer, X509_V_FLAG_NO_CHECK_TIME);
}

/* @return NULL, or what is wrong. */
static const char *judge_basic(struct staple *s, SSL_CTX *ctx, OCSP_BASICRESP *basic,
                               struct verdict *verdict)
{
    for (int i = 0; !s->about && i < OCSP_resp_count(basic); i++)
        (void)take_single(s, ctx, OCSP_resp_get0(basic, i), verdict);
    if (!s->about)
        return "is for none of the certificates";
    if (verdict->status != V_OCSP_CERTSTATUS_GOOD)
        return "says that the certificate is not good";
    if (!is_over(s) && verdict->issuer && !check_signature(s, basic, verdict->issuer))
        return "is not signed by the issuer of the certificate, nor for it";
    return NULL;
}

static const char *judge(struct staple *s, SSL_CTX *ctx, OCSP_RESPONSE *response,
                         struct verdict *verdict)
{
    OCSP_BASICRESP *basic;
    const char *wrong;

    if (OCSP_response_status(response) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        return "says that the certificate authority could not answer";
    basic = OCSP_response_get1_basic(response);
    wrong = basic ? judge_basic(s, ctx, basic, verdict) : "is for none of the certificates";
    OCSP_BASICRESP_free(basic);
    return wrong;
}

static void warn(const struct staple *s, const struct verdict *verdict, const struct tls_file *file,
                 struct tls_report *r)
{
    if (is_over(s))
        tls_warn(r, "%s: %s: is out of date and is not sent to clients", file->key, file->path);
    else if (!verdict->issuer)
        tls_warn(r,
                 "%s: %s: its signature cannot be verified, because the certificate's issuer is "
                 "not in the chain",
                 file->key, file->path);
}

static int take(struct staples *all, SSL_CTX *ctx, const struct tls_file *file,
                struct tls_report *r)
{
    const unsigned char *at = (const unsigned char *)file->bytes;
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)file->len);
    struct staple *s = &all->items[all->count++];
    struct verdict verdict = {.status = V_OCSP_CERTSTATUS_UNKNOWN};
    const char *wrong =
        response ? judge(s, ctx, response, &verdict) : "is not an OCSP response in DER";

    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    if (wrong) {
        tls_fault(r, "%s: %s: %s", file->key, file->path, wrong);
        return MK_E_INVALID;
    }
    warn(s, &verdict, file, r);
    s->len = (int)file->len;
    s->response = OPENSSL_memdup(file->bytes, file->len);
    return s->response ? 0 : MK_E_NOMEM;
}

int openssl_staples_use(struct staples *s, SSL_CTX *ctx, const struct tls_files *f,
                        struct tls_report *r)
{
    int err = 0;

    for (size_t i = 0; i < f->nocsp && err == 0; i++)
        err = take(s, ctx, &f->ocsp[i], r);
    if (err == 0 && s->count > 0) {
        SSL_CTX_set_tlsext_status_cb(ctx, on_status);
        SSL_CTX_set_tlsext_status_arg(ctx, s);
    }
    return err;
}

void openssl_staples_free(struct staples *s)
{
    for (size_t i = 0; i < s->count; i++) {
        OPENSSL_free(s->items[i].response);
        X509_free(s->items[i].about);
    }
    s->count = 0;
}
