/* SPDX-License-Identifier: Apache-2.0 */
#include "secure.h"

#include <stdlib.h>

#if REDIS_HAS_TLS
#include "remote/address.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

struct redis_trust {
    SSL_CTX *ctx;
};

struct redis_secure {
    SSL *ssl;
    BIO *in, *out; /* ssl's */
    char why[128];
};

struct redis_trust *redis_trust_new(const char *ca, const char **why)
{
    struct redis_trust *trust = calloc(1, sizeof(*trust));
    int is_set;

    *why = "no memory";
    if (!trust)
        return NULL;
    trust->ctx = SSL_CTX_new(TLS_client_method());
    if (trust->ctx) {
        *why = "its file of certificates cannot be read";
        is_set = ca[0] ? SSL_CTX_load_verify_file(trust->ctx, ca)
                       : SSL_CTX_set_default_verify_paths(trust->ctx);
        SSL_CTX_set_verify(trust->ctx, SSL_VERIFY_PEER, NULL);
        (void)SSL_CTX_set_mode(trust->ctx, SSL_MODE_RELEASE_BUFFERS);
        if (is_set == 1 && SSL_CTX_set_min_proto_version(trust->ctx, TLS1_2_VERSION) == 1)
            return trust;
    }
    ERR_clear_error();
    redis_trust_free(trust);
    return NULL;
}

void redis_trust_free(struct redis_trust *trust)
{
    if (!trust)
        return;
    SSL_CTX_free(trust->ctx);
    free(trust);
}

/* As SSL_set_tlsext_host_name, whose cast takes const away. */
static bool send_name(SSL *ssl, const char *host)
{
    return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    (void *)(uintptr_t)host) == 1;
}

/* The name goes to the server, too: RFC 6066 section 3 has none for addresses. */
static bool set_host(SSL *ssl, const char *host)
{
    if (address_is_numeric(host, strlen(host)))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host) == 1 && send_name(ssl, host);
}

static bool set_ends(struct redis_secure *s)
{
    s->in = BIO_new(BIO_s_mem());
    s->out = BIO_new(BIO_s_mem());
    if (!s->in || !s->out) {
        (void)BIO_free(s->in);
        (void)BIO_free(s->out);
        return false;
    }
    SSL_set_bio(s->ssl, s->in, s->out);
    return true;
}

struct redis_secure *redis_secure_new(struct redis_trust *trust, const char *host)
{
    struct redis_secure *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->ssl = SSL_new(trust->ctx);
    if (s->ssl && set_ends(s) && set_host(s->ssl, host)) {
        SSL_set_connect_state(s->ssl);
        return s;
    }
    ERR_clear_error();
    redis_secure_free(s);
    return NULL;
}

void redis_secure_free(struct redis_secure *s)
{
    if (!s)
        return;
    SSL_free(s->ssl);
    free(s);
}

int redis_secure_feed(struct redis_secure *s, const char *bytes, size_t len)
{
    size_t n;

    if (BIO_write_ex(s->in, bytes, len, &n) == 1 && n == len)
        return 0;
    (void)snprintf(s->why, sizeof(s->why), "no memory");
    return -1;
}

/* @return 0: it wants more bytes; -1: it has failed */
static int judge(struct redis_secure *s, int result)
{
    const long verified = SSL_get_verify_result(s->ssl);
    const char *reason = NULL;

    switch (SSL_get_error(s->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return 0;
    case SSL_ERROR_ZERO_RETURN:
        reason = "the server closed the connection";
        break;
    default:
        reason = verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                       : ERR_reason_error_string(ERR_peek_error());
        break;
    }
    (void)snprintf(s->why, sizeof(s->why), "TLS: %s", reason ? reason : "it has failed");
    ERR_clear_error();
    return -1;
}

int redis_secure_shake(struct redis_secure *s)
{
    int result;

    ERR_clear_error();
    result = SSL_do_handshake(s->ssl);
    return result == 1 ? 1 : judge(s, result);
}

ssize_t redis_secure_read(struct redis_secure *s, char *to, size_t len)
{
    size_t n = 0;
    int result;

    ERR_clear_error();
    result = SSL_read_ex(s->ssl, to, len, &n);
    return result == 1 ? (ssize_t)n : judge(s, result);
}

int redis_secure_write(struct redis_secure *s, const char *bytes, size_t len)
{
    size_t n = 0;
    int result;

    ERR_clear_error();
    result = SSL_write_ex(s->ssl, bytes, len, &n);
    if (result == 1 && n == len)
        return 0;
    (void)judge(s, result);
    return -1;
}

size_t redis_secure_pending(struct redis_secure *s, char **p)
{
    const long n = BIO_get_mem_data(s->out, p);

    return n > 0 ? (size_t)n : 0;
}

void redis_secure_sent(struct redis_secure *s, size_t n)
{
    char room[4096];
    size_t got;

    while (n > 0 && BIO_read_ex(s->out, room, n < sizeof(room) ? n : sizeof(room), &got) == 1)
        n -= got;
}

const char *redis_secure_why(struct redis_secure *s)
{
    return s->why;
}

#else

struct redis_trust *redis_trust_new(const char *ca, const char **why)
{
    (void)ca;
    *why = "this build has no TLS";
    return NULL;
}

void redis_trust_free(struct redis_trust *trust)
{
    (void)trust;
}

struct redis_secure *redis_secure_new(struct redis_trust *trust, const char *host)
{
    (void)trust, (void)host;
    return NULL;
}

void redis_secure_free(struct redis_secure *s)
{
    (void)s;
}

int redis_secure_feed(struct redis_secure *s, const char *bytes, size_t len)
{
    (void)s, (void)bytes, (void)len;
    return -1;
}

int redis_secure_shake(struct redis_secure *s)
{
    (void)s;
    return -1;
}

ssize_t redis_secure_read(struct redis_secure *s, char *to, size_t len)
{
    (void)s, (void)to, (void)len;
    return -1;
}

int redis_secure_write(struct redis_secure *s, const char *bytes, size_t len)
{
    (void)s, (void)bytes, (void)len;
    return -1;
}

size_t redis_secure_pending(struct redis_secure *s, char **p)
{
    (void)s, (void)p;
    return 0;
}

void redis_secure_sent(struct redis_secure *s, size_t n)
{
    (void)s, (void)n;
}

const char *redis_secure_why(struct redis_secure *s)
{
    (void)s;
    return "this build has no TLS";
}
#endif
