/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include "kit/tls/plain.h"
#include "pipe.h"
#include "why.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SUBJECT_MAX = 1024,
    LOG_EVERY_S = 1,
};

/* ---- words for the log ---- */

/* A peer can make such lines come as fast as it connects. */
static void complain(struct tls_link *t, enum mk_log_level level, const char *what,
                     const char *reason)
{
    struct tls_worker *w = t->worker;

    if (w->logged_s >= 0 && worker_now_s(w) - w->logged_s < LOG_EVERY_S)
        return;
    w->logged_s = worker_now_s(w);
    mk_server_log(mk_worker_server(w->worker), level, "tls: %s: %s", what, reason);
}

static void complain_of_handshake(struct tls_link *t)
{
    long verified = SSL_get_verify_result(t->ssl);
    const char *reason = why();

    if (verified != X509_V_OK)
        reason = X509_verify_cert_error_string(verified);
    if (t->has_ended)
        reason = "the other side left";
    complain(t, t->site ? MK_LOG_DEBUG : MK_LOG_ERROR,
             t->site ? "handshake failed" : "handshake with a backend failed", reason);
}

/* ---- a link begins ---- */

/* The name is an address, or one that goes into the client hello too (RFC 6066 section 3). */
static bool expect_name(SSL *ssl, const struct back *back, const char *name)
{
    X509_VERIFY_PARAM *verify = SSL_get0_param(ssl);
    unsigned char address[16];
    bool is_address =
        inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;

    if (!is_address && SSL_set_tlsext_host_name(ssl, name) != 1)
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
    const struct back *back = tls_live_backend(live, name);
    SSL *ssl = back->verify && !name ? NULL : SSL_new(back->ctx); /* whom would it be? */

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
    free(t->left);
    free(t->subject);
    free(t);
}

static int link_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    struct tls_link *t = calloc(1, sizeof(*t));
    struct tls_worker *w = ctx->local;

    if (!t)
        return MK_E_NOMEM;
    t->worker = w;
    w->refs++;
    t->fd = l->fd;
    ERR_clear_error();
    if (!l->is_client)
        t->site = tls_live_site(w->live, (struct mk_str){NULL, 0});
    t->ssl = l->is_client ? begin_client(w->live, name) : begin_server(t->site);
    if (!t->ssl || !pipe_open(t)) {
        ERR_clear_error();
        free_link(t);
        return MK_E_NOMEM;
    }
    ask_kernel(t);
    l->state = t;
    return 0;
}

/* ---- the handshake ---- */

static int flush(struct mk_link *l)
{
    struct tls_link *t = l->state;
    size_t told = 0;
    int err = pipe_flush(t, 0, false, &told);

    t->untold += (uint32_t)told; /* what send is to count is not lost here */
    l->waits_for = err == MK_E_AGAIN ? MK_IO_WRITE : 0;
    return err;
}

/* The last words are said; input is read until the peer has them, since a reset would overtake them. */
static int end_input(struct tls_link *t)
{
    if (t->left_len > 0 || !t->site) {
        t->state = TLS_BROKEN;
        return MK_E_PEER;
    }
    t->state = TLS_ENDING;
    (void)shutdown(t->fd, SHUT_WR);
    return MK_E_AGAIN;
}

static int refuse_plain(struct tls_link *t)
{
    struct mk_str answer = tls_plain_answer();

    (void)send(t->fd, answer.p, answer.len, MSG_NOSIGNAL);
    complain(t, MK_LOG_DEBUG, "handshake failed", "a request came in the clear");
    ERR_clear_error();
    return end_input(t);
}

static void note_subject(struct tls_link *t)
{
    X509 *certificate = t->site && t->site->client_cert != TLS_CLIENT_CERT_OFF
                            ? SSL_get0_peer_certificate(t->ssl)
                            : NULL;
    BIO *text = certificate ? BIO_new(BIO_s_mem()) : NULL;
    char *bytes;
    long len;

    if (!text)
        return;
    (void)X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
    len = BIO_get_mem_data(text, &bytes);
    t->subject = len > 0 ? strndup(bytes, len < SUBJECT_MAX ? (size_t)len : SUBJECT_MAX) : NULL;
    BIO_free(text);
}

