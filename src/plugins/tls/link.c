/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "pipe.h"

#include <monkey/protocol.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/socket.h>

/* OpenSSL's macro for this casts const away, which not every compiler allows. */
static bool say_name(SSL *ssl, const char *name)
{
    return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    (void *)(uintptr_t)name) == 1;
}

/* The name is an address, or one that goes into the client hello too (RFC 6066 section 3). */
static bool expect_name(SSL *ssl, const struct back *back, const char *name)
{
    X509_VERIFY_PARAM *verify = SSL_get0_param(ssl);
    unsigned char address[16];
    bool is_address =
        inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;

    if (!is_address && !say_name(ssl, name))
        return false;
    if (!back->verify)
        return true;
    if (is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(verify, name) == 1;
    X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(verify, name, 0) == 1;
}

/* In place of what all others are offered. As in the hello: a byte of length, and the name (RFC 7301 section 3.1). */
static bool ask_for(SSL *ssl, struct mk_str protocol)
{
    unsigned char list[1 + UINT8_MAX];

    if (!protocol.p)
        return true;
    list[0] = (unsigned char)protocol.len;
    memcpy(list + 1, protocol.p, protocol.len);
    return SSL_set_alpn_protos(ssl, list, 1 + list[0]) == 0;
}

static SSL *begin_client(struct tls_link *t, const char *name, struct mk_str protocol)
{
    struct back *back = tls_live_backend(t->local->live, name);
    SSL *ssl = back->verify && !name ? NULL : openssl_back_open(back); /* whom would it be? */

    if (!ssl)
        return NULL;
    SSL_set_connect_state(ssl);
    t->asked = protocol;
    if ((!name || expect_name(ssl, back, name)) && ask_for(ssl, protocol))
        return ssl;
    SSL_free(ssl);
    return NULL;
}

static SSL *begin_server(struct openssl_link *own, struct mk_str offer)
{
    struct tls_link *t = &own->link;
    const struct front *front;
    SSL *ssl;

    t->site = tls_live_site(t->local->live, (struct mk_str){NULL, 0});
    own->offer = offer;
    front = t->site ? t->site->object : NULL;
    ssl = front ? SSL_new(front->ctx) : NULL;
    if (ssl)
        SSL_set_accept_state(ssl);
    return ssl;
}

/* The kernel makes the records from the end of the handshake on, where it can. */
static void ask_kernel(struct openssl_link *own)
{
    const struct tls_link *t = &own->link;
    const struct front *front = t->site ? t->site->object : NULL;
    struct openssl_worker *w = openssl_worker_of(t);

    if (!front || !front->kernel)
        return;
    if (!w->has_no_kernel && setsockopt(t->fd, IPPROTO_TCP, TCP_ULP, "tls", 4) == 0)
        return;
    w->has_no_kernel = w->has_no_kernel || errno != ENOTCONN;
    SSL_clear_options(own->ssl, SSL_OP_ENABLE_KTLS);
}

static int openssl_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    struct openssl_link *own = calloc(1, sizeof(*own));
    struct openssl_worker *w = ctx->local;
    struct tls_link *t = &own->link;
    char text[TLS_NAME_MAX + 1];

    if (!own)
        return MK_E_NOMEM;
    t->local = &w->local;
    w->refs++;
    t->fd = l->fd;
    t->state = TLS_LINK_SHAKING;
    ERR_clear_error();
    own->ssl = l->is_client ? begin_client(t, tls_name_without_dot(name, text), mk_link_offer(l))
                            : begin_server(own, mk_link_offer(l));
    if (!own->ssl || !openssl_pipe_open(own)) {
        ERR_clear_error();
        openssl_link_engine.free(t);
        return MK_E_NOMEM;
    }
    ask_kernel(own);
    l->state = t;
    return 0;
}

static void openssl_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    const struct tls_link *t = l->state;
    const SSL *ssl = openssl_ssl_of(t);

    facts->tls_version = SSL_get_version(ssl);
    facts->tls_cipher = SSL_get_cipher_name(ssl);
    facts->server_name = mk_str_from(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    facts->client_subject = mk_str_from(t->subject);
    facts->protocol = openssl_link_engine.agreed(t);
}

const struct mk_transport openssl_transport = {
    .size = sizeof(struct mk_transport),
    .name = "tls",
    .is_secure = true,
    .open = openssl_open,
    .recv = tls_link_recv,
    .send = tls_link_send,
    .sendfile = tls_link_sendfile,
    .shutdown = tls_link_shutdown,
    .close = tls_link_close,
    .facts = openssl_facts,
    .held = tls_link_held,
};
