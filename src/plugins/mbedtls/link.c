/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include <stdlib.h>
#include <sys/socket.h>

/* ---- a link begins ---- */

static int begin_server(struct mbed_link *t)
{
    t->site = tls_live_site(t->worker->live, (struct mk_str){NULL, 0});
    if (!t->site)
        return MK_E_UNSUPPORTED;
    t->face = mbed_face_of_site(t->worker, t->site);
    return 0;
}

static struct mbed_face *find_back(struct mbed_worker *w, const struct mbed_back *back)
{
    size_t i = 0;

    while (w->live->backends[i] != back)
        i++;
    return &w->backs[i];
}

/* It goes into the client hello (RFC 6066 section 3) and is what the certificate must have. */
static int expect_name(struct mbed_link *t, const char *name)
{
    return mbedtls_ssl_set_hostname(&t->ssl, name) == 0 ? 0 : MK_E_NOMEM;
}

static int begin_client(struct mbed_link *t, const char *name)
{
    struct mbed_back *back = tls_live_backend(t->worker->live, name);
    int err = 0;

    t->face = find_back(t->worker, back);
    if (back->verify && !name)
        return MK_E_INVALID; /* whom would it be? */
    if (!t->face->is_made)
        err = mbed_face_of_back(t->face, t->worker, back);
    if (err == MK_E_NOENT)
        mbed_complain(t, MK_LOG_ERROR, "a backend cannot be verified",
                      "the system has no list of certificate authorities; set CAFile");
    if (err == 0)
        err = mbed_begin_library(t);
    return err == 0 && name ? expect_name(t, name) : err;
}

static void free_link(struct mbed_link *t)
{
    struct mbed_worker *w = t->worker;

    if (t->has_ssl)
        mbedtls_ssl_free(&t->ssl);
    tls_outlet_fini(&t->outlet);
    free(t->name);
    free(t->subject);
    explicit_bzero(t->in, sizeof(t->in));
    free(t);
    mbed_worker_put(w);
}

static int link_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    struct mbed_link *t = calloc(1, sizeof(*t));
    char text[TLS_NAME_MAX + 1];
    int err;

    if (!t)
        return MK_E_NOMEM;
    t->worker = ctx->local;
    mbed_worker_ref(t->worker);
    t->fd = l->fd;
    err = l->is_client ? begin_client(t, tls_name_without_dot(name, text)) : begin_server(t);
    if (err < 0)
        free_link(t);
    else
        l->state = t;
    return err;
}

/* ---- the end ---- */

static void say_end(struct mbed_link *t)
{
    size_t told = 0;

    if (t->state != MBED_OPEN || t->told_end || t->outlet.left_len > 0)
        return;
    t->told_end = true;
    (void)mbedtls_ssl_close_notify(&t->ssl);
    if (mbed_wire_flush(t, 0, false, &told) < 0)
        t->state = MBED_BROKEN;
}

static void link_shutdown(struct mk_link *l)
{
    say_end(l->state);
    (void)shutdown(l->fd, SHUT_WR);
}

static void link_close(struct mk_link *l)
{
    struct mbed_link *t = l->state;

    if (!l->is_cut)
        say_end(t);
    free_link(t);
}

static size_t link_held(const struct mk_link *l)
{
    const struct mbed_link *t = l->state;

    return t->outlet.left_at + t->outlet.left_len;
}

static void link_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    const struct mbed_link *t = l->state;

    if (t->state != MBED_OPEN)
        return;
    facts->tls_version = mbedtls_ssl_get_version(&t->ssl);
    facts->tls_cipher =
        mbed_cipher_name(mbedtls_ssl_get_ciphersuite_id(mbedtls_ssl_get_ciphersuite(&t->ssl)));
    facts->server_name = mk_str_from(t->name);
    facts->client_subject = mk_str_from(t->subject);
    facts->protocol = mk_str_from(mbedtls_ssl_get_alpn_protocol(&t->ssl));
}

const uint8_t *mbed_link_policy(const struct mk_link *l)
{
    const struct mbed_link *t = l->state;

    return t->site->id.policy;
}

const struct mk_transport mbed_transport = {
    .size = sizeof(struct mk_transport),
    .name = "mbedtls",
    .is_secure = true,
    .open = link_open,
    .recv = mbed_link_recv,
    .send = mbed_link_send,
    .sendfile = mbed_link_sendfile,
    .shutdown = link_shutdown,
    .close = link_close,
    .facts = link_facts,
    .held = link_held,
};
