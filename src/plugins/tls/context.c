/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "crls.h"
#include "hello.h"
#include "pairs.h"
#include "resume.h"
#include "why.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

enum { DH_BITS_MIN = 2048 };

/* ---- what both sides have ---- */

static SSL_CTX *new_context(const SSL_METHOD *method)
{
    char groups[] = "X25519:P-256:P-384"; /* Mozilla's "intermediate"; a macro casts const away */
    SSL_CTX *ctx = SSL_CTX_new(method);

    if (!ctx)
        return NULL;
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY); /* so that records without data can be counted */
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set1_groups_list(ctx, groups) == 1 &&
        SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

/* @return false with a fault noted. */
static bool trust(SSL_CTX *ctx, const struct tls_file *ca, bool tell_client, struct tls_report *r)
{
    STACK_OF(X509) *authorities = openssl_pairs_parse(ca, r);
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    bool ok = authorities;

    for (int i = 0; ok && i < sk_X509_num(authorities); i++) {
        X509 *one = sk_X509_value(authorities, i);

        ok = X509_STORE_add_cert(store, one) == 1 &&
             (!tell_client || SSL_CTX_add_client_CA(ctx, one) == 1);
        if (!ok)
            tls_fault(r, "%s: %s: cannot be used: %s", ca->key, ca->path, openssl_why_failed());
    }
    sk_X509_pop_free(authorities, X509_free);
    return ok;
}

/* ---- the server's side ---- */

static bool is_dh(const EVP_PKEY *parameters)
{
    return parameters && (EVP_PKEY_is_a(parameters, "DH") || EVP_PKEY_is_a(parameters, "DHX"));
}

static bool set_dh(SSL_CTX *ctx, const struct tls_file *file, struct tls_report *r)
{
    BIO *bytes;
    EVP_PKEY *parameters;

    if (!file->bytes)
        return true;
    bytes = BIO_new_mem_buf(file->bytes, (int)file->len);
    parameters = bytes ? PEM_read_bio_Parameters(bytes, NULL) : NULL;
    BIO_free(bytes);
    if (is_dh(parameters) && EVP_PKEY_get_bits(parameters) >= DH_BITS_MIN &&
        SSL_CTX_set0_tmp_dh_pkey(ctx, parameters) == 1) /* takes them */
        return true;
    if (is_dh(parameters))
        tls_fault(r, "%s: %s: %d bits are too few; at least %d", file->key, file->path,
                  EVP_PKEY_get_bits(parameters), DH_BITS_MIN);
    else
        tls_fault(r, "%s: %s: has no DH parameters in PEM", file->key, file->path);
    EVP_PKEY_free(parameters);
    ERR_clear_error();
    return false;
}

static bool set_ciphers(struct front *front, const struct tls_settings *s, struct tls_report *r)
{
    const char *ciphers = s->ciphers ? s->ciphers : TLS_CIPHERS;
    const char *suites = s->ciphersuites ? s->ciphersuites : TLS_CIPHERSUITES;

    if (SSL_CTX_set_cipher_list(front->ctx, ciphers) != 1) {
        tls_fault(r, "Ciphers: OpenSSL knows none of \"%s\"", ciphers);
        ERR_clear_error();
        return false;
    }
    if (SSL_CTX_set_ciphersuites(front->ctx, suites) != 1) {
        tls_fault(r, "Ciphersuites: OpenSSL does not know all of \"%s\"", suites);
        ERR_clear_error();
        return false;
    }
    return true;
}

static bool set_versions(struct front *front, const struct tls_settings *s)
{
    front->min = s->protocols == TLS_PROTOCOL_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
    front->max = s->protocols == TLS_PROTOCOL_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
    return SSL_CTX_set_min_proto_version(front->ctx, front->min) == 1 &&
           SSL_CTX_set_max_proto_version(front->ctx, front->max) == 1;
}

static bool set_clients(struct front *front, const struct tls_settings *s,
                        const struct tls_files *f, struct tls_report *r)
{
    static const int modes[] = {
        [TLS_CLIENT_CERT_OFF] = SSL_VERIFY_NONE,
        [TLS_CLIENT_CERT_OPTIONAL] = SSL_VERIFY_PEER,
        [TLS_CLIENT_CERT_ON] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
    };

    front->verify = modes[s->client_cert];
    SSL_CTX_set_verify(front->ctx, front->verify, NULL);
    return s->client_cert == TLS_CLIENT_CERT_OFF ||
           (trust(front->ctx, &f->ca, true, r) && openssl_crls_use(front->ctx, f, r));
}

static bool set_sessions(struct front *front, const struct tls_settings *s,
                         const struct tls_identity *id)
{
    memcpy(front->session, id->session, sizeof(front->session));
    front->tickets =
        s->tickets ? 2 : 0; /* browsers use each once, and several connections at a time */
    front->options = s->tickets ? 0 : SSL_OP_NO_TICKET;
#ifdef SSL_OP_ENABLE_KTLS
    front->kernel = s->kernel;
    front->options |= s->kernel ? SSL_OP_ENABLE_KTLS : 0;
#endif
    SSL_CTX_set_options(front->ctx, front->options);
    return SSL_CTX_set_num_tickets(front->ctx, front->tickets) == 1 &&
           SSL_CTX_set_session_id_context(front->ctx, front->session, sizeof(front->session)) ==
               1 &&
           openssl_resume_use(front->ctx);
}

