/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/*
 * A transport as awkward as an encrypted one, without being one. Both sides greet each other first; then
 * each byte is changed by its position, so that nothing may be lost, doubled or exchanged. It reads a
 * piece at a time, keeps it inside and never says that a link is drained; a record that has begun to leave must
 * be offered again.
 */

enum {
    PIECE = 1000,
    RECORD = 4096,
    GREETING = 4,
};

struct xor_link {
    uint64_t received, sent; /* positions */
    unsigned greeting_in, greeting_out;
    size_t in_at, in_len;
    size_t out_at, out_len; /* of the record that is leaving */
    unsigned char in[PIECE], out[RECORD], origin[RECORD];
};

static unsigned char key(uint64_t position)
{
    return (unsigned char)(position * 7 + 13);
}

static int peer_error(void)
{
    return errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

static int xor_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    l->state = calloc(1, sizeof(struct xor_link));
    return l->state ? 0 : MK_E_NOMEM;
}

static int greet(struct mk_link *l)
{
    struct xor_link *x = l->state;
    const char *ours = l->is_client ? "XOR?" : "XOR!", *theirs = l->is_client ? "XOR!" : "XOR?";

    for (;;) {
        bool speaks = x->greeting_out < GREETING && (l->is_client || x->greeting_in == GREETING);
        char byte;
        ssize_t n;

        l->waits_for = 0;
        if (x->greeting_out == GREETING && x->greeting_in == GREETING)
            return 0;
        n = speaks ? send(l->fd, ours + x->greeting_out, 1, MSG_NOSIGNAL)
                   : recv(l->fd, &byte, 1, 0);
        l->waits_for = speaks ? MK_IO_WRITE : MK_IO_READ;
        if (n < 0 && errno == EAGAIN)
            return MK_E_AGAIN;
        if (n <= 0 || (!speaks && byte != theirs[x->greeting_in]))
            return MK_E_PEER;
        if (speaks)
            x->greeting_out++;
        else
            x->greeting_in++;
    }
}

static ssize_t fill(struct mk_link *l)
{
    struct xor_link *x = l->state;
    ssize_t n = recv(l->fd, x->in, PIECE, 0);

    if (n < 0)
        return peer_error();
    for (ssize_t i = 0; i < n; i++)
        x->in[i] ^= key(x->received++);
    x->in_at = 0;
    x->in_len = (size_t)n;
    return n;
}

static ssize_t xor_recv(struct mk_link *l, void *buf, size_t len)
{
    struct xor_link *x = l->state;
    ssize_t n = greet(l);

    if (n < 0)
        return n;
    if (x->in_len == 0 && (n = fill(l)) <= 0)
        return n;
    if (len > x->in_len)
        len = x->in_len;
    memcpy(buf, x->in + x->in_at, len);
    x->in_at += len;
    x->in_len -= len;
    return (ssize_t)len;
}

/* @return bytes of this part that left: all, or MK_E_AGAIN with the record kept, or MK_E_PEER. */
static ssize_t send_record(struct mk_link *l, const unsigned char *bytes, size_t len)
{
    struct xor_link *x = l->state;

    if (x->out_len == 0) {
        x->out_len = len < RECORD ? len : RECORD;
        x->out_at = 0;
        memcpy(x->origin, bytes, x->out_len);
        for (size_t i = 0; i < x->out_len; i++)
            x->out[i] = bytes[i] ^ key(x->sent + i);
    }
    if (len < x->out_len || memcmp(x->origin, bytes, x->out_len) != 0)
        return MK_E_PEER; /* it was not offered the same again */
    while (x->out_at < x->out_len) {
        ssize_t n = send(l->fd, x->out + x->out_at, x->out_len - x->out_at, MSG_NOSIGNAL);

        if (n < 0)
            return peer_error();
        x->out_at += (size_t)n;
    }
    len = x->out_len;
    x->sent += len;
    x->out_len = 0;
    return (ssize_t)len;
}

static ssize_t xor_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    ssize_t sent = 0, n = greet(l);

    (void)more;
    if (n < 0)
        return n;
    for (int i = 0; i < niov; i++) {
        for (size_t at = 0; at < iov[i].iov_len; at += (size_t)n) {
            n = send_record(l, (const unsigned char *)iov[i].iov_base + at, iov[i].iov_len - at);
            if (n < 0)
                return sent > 0 ? sent : n;
            sent += n;
        }
    }
    return sent;
}

static void xor_close(struct mk_link *l)
{
    free(l->state);
}

static void xor_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    (void)l;
    facts->tls_version = "XORv1";
}

static const struct mk_transport transport = {
    .size = sizeof(struct mk_transport),
    .name = "xor",
    .is_secure = true,
    .open = xor_open,
    .recv = xor_recv,
    .send = xor_send,
    .close = xor_close,
    .facts = xor_facts,
};

static const struct mk_plugin plugin = {
    MK_PLUGIN("xor", "for the tests of transports"),
    .transport = &transport,
};
MK_PLUGIN_EXPORT(plugin);
