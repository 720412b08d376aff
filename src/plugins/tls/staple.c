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

static int64_t seconds(const ASN1_GENERALIZEDTIME *when)
{
    struct tm tm;

    return when && ASN1_TIME_to_tm(when, &tm) == 1 ? timegm(&tm) : INT64_MAX;
}

static bool is_about(OCSP_SINGLERESP *single, const X509 *certificate)
{
    ASN1_INTEGER *serial = NULL;

    return OCSP_id_get0_info(NULL, NULL, NULL, &serial,
                             (OCSP_CERTID *)(uintptr_t)OCSP_SINGLERESP_get0_id(single)) == 1 &&
           ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(certificate)) == 0;
}

/* One after the other is the current one: OpenSSL's way to walk them. */
static X509 *next_certificate(SSL_CTX *ctx, bool first)
{
    return SSL_CTX_set_current_cert(ctx, first ? SSL_CERT_SET_FIRST : SSL_CERT_SET_NEXT) == 1
               ? SSL_CTX_get0_certificate(ctx)
               : NULL;
}

static bool take_single(struct staple *s, SSL_CTX *ctx, OCSP_SINGLERESP *single, int *status)
{
    ASN1_GENERALIZEDTIME *next = NULL;

    for (X509 *c = next_certificate(ctx, true); c; c = next_certificate(ctx, false)) {
        if (!is_about(single, c))
            continue;
        *status = OCSP_single_get0_status(single, NULL, NULL, NULL, &next);
        s->until_s = seconds(next);
        s->about = c;
        return X509_up_ref(c) == 1;
    }
    return false;
}

/* @return NULL, or what is wrong. */
static const char *judge(struct staple *s, SSL_CTX *ctx, OCSP_RESPONSE *response)
{
    OCSP_BASICRESP *basic;
    int status = V_OCSP_CERTSTATUS_UNKNOWN;

    if (OCSP_response_status(response) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        return "says that the authority could not answer";
    basic = OCSP_response_get1_basic(response);
    for (int i = 0; basic && !s->about && i < OCSP_resp_count(basic); i++)
        (void)take_single(s, ctx, OCSP_resp_get0(basic, i), &status);
    OCSP_BASICRESP_free(basic);
    if (!s->about)
        return "is about none of the certificates";
    return status == V_OCSP_CERTSTATUS_GOOD ? NULL : "says that the certificate is not good";
}

static int take(struct staples *all, SSL_CTX *ctx, const struct tls_file *file,
                struct tls_report *r)
{
    const unsigned char *at = (const unsigned char *)file->bytes;
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)file->len);
    struct staple *s = &all->items[all->count++];
    const char *wrong = response ? judge(s, ctx, response) : "is no OCSP response in DER";

    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    if (wrong) {
        tls_fault(r, "%s: %s: %s", file->key, file->path, wrong);
        return MK_E_INVALID;
    }
    if (s->until_s < time(NULL) - SKEW_S)
        tls_warn(r, "%s: %s: is out of date, so it will not be given to clients", file->key,
                 file->path);
    s->len = (int)file->len;
    s->response = OPENSSL_memdup(file->bytes, file->len);
    return s->response ? 0 : MK_E_NOMEM;
}

int staples_use(struct staples *s, SSL_CTX *ctx, const struct tls_files *f, struct tls_report *r)
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

void staples_free(struct staples *s)
{
    for (size_t i = 0; i < s->count; i++) {
        OPENSSL_free(s->items[i].response);
        X509_free(s->items[i].about);
    }
    s->count = 0;
}