static void free_front(void *object)
{
    struct front *front = object;

    SSL_CTX_free(front->ctx);
    openssl_staples_free(&front->staples);
    free(front);
}

static int fill_front(struct front *front, const struct tls_settings *s, const struct tls_files *f,
                      const struct tls_identity *id, struct tls_report *r)
{
    bool ok = set_ciphers(front, s, r);
    int err;

    ok = set_dh(front->ctx, &f->dh, r) && ok;
    ok = set_clients(front, s, f, r) && ok;
    err = openssl_pairs_use(front->ctx, f, r);
    if (!ok || err < 0)
        return ok ? err : MK_E_INVALID;
    if (!set_versions(front, s) || !set_sessions(front, s, id))
        return MK_E_NOMEM;
    openssl_hello_use(front->ctx);
    return openssl_staples_use(&front->staples, front->ctx, f, r);
}

static int new_front(void **object, const struct tls_settings *s, const struct tls_files *f,
                     const struct tls_identity *id, struct tls_report *r)
{
    struct front *front = calloc(1, sizeof(*front));
    int err = MK_E_NOMEM;

    ERR_clear_error();
    if (!front)
        return MK_E_NOMEM;
    front->ctx = new_context(TLS_server_method());
    if (front->ctx) {
        /* A client may end its side without close_notify, and waits for the answer as any other does. */
        SSL_CTX_set_options(front->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
        err = fill_front(front, s, f, id, r);
    }
    ERR_clear_error();
    if (err < 0)
        free_front(front);
    else
        *object = front;
    return err;
}

/* What SSL_set_SSL_CTX does not take along. Version and suites are chosen behind the client hello. */
bool openssl_front_apply(SSL *ssl, const struct front *front)
{
    if (SSL_get_SSL_CTX(ssl) == front->ctx)
        return true;
    if (!SSL_set_SSL_CTX(ssl, front->ctx) || SSL_set_min_proto_version(ssl, front->min) != 1 ||
        SSL_set_max_proto_version(ssl, front->max) != 1 ||
        SSL_set_num_tickets(ssl, front->tickets) != 1 ||
        SSL_set_session_id_context(ssl, front->session, sizeof(front->session)) != 1)
        return false;
    SSL_set_verify(ssl, front->verify, NULL);
    SSL_clear_options(ssl, SSL_OP_NO_TICKET);
    SSL_set_options(ssl, front->options & SSL_OP_NO_TICKET);
    return true;
}

/* ---- the client's side ---- */

static void free_back(void *object)
{
    struct back *back = object;

    SSL_CTX_free(back->ctx);
    (void)pthread_mutex_destroy(&back->lock);
    free(back);
}

static int fill_back(struct back *back, const struct tls_backend_settings *s,
                     const struct tls_files *f, struct tls_report *r)
{
    static const unsigned char http[] = "\x08http/1.1";
    int err;

    back->verify = s->verify;
    SSL_CTX_set_verify(back->ctx, s->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (SSL_CTX_set_alpn_protos(back->ctx, http, sizeof(http) - 1) != 0)
        return MK_E_NOMEM;
    err = openssl_pairs_use(back->ctx, f, r);
    if (err < 0)
        return err;
    if (s->ca)
        return trust(back->ctx, &f->ca, false, r) ? 0 : MK_E_INVALID;
    back->awaits_system = s->verify;
    return 0;
}

static int new_back(void **object, const struct tls_backend_settings *s, const struct tls_files *f,
                    struct tls_report *r)
{
    struct back *back = calloc(1, sizeof(*back));
    int err = MK_E_NOMEM;

    ERR_clear_error();
    if (!back)
        return MK_E_NOMEM;
    (void)pthread_mutex_init(&back->lock, NULL); /* cannot fail on Linux */
    back->ctx = new_context(TLS_client_method());
    if (back->ctx)
        err = fill_back(back, s, f, r);
    ERR_clear_error();
    if (err < 0)
        free_back(back);
    else
        *object = back;
    return err;
}

SSL *openssl_back_open(struct back *back)
{
    bool is_ready;

    pthread_mutex_lock(&back->lock);
    is_ready = !back->awaits_system || SSL_CTX_set_default_verify_paths(back->ctx) == 1;
    if (is_ready)
        back->awaits_system = false;
    pthread_mutex_unlock(&back->lock);
    return is_ready ? SSL_new(back->ctx) : NULL;
}

static void digest(const void *bytes, size_t len, uint8_t out[32])
{
    (void)EVP_Digest(bytes, len, out, NULL, EVP_sha256(), NULL);
}

static bool front_has_name(void *object, const char *name)
{
    const struct front *front = object;
    int at = SSL_CTX_set_current_cert(front->ctx, SSL_CERT_SET_FIRST);

    for (; at == 1; at = SSL_CTX_set_current_cert(front->ctx, SSL_CERT_SET_NEXT)) {
        X509 *certificate = SSL_CTX_get0_certificate(front->ctx);

        if (certificate &&
            X509_check_host(certificate, name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1)
            return true;
    }
    return false;
}

const struct tls_engine openssl_engine = {
    .server_new = new_front,
    .server_free = free_front,
    .server_has_name = front_has_name,
    .client_new = new_back,
    .client_free = free_back,
    .digest = digest,
};
