/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <monkey/protocol.h>

#include <stdlib.h>

static int begin_server(struct mbed_link *own, const struct mk_link *l)
{
    const struct mk_str offer = mk_link_offer(l);
    struct tls_link *t = &own->link;

    t->site = tls_live_site(t->local->live, (struct mk_str){NULL, 0});
    if (!t->site)
        return MK_E_UNSUPPORTED;
    own->face = mbed_face_of_site(mbed_worker_of(t), t->site);
    own->offers_h2 = offer.len == 2 && memcmp(offer.p, "h2", 2) == 0;
    return 0;
}

static struct mbed_face *find_back(struct mbed_worker *w, const struct mbed_back *back)
{
    size_t i = 0;

    while (w->local.live->backends[i] != back)
        i++;
    return &w->backs[i];
}

/* It goes into the client hello (RFC 6066 section 3) and is what the certificate must have. */
static int expect_name(struct mbed_link *own, const char *name)
{
    return mbedtls_ssl_set_hostname(&own->ssl, name) == 0 ? 0 : MK_E_NOMEM;
}

static int begin_client(struct mbed_link *own, const char *name, struct mk_str protocol)
{
    struct mbed_worker *w = mbed_worker_of(&own->link);
    struct mbed_back *back = tls_live_backend(w->local.live, name);
    int err = 0;

    own->face = find_back(w, back);
    own->link.asked = protocol;
    own->asked[0] = protocol.p;
    if (back->verify && !name)
        return MK_E_INVALID; /* whom would it be? */
    if (!own->face->is_made)
        err = mbed_face_of_back(own->face, w, back);
    if (err == MK_E_NOENT)
        tls_link_complain(&own->link, MK_LOG_ERROR, "a backend cannot be verified",
                          "the system has no list of certificate authorities; set CAFile");
    if (err == 0)
        err = mbed_begin_library(own);
    return err == 0 && name ? expect_name(own, name) : err;
}

static int mbed_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    struct mbed_link *own = calloc(1, sizeof(*own));
    struct mbed_worker *w = ctx->local;
    char text[TLS_NAME_MAX + 1];
    int err;

    if (!own)
        return MK_E_NOMEM;
    own->link.local = &w->local;
    mbed_worker_ref(w);
    own->link.fd = l->fd;
    err = l->is_client ? begin_client(own, tls_name_without_dot(name, text), mk_link_offer(l))
                       : begin_server(own, l);
    if (err < 0)
        mbed_link_engine.free(&own->link);
    else
        l->state = &own->link;
    return err;
}

static void mbed_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    const struct tls_link *t = l->state;
    const struct mbed_link *own = l->state;

    if (t->state != TLS_LINK_OPEN)
        return;
    facts->tls_version = mbedtls_ssl_get_version(&own->ssl);
    facts->tls_cipher =
        mbed_cipher_name(mbedtls_ssl_get_ciphersuite_id(mbedtls_ssl_get_ciphersuite(&own->ssl)));
    facts->server_name = mk_str_from(own->name);
    facts->client_subject = mk_str_from(t->subject);
    facts->protocol = mbed_link_engine.agreed(t);
}

const struct mk_transport mbed_transport = {
    .size = sizeof(struct mk_transport),
    .name = "mbedtls",
    .is_secure = true,
    .open = mbed_open,
    .recv = tls_link_recv,
    .send = tls_link_send,
    .sendfile = tls_link_sendfile,
    .shutdown = tls_link_shutdown,
    .close = tls_link_close,
    .facts = mbed_facts,
    .held = tls_link_held,
};
