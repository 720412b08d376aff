/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_ENGINE_H
#define TESTS_FAKE_ENGINE_H

/*
 * A TLS library that encrypts nothing: a record is a type, two bytes of length and the content. It reads ahead as
 * libraries do. A handshake is two records of the peer, each answered by one; the one that says "no" is refused.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kit/tls/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FAKE_ALERT = 21, /* its content: "end", or a reason */
    FAKE_HANDSHAKE = 22,
    FAKE_DATA = 23,
    FAKE_QUIET = 24, /* no data; answered by the same */
    FAKE_HEAD = 3,
    FAKE_IN = 40000,
    FAKE_BATCH = 4096, /* the worker's buffers are small, so that batches are many */
    FAKE_OUT = 2 * FAKE_BATCH,
};

struct fake_link {
    struct tls_link link;
    unsigned shaken;
    size_t in_len, read_size; /* read_size: bytes that are asked of the socket at once */
    bool is_quiet; /* a step returns after each record that was no data, as libraries do */
    unsigned rests;
    const char *why;
    const char *agreed; /* by ALPN; NULL: nothing */
    char in[FAKE_IN];
};

/* One link over a socket pair, and the worker that it is of. */
struct fake {
    struct tls_local local;
    struct tls_site site;
    struct mk_link l;
    struct fake_link *own;
    int peer;
    bool is_freed;
    char in[FAKE_BATCH], out[FAKE_OUT];
};

static struct fake fake;

/* ---- what the kit calls of the server ---- */

void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
{
    (void)server;
    (void)level;
    (void)fmt;
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return NULL;
}

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return 1000000;
}

int64_t mk_worker_wall_s(const struct mk_worker *w)
{
    (void)w;
    return 1700000000;
}

struct tls_live *tls_live_ref(struct tls_live *live)
{
    return live;
}

void tls_live_put(struct tls_live *live)
{
    (void)live;
}

/* ---- records ---- */

static inline size_t fake_record(char *dst, int type, const char *bytes, size_t len)
{
    dst[0] = (char)type;
    dst[1] = (char)(len >> 8);
    dst[2] = (char)len;
    if (len > 0)
        memcpy(dst + FAKE_HEAD, bytes, len);
    return FAKE_HEAD + len;
}

static inline size_t fake_content_len(const char *record)
{
    return (size_t)(uint8_t)record[1] << 8 | (uint8_t)record[2];
}

/* @return bytes of the first whole record of what was read; 0: there is none. */
static inline size_t fake_first(const struct fake_link *own)
{
    size_t len = own->in_len >= FAKE_HEAD ? FAKE_HEAD + fake_content_len(own->in) : FAKE_HEAD;

    return len <= own->in_len ? len : 0;
}

static void fake_drop(struct fake_link *own, size_t len)
{
    own->in_len -= len;
    memmove(own->in, own->in + len, own->in_len);
}

/* @return DONE: a whole record is there. */
static enum tls_step fake_await(struct fake_link *own)
{
    while (fake_first(own) == 0) {
        size_t room = sizeof(own->in) - own->in_len;
        ssize_t n = tls_link_read(&own->link, own->in + own->in_len,
                                  own->read_size < room ? own->read_size : room);

        if (n == 0)
            return TLS_STEP_CUT;
        if (n < 0)
            return own->link.is_blocked ? TLS_STEP_AGAIN : TLS_STEP_FAIL;
        if (own->link.is_plain)
            return TLS_STEP_FAIL;
        own->in_len += (size_t)n;
    }
    return TLS_STEP_DONE;
}

static bool fake_say(struct tls_link *t, int type, const char *text)
{
    char record[FAKE_HEAD + 64];
    size_t len = fake_record(record, type, text, strlen(text));

    return tls_link_write(t, record, len) == (ssize_t)len;
}

/* ---- the operations ---- */

static enum tls_step fake_refuse(struct fake_link *own)
{
    own->why = "refused";
    (void)fake_say(&own->link, FAKE_ALERT, "refused");
    return TLS_STEP_FAIL;
}

static enum tls_step fake_shake(struct tls_link *t)
{
    struct fake_link *own = (struct fake_link *)t;

    while (own->shaken < 2) {
        enum tls_step step = fake_await(own);
        bool is_no;

        if (step != TLS_STEP_DONE)
            return step == TLS_STEP_AGAIN ? step : TLS_STEP_FAIL;
        if (t->state == TLS_LINK_NEW)
            tls_link_become(t, TLS_LINK_SHAKING);
        is_no = memcmp(own->in + FAKE_HEAD, "no", 2) == 0;
        fake_drop(own, fake_first(own));
        if (is_no)
            return fake_refuse(own);
        own->shaken++;
        if (!fake_say(t, FAKE_HANDSHAKE, "hello"))
            return TLS_STEP_FAIL;
        if (own->is_quiet && own->shaken < 2)
            return TLS_STEP_AGAIN;
    }
    return TLS_STEP_DONE;
}

static struct mk_str fake_agreed(const struct tls_link *t)
{
    return mk_str_from(((const struct fake_link *)t)->agreed);
}

