/* SPDX-License-Identifier: Apache-2.0 */
#include "face.h"
#include "library.h"
#include "link.h"
#include "subject.h"
#include "why.h"

#include <mbedtls/net_sockets.h>
#include <stdlib.h>

/* From the first byte to the end of the handshake. */

int mbed_begin_library(struct mbed_link *own)
{
    mbedtls_ssl_init(&own->ssl);
    own->has_ssl = true;
    own->has_touched = true;
    tls_link_become(&own->link, TLS_LINK_SHAKING);
    if (mbedtls_ssl_setup(&own->ssl, &own->face->conf) != 0)
        return MK_E_NOMEM;
    mbedtls_ssl_set_bio(&own->ssl, own, mbed_wire_send, mbed_wire_recv, NULL);
    return 0;
}

struct mbed_face *mbed_face_of_site(const struct mbed_worker *w, const struct tls_site *site)
{
    return &w->fronts[site - w->local.live->sites];
}

int mbed_link_on_name(void *worker, mbedtls_ssl_context *ssl, const unsigned char *name, size_t len)
{
    struct mbed_link *own = (void *)((char *)ssl - offsetof(struct mbed_link, ssl));
    struct mbed_worker *w = worker;
    const struct mk_str wanted = {(const char *)name, len};

    own->link.site = tls_live_site(w->local.live, wanted);
    own->face = mbed_face_of_site(w, own->link.site);
    mbed_use_conf(ssl, &own->face->conf);
    mbed_face_offer(own->face, own->offers_h2);
    free(own->name);
    own->name = len <= TLS_NAME_MAX ? strndup(wanted.p, len) : NULL;
    return 0;
}

/*
 * A client may put its ticket before the name, so that the library looked at it as one of the default site's and then
 * passed over what the other site asks of clients. And "optional" means to the library that a wrong certificate is as
 * good as a right one.
 * @return 0 or the alert (RFC 5246 section 7.2).
 */
static unsigned char judge(const struct mbed_link *own, const struct mbed_face *at_first)
{
    const mbedtls_x509_crt *peer = own->link.site ? mbedtls_ssl_get_peer_cert(&own->ssl) : NULL;

    if (at_first->has_resumed && own->face != at_first)
        return MBEDTLS_SSL_ALERT_MSG_ACCESS_DENIED;
    if (peer && mbedtls_ssl_get_verify_result(&own->ssl) != 0)
        return MBEDTLS_SSL_ALERT_MSG_BAD_CERT;
    if (peer && mbedtls_x509_time_is_past(&peer->valid_to)) /* since the session began */
        return MBEDTLS_SSL_ALERT_MSG_CERT_EXPIRED;
    return 0;
}

/* The library says nothing of some errors, but a peer is told why it goes (RFC 5246 section 7.2.2). */
static void tell_alert(struct mbed_link *own, int err)
{
    unsigned char alert = err == MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE
                              ? MBEDTLS_SSL_ALERT_MSG_UNEXPECTED_MESSAGE
                              : MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE;

    if (err != MBEDTLS_ERR_SSL_CONN_EOF && err != MBEDTLS_ERR_NET_CONN_RESET && !own->told_alert)
        (void)mbedtls_ssl_send_alert_message(&own->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
}

/* Without memory it ends here: whom a certificate names must not get lost. */
static enum tls_step finish_shaking(struct mbed_link *own)
{
    struct tls_link *t = &own->link;
    const mbedtls_x509_crt *peer = t->site ? mbedtls_ssl_get_peer_cert(&own->ssl) : NULL;

    t->subject = peer ? mbed_subject(&peer->subject) : NULL;
    if (!peer || t->subject)
        return TLS_STEP_DONE;
    (void)tls_link_fail(t, "cannot store a client's certificate", "no memory");
    return TLS_STEP_FAIL;
}

/* RFC 7301 section 3.2. */
static bool is_told_unagreed(const struct mbed_link *own, int result)
{
    return result == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE &&
           mbed_alert(&own->ssl) == MBEDTLS_SSL_ALERT_MSG_NO_APPLICATION_PROTOCOL;
}

/* As far as the input goes, and as we agree. @return 0 or an error of the library. */
static int shake_library(struct mbed_link *own)
{
    struct mbed_face *at_first = own->face;
    unsigned char alert = 0;
    int result;

    at_first->has_resumed = false;
    if (own->link.site)
        mbed_face_offer(at_first, own->offers_h2);
    else
        mbed_face_ask(at_first, own->asked[0] ? own->asked : NULL);
    result = mbedtls_ssl_handshake(&own->ssl);
    own->link.is_unagreed = own->asked[0] && is_told_unagreed(own, result);
    if (result == 0 || at_first->has_resumed)
        alert = judge(own, at_first);
    if (alert != 0) {
        (void)mbedtls_ssl_send_alert_message(&own->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
        return MBEDTLS_ERR_X509_CERT_VERIFY_FAILED;
    }
    if (result != 0 && result != MBEDTLS_ERR_SSL_WANT_READ)
        tell_alert(own, result);
    return result;
}

/* @return DONE: the first byte is there, and a record's. */
static enum tls_step await_first(struct mbed_link *own)
{
    struct tls_link *t = &own->link;

    own->error = MBEDTLS_ERR_NET_CONN_RESET;
    if (mbed_wire_begin(own) <= 0)
        return t->is_blocked ? TLS_STEP_AGAIN : TLS_STEP_FAIL;
    if (t->is_plain)
        return TLS_STEP_FAIL;
    if (mbed_begin_library(own) == 0)
        return TLS_STEP_DONE;
    (void)tls_link_fail(t, "handshake failed", "no memory");
    return TLS_STEP_FAIL;
}

enum tls_step mbed_shake(struct tls_link *t)
{
    struct mbed_link *own = mbed_link_of(t);
    enum tls_step step = t->state == TLS_LINK_NEW ? await_first(own) : TLS_STEP_DONE;

    if (step != TLS_STEP_DONE)
        return step;
    own->error = shake_library(own);
    if (own->error == 0)
        return finish_shaking(own);
    return own->error == MBEDTLS_ERR_SSL_WANT_READ ? TLS_STEP_AGAIN : TLS_STEP_FAIL;
}

/* ---- words for the log ---- */

const char *mbed_link_why(struct tls_link *t, char text[TLS_WHY_MAX])
{
    return mbed_why(mbed_link_of(t)->error, text);
}

const char *mbed_link_why_refused(struct tls_link *t, char text[TLS_WHY_MAX])
{
    const struct mbed_link *own = mbed_link_of(t);
    uint32_t flags = own->has_ssl ? mbedtls_ssl_get_verify_result(&own->ssl) : 0;
    int len = flags != 0 && flags != UINT32_MAX
                  ? mbedtls_x509_crt_verify_info(text, TLS_WHY_MAX, "", flags)
                  : 0;

    if (len <= 0)
        return mbed_link_why(t, text);
    text[strcspn(text, "\n")] = '\0';
    return text;
}
