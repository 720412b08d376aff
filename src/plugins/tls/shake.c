/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include "kit/tls/plain.h"
#include "pipe.h"
#include "why.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    SUBJECT_MAX = 1024,
    LOG_EVERY_S = 1,
};

/* ---- words for the log ---- */

/* A peer can make such lines come as fast as it connects. */
void link_complain(struct tls_link *t, enum mk_log_level level, const char *what,
                   const char *reason)
{
    struct tls_worker *w = t->worker;

    int64_t *logged_s = &w->logged_s[t->site ? 0 : 1], now_s = worker_now_s(w);

    if (*logged_s >= 0 && now_s - *logged_s < LOG_EVERY_S)
        return;
    *logged_s = now_s;
    mk_server_log(mk_worker_server(w->worker), level, "tls: %s: %s", what, reason);
}

static void complain_of_handshake(struct tls_link *t)
{
    long verified = SSL_get_verify_result(t->ssl);
    const char *reason = why();

    if (verified != X509_V_OK)
        reason = X509_verify_cert_error_string(verified);
    if (t->has_ended)
        reason = "the peer closed the connection";
    link_complain(t, t->site ? MK_LOG_DEBUG : MK_LOG_ERROR,
                  t->site ? "handshake failed" : "handshake with a backend failed", reason);
}

/* What was written, an alert perhaps, leaves or is given up: the worker's buffer is for the next one. */
ssize_t link_fail(struct tls_link *t, const char *what)
{
    size_t told = 0;

    link_complain(t, MK_LOG_DEBUG, what, why());
    t->state = TLS_BROKEN;
    if (pipe_flush(t, 0, false, &told) < 0)
        tls_outlet_fini(&t->outlet); /* nobody comes to send it */
    return MK_E_PEER;
}

/* ---- the handshake ---- */

int link_flush(struct mk_link *l)
{
    struct tls_link *t = l->state;
    size_t told = 0;
    int err = pipe_flush(t, 0, false, &told);

    t->outlet.untold += (uint32_t)told; /* what send is to count is not lost here */
    l->waits_for = err == MK_E_AGAIN ? MK_IO_WRITE : 0;
    return err;
}

/* The last words are said; input is read until the peer has them, since a reset would overtake them. */
static int end_input(struct tls_link *t)
{
    if (t->outlet.left_len > 0 || !t->site) {
        t->state = TLS_BROKEN;
        return MK_E_PEER;
    }
    t->state = TLS_ENDING;
    (void)shutdown(t->fd, SHUT_WR);
    return MK_E_AGAIN;
}

static int refuse_plain(struct tls_link *t)
{
    char answer[TLS_PLAIN_MAX];
    size_t len = tls_plain_answer(answer, mk_worker_wall_s(t->worker->worker));

    (void)send(t->fd, answer, len, MSG_NOSIGNAL);
    link_complain(t, MK_LOG_DEBUG, "handshake failed", "a request arrived in the clear");
    ERR_clear_error();
    return end_input(t);
}

static char *copy(const char *bytes, size_t len)
{
    char *text = malloc(len + 1);

    if (!text)
        return NULL;
    memcpy(text, bytes, len);
    text[len] = '\0';
    return text;
}

/* @return false without memory: whom a certificate names must not get lost. */
static bool note_subject(struct tls_link *t)
{
    X509 *certificate = t->site && t->site->client_cert != TLS_CLIENT_CERT_OFF
                            ? SSL_get0_peer_certificate(t->ssl)
                            : NULL;
    BIO *text;
    char *bytes;
    long len;

    if (!certificate)
        return true;
    text = BIO_new(BIO_s_mem());
    if (text &&
        X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0) {
        len = BIO_get_mem_data(text, &bytes);
        t->subject = copy(bytes, len < SUBJECT_MAX ? (size_t)len : SUBJECT_MAX);
    }
    BIO_free(text);
    return t->subject;
}

static int finish_shaking(struct tls_link *t)
{
    if (!note_subject(t))
        return (int)link_fail(t, "cannot store a client's certificate");
    t->state = TLS_OPEN;
    return 0;
}

/* @return 0: the link is open; MK_E_AGAIN, waits_for says for what; MK_E_PEER. */
static int shake(struct mk_link *l)
{
    struct tls_link *t = l->state;
    int result, error, err;

    ERR_clear_error();
    result = SSL_do_handshake(t->ssl);
    error = SSL_get_error(t->ssl, result);
    if (t->is_plain)
        return refuse_plain(t);
    if (result == 1)
        return finish_shaking(t);
    err = link_flush(l);
    if (error == SSL_ERROR_WANT_READ && (err == 0 || err == MK_E_AGAIN)) {
        l->waits_for |= MK_IO_READ;
        return MK_E_AGAIN;
    }
    complain_of_handshake(t);
    return end_input(t);
}

int link_ready(struct mk_link *l)
{
    const struct tls_link *t = l->state;

    switch ((enum tls_state)t->state) {
    case TLS_SHAKING:
        return shake(l);
    case TLS_OPEN:
        return 0;
    case TLS_ENDING:
        return MK_E_AGAIN;
    case TLS_BROKEN:
        break;
    }
    return MK_E_PEER;
}