static int finish_shaking(struct tls_link *t)
{
    t->state = TLS_OPEN;
    note_subject(t);
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
    err = flush(l);
    if (error == SSL_ERROR_WANT_READ && (err == 0 || err == MK_E_AGAIN)) {
        l->waits_for |= MK_IO_READ;
        return MK_E_AGAIN;
    }
    complain_of_handshake(t);
    return end_input(t);
}

static int ready(struct mk_link *l)
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

/* ---- input ---- */

static ssize_t throw_away(struct tls_link *t)
{
    ssize_t n;

    while ((n = recv(t->fd, t->worker->in, sizeof(t->worker->in), 0)) > 0) {
        t->thrown += (uint32_t)n;
        if (t->thrown > TLS_DRAIN_MAX)
            return MK_E_PEER;
    }
    return n < 0 && errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

/* An end without close_notify may have been made by somebody on the way. HTTP requests say themselves where they end;
 * answers of backends may not (RFC 9112 section 9.8). */
static ssize_t end_of_input(struct tls_link *t)
{
    ERR_clear_error();
    if (t->site || (SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN))
        return 0;
    complain(t, MK_LOG_DEBUG, "a backend closed", "without saying so, so its answer may be cut");
    t->state = TLS_BROKEN;
    return MK_E_PEER;
}

static ssize_t fail(struct tls_link *t, const char *what)
{
    complain(t, MK_LOG_DEBUG, what, why());
    t->state = TLS_BROKEN;
    return MK_E_PEER;
}

static ssize_t read_open(struct tls_link *t, void *buf, size_t len)
{
    for (int quiet = 0; quiet < QUIET_RECORDS_MAX; quiet++) {
        size_t got;

        ERR_clear_error();
        t->blocked = false;
        if (SSL_read_ex(t->ssl, buf, len, &got) == 1)
            return (ssize_t)got;
        switch (SSL_get_error(t->ssl, 0)) {
        case SSL_ERROR_WANT_READ:
            if (t->blocked)
                return MK_E_AGAIN;
            continue; /* a record that was no data */
        case SSL_ERROR_ZERO_RETURN:
            return 0;
        default:
            return t->has_ended ? end_of_input(t) : fail(t, "receiving failed");
        }
    }
    return fail(t, "a peer sends records without data");
}

static ssize_t link_recv(struct mk_link *l, void *buf, size_t len)
{
    struct tls_link *t = l->state;
    ssize_t n;
    int err;

    if (t->state == TLS_ENDING)
        return throw_away(t);
    err = ready(l);
    if (err < 0)
        return err;
    n = read_open(t, buf, len);
    if (t->left_len == 0 && t->worker->used == 0) {
        l->waits_for = 0;
        return n;
    }
    err = flush(l); /* tickets, answers to key updates, alerts */
    return err < 0 && err != MK_E_AGAIN ? err : n;
}

static bool link_has_pending(const struct mk_link *l)
{
    const struct tls_link *t = l->state;

    return t->state == TLS_OPEN && (!t->has_all || SSL_has_pending(t->ssl));
}

/* ---- output ---- */

/* @param done  out: bytes that are in records now @return 0, MK_E_AGAIN: the kernel, which makes them itself, is full; MK_E_PEER. */
static int encrypt(struct tls_link *t, const char *bytes, size_t len, bool more, size_t *done)
{
    int64_t now_ms = mk_worker_now_ms(t->worker->worker);

    ERR_clear_error();
    for (*done = 0; *done < len;) {
        size_t n, want = tls_pace_next(&t->pace, now_ms, len - *done, more);

        if (SSL_write_ex(t->ssl, bytes + *done, want, &n) == 1)
            *done += n;
        else if (SSL_get_error(t->ssl, 0) == SSL_ERROR_WANT_WRITE)
            return MK_E_AGAIN;
        else
            return (int)fail(t, "sending failed");
    }
    return 0;
}

/* @param told  grows by those bytes that have left @return 0 or an error. */
static int send_batch(struct tls_link *t, const char *bytes, size_t len, bool more, size_t *told)
{
    size_t done;
    int err = encrypt(t, bytes, len, more, &done), left;

    if (err < 0 && err != MK_E_AGAIN)
        return err;
    left = pipe_flush(t, done, more, told);
    return left < 0 ? left : err;
}

/* Bytes of the caller's from where at is, at most a batch, in one piece. */
static size_t take_batch(struct tls_link *t, const struct iovec *iov, int niov, size_t at,
                         const char **bytes)
{
    size_t len = 0;

    for (int i = 0; i < niov && len < BATCH_BYTES; i++) {
        const char *part = iov[i].iov_base;
        size_t n = iov[i].iov_len;

        if (at >= n) {
            at -= n;
            continue;
        }
        part += at;
        n -= at;
        at = 0;
        if (len == 0 && (i == niov - 1 || n >= BATCH_BYTES)) { /* in one piece already */
            *bytes = part;
            return n < BATCH_BYTES ? n : BATCH_BYTES;
        }
        n = n < BATCH_BYTES - len ? n : BATCH_BYTES - len;
        memcpy(t->worker->in + len, part, n);
        len += n;
    }
    *bytes = t->worker->in;
    return len;
}

static size_t sum(const struct iovec *iov, int niov)
{
    size_t len = 0;

    for (int i = 0; i < niov; i++)
        len += iov[i].iov_len;
    return len;
}

/* What was encrypted before leaves first; it is the beginning of what is given now. @return 0 or an error. */
static int send_old(struct mk_link *l, size_t *told)
{
    struct tls_link *t = l->state;
    int err = ready(l);

    if (err < 0)
        return err;
    err = t->left_len > 0 || t->worker->used > 0 ? pipe_flush(t, 0, false, told) : 0;
    *told += err == 0 ? t->untold : 0; /* counted where nobody could be told */
    t->untold = err == 0 ? 0 : t->untold;
    return err;
}

static ssize_t result(size_t told, int err)
{
    return told > 0 || err == 0 ? (ssize_t)told : err;
}

static ssize_t link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    struct tls_link *t = l->state;
    size_t told = 0, all = sum(iov, niov);
    int err = send_old(l, &told);

    while (err == 0 && told < all) {
        const char *bytes;
        size_t n = take_batch(t, iov, niov, told, &bytes);
        bool goes_on = more || told + n < all;

        err = send_batch(t, bytes, n, goes_on, &told);
    }
    if (t->left_len > 0)
        l->waits_for |= MK_IO_WRITE;
    return result(told, err);
}

