/* SPDX-License-Identifier: Apache-2.0 */
#include "load_tls.h"

#include <stddef.h>

#ifdef LOAD_TLS

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

struct channel {
    SSL *ssl;
    int counted;
};

/* One cipher for every server, the one that a client of OpenSSL is given by most: what is compared are the servers. */
#define CIPHERS "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
#define CIPHERSUITES "TLS_AES_256_GCM_SHA384"

static SSL_CTX *ctx;
static SSL_SESSION *last; /* to be offered next; a copy of the newest one that came */
static int resumes;
static long nhandshakes, nresumed;

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    SSL_SESSION_free(last);
    last = SSL_SESSION_dup(session); /* its own is not resumed when the connection ends badly */
    return 0;
}

/* A copy: OpenSSL takes a session of TLS 1.3 as used up by the first connection that resumes it, and others offer it too. */
static void offer_last(SSL *ssl)
{
    SSL_SESSION *copy = last ? SSL_SESSION_dup(last) : NULL;

    if (copy)
        SSL_set_session(ssl, copy);
    SSL_SESSION_free(copy);
}

int channel_init(int resume)
{
    ctx = SSL_CTX_new(TLS_client_method());
    if (!ctx || !SSL_CTX_set_cipher_list(ctx, CIPHERS) ||
        !SSL_CTX_set_ciphersuites(ctx, CIPHERSUITES))
        return -1;
    resumes = resume;
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(ctx, 1);
    if (resume) {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(ctx, on_session);
    }
    return 0;
}

struct channel *channel_new(int fd)
{
    struct channel *ch = OPENSSL_zalloc(sizeof(*ch));

    ch->ssl = SSL_new(ctx);
    SSL_set_fd(ch->ssl, fd);
    SSL_set_tlsext_host_name(ch->ssl, "localhost");
    if (resumes)
        offer_last(ch->ssl);
    SSL_set_connect_state(ch->ssl);
    return ch;
}

static void count(struct channel *ch)
{
    if (ch->counted || !SSL_is_init_finished(ch->ssl))
        return;
    ch->counted = 1;
    nhandshakes++;
    nresumed += SSL_session_reused(ch->ssl);
}

static ssize_t result(struct channel *ch, int n)
{
    int why = n > 0 ? SSL_ERROR_NONE : SSL_get_error(ch->ssl, n);

    count(ch);
    if (n > 0)
        return n;
    if (why == SSL_ERROR_ZERO_RETURN)
        return 0;
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EPIPE;
    return -1;
}

ssize_t channel_send(struct channel *ch, const void *p, size_t len)
{
    ERR_clear_error();
    return result(ch, SSL_write(ch->ssl, p, (int)len));
}

ssize_t channel_recv(struct channel *ch, void *p, size_t len)
{
    ERR_clear_error();
    return result(ch, SSL_read(ch->ssl, p, (int)len));
}

void channel_free(struct channel *ch)
{
    if (!ch)
        return;
    SSL_free(ch->ssl);
    OPENSSL_free(ch);
}

#else

int channel_init(int resume)
{
    (void)resume;
    return -1;
}

struct channel *channel_new(int fd)
{
    (void)fd;
    return NULL;
}

ssize_t channel_send(struct channel *ch, const void *p, size_t len)
{
    (void)ch;
    (void)p;
    (void)len;
    return -1;
}

ssize_t channel_recv(struct channel *ch, void *p, size_t len)
{
    (void)ch;
    (void)p;
    (void)len;
    return -1;
}

void channel_free(struct channel *ch)
{
    (void)ch;
}

static long nhandshakes, nresumed;

#endif

void channel_counts(long *handshakes, long *resumed)
{
    *handshakes = nhandshakes;
    *resumed = nresumed;
    nhandshakes = nresumed = 0;
}
