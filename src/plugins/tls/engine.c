/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"
#include "why.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

/* What the kit's link has OpenSSL do. Its queue of errors is the thread's: it is emptied before each call whose error counts. */

enum { SUBJECT_MAX = 1024 };

/* ---- the handshake ---- */

static char *copy_text(const char *bytes, size_t len)
{
    char *text = malloc(len + 1);

    if (!text)
        return NULL;
    memcpy(text, bytes, len);
    text[len] = '\0';
    return text;
}

/* @return false without memory: whom a certificate names must not get lost. */
static bool note_subject(struct tls_link *t)
{
    X509 *certificate = t->site && t->site->client_cert != TLS_CLIENT_CERT_OFF
                            ? SSL_get0_peer_certificate(openssl_ssl_of(t))
                            : NULL;
    BIO *text;
    char *bytes;
    long len;

    if (!certificate)
        return true;
    text = BIO_new(BIO_s_mem());
    if (text &&
        X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0) {
        len = BIO_get_mem_data(text, &bytes);
        t->subject = copy_text(bytes, len < SUBJECT_MAX ? (size_t)len : SUBJECT_MAX);
    }
    BIO_free(text);
    return t->subject;
}

/* RFC 7301 section 3.2: no_application_protocol. */
static bool is_told_unagreed(void)
{
    return ERR_GET_REASON(ERR_peek_last_error()) ==
           SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL;
}

static enum tls_step openssl_shake(struct tls_link *t)
{
    SSL *ssl = openssl_ssl_of(t);
    int result, error;

    ERR_clear_error();
    result = SSL_do_handshake(ssl);
    error = SSL_get_error(ssl, result);
    if (t->is_plain)
        ERR_clear_error();
    t->is_unagreed = t->asked.p && error == SSL_ERROR_SSL && is_told_unagreed();
    if (result != 1)
        return error == SSL_ERROR_WANT_READ ? TLS_STEP_AGAIN : TLS_STEP_FAIL;
    if (note_subject(t))
        return TLS_STEP_DONE;
    (void)tls_link_fail(t, "cannot store a client's certificate", openssl_why_failed());
    return TLS_STEP_FAIL;
}

static struct mk_str openssl_agreed(const struct tls_link *t)
{
    const unsigned char *protocol;
    unsigned len;

    SSL_get0_alpn_selected(openssl_ssl_of(t), &protocol, &len);
    return (struct mk_str){(const char *)protocol, len};
}

/* ---- data ---- */

static enum tls_step openssl_read(struct tls_link *t, void *buf, size_t len, size_t *got)
{
    SSL *ssl = openssl_ssl_of(t);

    ERR_clear_error();
    if (SSL_read_ex(ssl, buf, len, got) == 1)
        return TLS_STEP_DONE;
    switch (SSL_get_error(ssl, 0)) {
    case SSL_ERROR_WANT_READ:
        return TLS_STEP_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_STEP_END;
    default:
        break;
    }
    if (!t->has_ended)
        return TLS_STEP_FAIL;
    ERR_clear_error();
    return SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN ? TLS_STEP_END : TLS_STEP_CUT;
}

static ssize_t openssl_write(struct tls_link *t, const char *bytes, size_t len)
{
    SSL *ssl = openssl_ssl_of(t);
    size_t n;

    ERR_clear_error();
    if (SSL_write_ex(ssl, bytes, len, &n) == 1)
        return (ssize_t)n;
    return SSL_get_error(ssl, 0) == SSL_ERROR_WANT_WRITE ? MK_E_AGAIN : MK_E_PEER;
}

/* Sends through OpenSSL's own call; never run by us, as no kernel of ours has TLS. */
static ssize_t openssl_sendfile(struct tls_link *t, int fd, uint64_t offset, size_t len)
{
    SSL *ssl = openssl_ssl_of(t);
    ssize_t n;

    ERR_clear_error();
    n = SSL_sendfile(ssl, fd, (off_t)offset, len, 0);
    if (n >= 0)
        return n;
    return SSL_get_error(ssl, (int)n) == SSL_ERROR_WANT_WRITE ? MK_E_AGAIN : MK_E_PEER;
}

static bool openssl_has_input(const struct tls_link *t)
{
    return SSL_has_pending(openssl_ssl_of(t));
}

/* ---- the end ---- */

static void openssl_say_end(struct tls_link *t)
{
    ERR_clear_error();
    (void)SSL_shutdown(openssl_ssl_of(t));
    ERR_clear_error();
}

static const char *openssl_why(struct tls_link *t, char text[TLS_WHY_MAX])
{
    (void)t;
    (void)text;
    return openssl_why_failed();
}

static const char *openssl_why_refused(struct tls_link *t, char text[TLS_WHY_MAX])
{
    long verified = SSL_get_verify_result(openssl_ssl_of(t));
    const char *reason = openssl_why(t, text);

    return verified == X509_V_OK ? reason : X509_verify_cert_error_string(verified);
}

static void openssl_free(struct tls_link *t)
{
    SSL_free(openssl_ssl_of(t));
    openssl_worker_put(openssl_worker_of(t));
    free(t);
}

const struct tls_link_engine openssl_link_engine = {
    .name = "tls",
    .shake = openssl_shake,
    .agreed = openssl_agreed,
    .read = openssl_read,
    .write = openssl_write,
    .sendfile = openssl_sendfile,
    .has_input = openssl_has_input,
    .say_end = openssl_say_end,
    .why = openssl_why,
    .why_refused = openssl_why_refused,
    .free = openssl_free,
};