static enum tls_step fake_read(struct tls_link *t, void *buf, size_t len, size_t *got)
{
    struct fake_link *own = (struct fake_link *)t;
    enum tls_step step = fake_await(own);
    size_t have;
    int type;

    if (step != TLS_STEP_DONE)
        return step;
    type = own->in[0];
    have = fake_content_len(own->in);
    if (type == FAKE_ALERT)
        return TLS_STEP_END;
    if (type != FAKE_DATA) {
        fake_drop(own, fake_first(own));
        return fake_say(t, FAKE_QUIET, "heard") ? TLS_STEP_AGAIN : TLS_STEP_FAIL;
    }
    *got = have < len ? have : len;
    memcpy(buf, own->in + FAKE_HEAD, *got);
    if (*got == have) {
        fake_drop(own, FAKE_HEAD + have);
    } else { /* the rest is a record of its own */
        fake_drop(own, *got);
        own->in[0] = FAKE_DATA;
        own->in[1] = (char)((have - *got) >> 8);
        own->in[2] = (char)(have - *got);
    }
    return TLS_STEP_DONE;
}

static ssize_t fake_write(struct tls_link *t, const char *bytes, size_t len)
{
    char record[FAKE_HEAD + TLS_RECORD_MAX];
    size_t all = fake_record(record, FAKE_DATA, bytes, len);

    for (size_t done = 0; done < all;) {
        ssize_t n = tls_link_write(t, record + done, all - done);

        if (n < 0)
            return MK_E_PEER;
        done += (size_t)n;
    }
    return (ssize_t)len;
}

static bool fake_has_input(const struct tls_link *t)
{
    return ((const struct fake_link *)t)->in_len > 0;
}

static void fake_say_end(struct tls_link *t)
{
    (void)fake_say(t, FAKE_ALERT, "end");
}

static void fake_rest(struct tls_link *t)
{
    ((struct fake_link *)t)->rests++;
}

static const char *fake_why(struct tls_link *t, char text[TLS_WHY_MAX])
{
    (void)text;
    return ((struct fake_link *)t)->why;
}

static void fake_free(struct tls_link *t)
{
    fake.is_freed = true;
    free(t);
}

static const struct tls_link_engine fake_engine = {
    .name = "fake",
    .shake = fake_shake,
    .agreed = fake_agreed,
    .read = fake_read,
    .write = fake_write,
    .has_input = fake_has_input,
    .say_end = fake_say_end,
    .rest = fake_rest,
    .why = fake_why,
    .why_refused = fake_why,
    .free = fake_free,
};

/* ---- a link ---- */

static inline void fake_open(bool is_client)
{
    int fds[2], small = 1; /* the system makes it the least that it has */

    memset(&fake, 0, sizeof(fake));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    fake.local.in = fake.in;
    fake.local.out = fake.out;
    fake.local.in_size = FAKE_BATCH;
    fake.local.out_size = FAKE_OUT;
    tls_local_init(&fake.local, &fake_engine, NULL, NULL);
    fake.own = calloc(1, sizeof(*fake.own));
    assert_non_null(fake.own);
    fake.own->link.local = &fake.local;
    fake.own->link.fd = fds[0];
    fake.own->link.site = is_client ? NULL : &fake.site;
    fake.own->link.state = is_client ? TLS_LINK_SHAKING : TLS_LINK_NEW;
    fake.own->read_size = 512;
    fake.own->why = "it was said";
    fake.l = (struct mk_link){.state = &fake.own->link, .fd = fds[0], .is_client = is_client};
    fake.peer = fds[1];
}

static inline void fake_close(void)
{
    tls_link_close(&fake.l);
    assert_true(fake.is_freed);
    close(fake.l.fd);
    if (fake.peer >= 0)
        close(fake.peer);
}

/* The peer sends a record whole. */
static inline void fake_peer_says(int type, const char *text)
{
    char record[FAKE_HEAD + 64];
    size_t len = fake_record(record, type, text, strlen(text));

    assert_int_equal(send(fake.peer, record, len, MSG_NOSIGNAL), len);
}

static inline ssize_t fake_recv(void)
{
    static char buf[256];

    fake.l.is_drained = false;
    return tls_link_recv(&fake.l, buf, sizeof(buf));
}

/* A link whose handshake is over; what it wrote for that was read. */
static inline void fake_open_shaken(bool is_client)
{
    char answers[64];

    fake_open(is_client);
    fake_peer_says(FAKE_HANDSHAKE, "a");
    fake_peer_says(FAKE_HANDSHAKE, "b");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_OPEN);
    assert_int_equal(recv(fake.peer, answers, sizeof(answers), 0), 2 * (FAKE_HEAD + 5));
}

/* Does the peer read this record next, and nothing behind it? */
static inline void fake_expect_last(int type, const char *text)
{
    char got[512], want[FAKE_HEAD + 64];
    size_t len = fake_record(want, type, text, strlen(text));

    assert_int_equal(recv(fake.peer, got, sizeof(got), 0), len);
    assert_memory_equal(got, want, len);
}

#endif
