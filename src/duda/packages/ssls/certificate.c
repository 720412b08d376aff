/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>

/* Keys and certificates, in PEM. */

enum { DH_BITS_LEAST = 2048 };

SSL_CTX *ssls_tls_new(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());

    if (!tls)
        return NULL;
    SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) == 1)
        return tls;
    SSL_CTX_free(tls);
    return NULL;
}

static int refuse(const char *call, const char *file, const char *why)
{
    const unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    msg->err("ssls->%s(): %s: %s", call, file ? file : "no file", reason ? reason : why);
    ERR_clear_error();
    return -1;
}

/* OpenSSL keeps the errors of each thread. */
static SSL_CTX *tls_of(ssls_ctx_t *ctx, const char *file)
{
    ERR_clear_error();
    return ctx && file && !atomic_load(&ssls_own(ctx)->is_running) ? ssls_own(ctx)->tls : NULL;
}

int ssls_load_cert(ssls_ctx_t *ctx, char *file)
{
    SSL_CTX *tls = tls_of(ctx, file);

    return tls && SSL_CTX_use_certificate_chain_file(tls, file) == 1
               ? 0
               : refuse("load_cert", file, "it is not usable");
}

int ssls_load_key(ssls_ctx_t *ctx, char *file)
{
    SSL_CTX *tls = tls_of(ctx, file);

    return tls && SSL_CTX_use_PrivateKey_file(tls, file, SSL_FILETYPE_PEM) == 1
               ? 0
               : refuse("load_key", file, "it is not usable");
}

/* @return how many were added; -1: one was refused */
static int add_chain(SSL_CTX *tls, BIO *bio)
{
    int n = 0;
    X509 *certificate;

    while ((certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        if (SSL_CTX_add0_chain_cert(tls, certificate) != 1) {
            X509_free(certificate);
            return -1;
        }
        n++;
    }
    return n;
}

int ssls_load_chain(ssls_ctx_t *ctx, char *file)
{
    SSL_CTX *tls = tls_of(ctx, file);
    BIO *bio = tls ? BIO_new_file(file, "r") : NULL;
    const int n = bio ? add_chain(tls, bio) : -1;

    BIO_free(bio);
    if (n <= 0)
        return refuse("load_ca_root_cert", file, "it has no certificate");
    ERR_clear_error(); /* the end of the file is one */
    return 0;
}

int ssls_load_dh(ssls_ctx_t *ctx, char *file)
{
    SSL_CTX *tls = tls_of(ctx, file);
    BIO *bio = tls ? BIO_new_file(file, "r") : NULL;
    EVP_PKEY *parameters = bio ? PEM_read_bio_Parameters(bio, NULL) : NULL;
    const bool is_dh = parameters && EVP_PKEY_is_a(parameters, "DH") &&
                       EVP_PKEY_get_bits(parameters) >= DH_BITS_LEAST;

    BIO_free(bio);
    if (is_dh && SSL_CTX_set0_tmp_dh_pkey(tls, parameters) == 1) /* takes them */
        return 0;
    EVP_PKEY_free(parameters);
    return refuse("load_dh_param", file, "it has no DH parameters of 2048 bits or more");
}
