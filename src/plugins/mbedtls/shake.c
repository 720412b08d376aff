/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plain.h"
#include "library.h"
#include "link_int.h"
#include "subject.h"

#include <errno.h>
#include <mbedtls/net_sockets.h>
#include <stdlib.h>
#include <sys/socket.h>

/* From the first byte to the end of the handshake, or to its refusal. */

int mbed_begin_library(struct mbed_link *t)
{
    mbedtls_ssl_init(&t->ssl);
    t->has_ssl = true;
    t->has_touched = true;
    t->state = MBED_SHAKING;
    if (mbedtls_ssl_setup(&t->ssl, &t->face->conf) != 0)
        return MK_E_NOMEM;
    mbedtls_ssl_set_bio(&t->ssl, t, mbed_wire_send, mbed_wire_recv, NULL);
    return 0;
}

struct mbed_face *mbed_face_of_site(const struct mbed_worker *w, const struct tls_site *site)
{
    return &w->fronts[site - w->live->sites];
}

int mbed_link_on_name(void *worker, mbedtls_ssl_context *ssl, const unsigned char *name, size_t len)
{
    struct mbed_link *t = (void *)((char *)ssl - offsetof(struct mbed_link, ssl));
    struct mbed_worker *w = worker;
    const struct mk_str wanted = {(const char *)name, len};

    t->site = tls_live_site(w->live, wanted);
    t->face = mbed_face_of_site(w, t->site);
    mbed_use_conf(ssl, &t->face->conf);
    free(t->name);
    t->name = len <= TLS_NAME_MAX ? strndup(wanted.p, len) : NULL;
    return 0;
}

int mbed_flush(struct mk_link *l)
{
    struct mbed_link *t = l->state;
    size_t told = 0;
    int err = mbed_wire_flush(t, 0, false, &told);

    t->outlet.untold += (uint32_t)told; /* what send is to count is not lost here */
    l->waits_for = err == MK_E_AGAIN ? MK_IO_WRITE : 0;
    return err;
}

/* The last words are said; input is read until the peer has them, since a reset would overtake them. */
static int end_input(struct mbed_link *t)
{
    if (t->outlet.left_len > 0 || !t->site) {
        t->state = MBED_BROKEN;
        return MK_E_PEER;
    }
    t->state = MBED_ENDING;
    (void)shutdown(t->fd, SHUT_WR);
    return MK_E_AGAIN;
}

static int refuse_plain(struct mbed_link *t)
{
    char answer[TLS_PLAIN_MAX];
    size_t len = tls_plain_answer(answer, mk_worker_wall_s(t->worker->worker));

    (void)send(t->fd, answer, len, MSG_NOSIGNAL);
    mbed_complain(t, MK_LOG_DEBUG, "handshake failed", "a request arrived in the clear");
    return end_input(t);
}

/*
 * A client may put its ticket before the name, so that the library looked at it as one of the default site's and then
 * passed over what the other site asks of clients. And "optional" means to the library that a wrong certificate is as
 * good as a right one.
 * @return 0 or the alert (RFC 5246 section 7.2).
 */
static unsigned char judge(const struct mbed_link *t, const struct mbed_face *at_first)
{
    const mbedtls_x509_crt *peer = t->site ? mbedtls_ssl_get_peer_cert(&t->ssl) : NULL;

    if (at_first->has_resumed && t->face != at_first)
        return MBEDTLS_SSL_ALERT_MSG_ACCESS_DENIED;
    if (peer && mbedtls_ssl_get_verify_result(&t->ssl) != 0)
        return MBEDTLS_SSL_ALERT_MSG_BAD_CERT;
    if (peer && mbedtls_x509_time_is_past(&peer->valid_to)) /* since the session began */
        return MBEDTLS_SSL_ALERT_MSG_CERT_EXPIRED;
    return 0;
}

/* The library says nothing of some errors, but a peer is told why it goes (RFC 5246 section 7.2.2). */
static void tell_alert(struct mbed_link *t, int err)
{
    unsigned char alert = err == MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE
                              ? MBEDTLS_SSL_ALERT_MSG_UNEXPECTED_MESSAGE
                              : MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE;

    if (err != MBEDTLS_ERR_SSL_CONN_EOF && err != MBEDTLS_ERR_NET_CONN_RESET && !t->told_alert)
        (void)mbedtls_ssl_send_alert_message(&t->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
}

/* Without memory it ends here: whom a certificate names must not get lost. */
static int finish_shaking(struct mbed_link *t)
{
    const mbedtls_x509_crt *peer = t->site ? mbedtls_ssl_get_peer_cert(&t->ssl) : NULL;

    t->subject = peer ? mbed_subject(&peer->subject) : NULL;
    if (peer && !t->subject)
        return (int)mbed_fail(t, "cannot store a client's certificate", "no memory");
    t->state = MBED_OPEN;
    return 0;
}

/* As far as the input goes, and as we agree. @return 0 or an error of the library. */
static int shake_library(struct mbed_link *t)
{
    struct mbed_face *at_first = t->face;
    unsigned char alert = 0;
    int result;

    at_first->has_resumed = false;
    result = mbedtls_ssl_handshake(&t->ssl);
    if (result == 0 || at_first->has_resumed)
        alert = judge(t, at_first);
    if (alert != 0) {
        (void)mbedtls_ssl_send_alert_message(&t->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
        return MBEDTLS_ERR_X509_CERT_VERIFY_FAILED;
    }
    if (result != 0 && result != MBEDTLS_ERR_SSL_WANT_READ)
        tell_alert(t, result);
    return result;
}

/* @return 0; MK_E_AGAIN, waits_for says for what; MK_E_PEER. */
static int shake(struct mk_link *l)
{
    struct mbed_link *t = l->state;
    int result = shake_library(t), err = mbed_flush(l);

    if (result == 0 && (err == 0 || err == MK_E_AGAIN))
        return finish_shaking(t);
    if (result == MBEDTLS_ERR_SSL_WANT_READ && (err == 0 || err == MK_E_AGAIN)) {
        l->waits_for |= MK_IO_READ;
        return MK_E_AGAIN;
    }
    mbed_complain_of_handshake(t, result);
    return end_input(t);
}

/* @return 1: the first byte is there, and a record's; or as ready. */
static int await_first(struct mbed_link *t)
{
    ssize_t n = recv(t->fd, t->in, sizeof(t->in), 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return MK_E_AGAIN;
    if (n <= 0) {
        t->state = MBED_BROKEN;
        return MK_E_PEER;
    }
    t->in_len = (uint16_t)n;
    t->has_all = (size_t)n < sizeof(t->in);
    if (tls_is_request((uint8_t)t->in[0]))
        return refuse_plain(t);
    if (mbed_begin_library(t) == 0)
        return 1;
    t->state = MBED_BROKEN;
    return MK_E_PEER;
}

int mbed_ready(struct mk_link *l)
{
    struct mbed_link *t = l->state;
    int err;

    switch ((enum mbed_state)t->state) {
    case MBED_NEW:
        err = await_first(t);
        return err > 0 ? shake(l) : err;
    case MBED_SHAKING:
        return shake(l);
    case MBED_OPEN:
        return 0;
    case MBED_ENDING:
        return MK_E_AGAIN;
    case MBED_BROKEN:
        break;
    }
    return MK_E_PEER;
}