/* Sends through OpenSSL's own call; never run by us, as no kernel of ours has TLS. */
static ssize_t send_by_kernel(struct tls_link *t, int fd, uint64_t offset, size_t len)
{
    ssize_t n;

    ERR_clear_error();
    n = SSL_sendfile(t->ssl, fd, (off_t)offset, len, 0);
    if (n >= 0)
        return n;
    if (SSL_get_error(t->ssl, (int)n) == SSL_ERROR_WANT_WRITE)
        return MK_E_AGAIN;
    return fail(t, "sending failed");
}

static ssize_t link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    struct tls_link *t = l->state;
    size_t told = 0;
    int err = send_old(l, &told);
    ssize_t n;

    if (err < 0 || told > 0)
        return result(told, err);
    if (t->in_kernel)
        return send_by_kernel(t, fd, offset, len);
    n = pread(fd, t->worker->in, len < BATCH_BYTES ? len : BATCH_BYTES, (off_t)offset);
    if (n <= 0)
        return n < 0 ? MK_E_SYS : 0;
    err = send_batch(t, t->worker->in, (size_t)n, (size_t)n < len, &told);
    return result(told, err);
}

/* ---- the end ---- */

static void say_end(struct tls_link *t)
{
    size_t told = 0;

    if (t->state != TLS_OPEN || t->told_end || t->left_len > 0)
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
    .has_pending = link_has_pending,
    .shutdown = link_shutdown,
    .close = link_close,
    .facts = link_facts,
};
