/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include "pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/socket.h>

/* ---- a link begins ---- */

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

static SSL *begin_client(const struct tls_live *live, const char *name)
{
    struct back *back = tls_live_backend(live, name);
    SSL *ssl = back->verify && !name ? NULL : back_open(back); /* whom would it be? */

    if (!ssl)
        return NULL;
    SSL_set_connect_state(ssl);
    if (!name || expect_name(ssl, back, name))
        return ssl;
    SSL_free(ssl);
    return NULL;
}

static SSL *begin_server(const struct tls_site *site)
{
    const struct front *front = site ? site->object : NULL;
    SSL *ssl = front ? SSL_new(front->ctx) : NULL;

    if (ssl)
        SSL_set_accept_state(ssl);
    return ssl;
}

/* The kernel makes the records from the end of the handshake on, where it can. */
static void ask_kernel(struct tls_link *t)
{
    const struct front *front = t->site ? t->site->object : NULL;
    struct tls_worker *w = t->worker;

    if (!front || !front->kernel)
        return;
    if (!w->has_no_kernel && setsockopt(t->fd, IPPROTO_TCP, TCP_ULP, "tls", 4) == 0)
        return;
    w->has_no_kernel = w->has_no_kernel || errno != ENOTCONN;
    SSL_clear_options(t->ssl, SSL_OP_ENABLE_KTLS);
}

static void free_link(struct tls_link *t)
{
    SSL_free(t->ssl);
    tls_worker_put(t->worker);
    tls_outlet_fini(&t->outlet);
    free(t->subject);
    free(t);
}

static int link_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    struct tls_link *t = calloc(1, sizeof(*t));
    struct tls_worker *w = ctx->local;
    char text[TLS_NAME_MAX + 1];

    if (!t)
        return MK_E_NOMEM;
    t->worker = w;
    w->refs++;
    t->fd = l->fd;
    ERR_clear_error();
    if (!l->is_client)
        t->site = tls_live_site(w->live, (struct mk_str){NULL, 0});
    t->ssl = l->is_client ? begin_client(w->live, tls_name_without_dot(name, text))
                          : begin_server(t->site);
    if (!t->ssl || !pipe_open(t)) {
        ERR_clear_error();
        free_link(t);
        return MK_E_NOMEM;
    }
    ask_kernel(t);
    l->state = t;
    return 0;
}

/* ---- the end ---- */

static void say_end(struct tls_link *t)
{
    size_t told = 0;

    if (t->state != TLS_OPEN || t->told_end || t->outlet.left_len > 0)
        return;
    t->told_end = true;
    ERR_clear_error();
    (void)SSL_shutdown(t->ssl);
    ERR_clear_error();
    if (pipe_flush(t, 0, false, &told) < 0)
        t->state = TLS_BROKEN;
}

static void link_shutdown(struct mk_link *l)
{
    say_end(l->state);
    (void)shutdown(l->fd, SHUT_WR);
}

static void link_close(struct mk_link *l)
{
    struct tls_link *t = l->state;

    if (!l->is_cut)
        say_end(t);
    free_link(t);
}

static size_t link_held(const struct mk_link *l)
{
    const struct tls_link *t = l->state;

    return t->outlet.left_at + t->outlet.left_len;
}

static void link_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    const struct tls_link *t = l->state;
    const unsigned char *protocol;
    unsigned len;

    facts->tls_version = SSL_get_version(t->ssl);
    facts->tls_cipher = SSL_get_cipher_name(t->ssl);
    facts->server_name = mk_str_from(SSL_get_servername(t->ssl, TLSEXT_NAMETYPE_host_name));
    facts->client_subject = mk_str_from(t->subject);
    SSL_get0_alpn_selected(t->ssl, &protocol, &len);
    if (protocol)
        facts->protocol = (struct mk_str){(const char *)protocol, len};
}

const uint8_t *link_policy(const struct mk_link *l)
{
    const struct tls_link *t = l->state;

    return t->site->id.policy;
}

const struct mk_transport transport = {
    .size = sizeof(struct mk_transport),
    .name = "tls",
    .is_secure = true,
    .open = link_open,
    .recv = link_recv,
    .send = link_send,
    .sendfile = link_sendfile,
    .shutdown = link_shutdown,
    .close = link_close,
    .facts = link_facts,
    .held = link_held,
};
