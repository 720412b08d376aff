/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SSLS_CONTEXT_H
#define MK_DUDA_SSLS_CONTEXT_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3
#include "packages/ssls/ssls.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A server of TLS: a listener, and its connections, which are of the one thread that runs server_loop(). Each struct
 * begins with that of the contract.
 */

enum {
    SSLS_CONNS_MAX = 4096,
    SSLS_OUT_MAX = 1 << 20, /* bytes that wait for a client */
    SSLS_RECORD = 16384,
    SSLS_HANDSHAKE_MS = 10000,
    SSLS_IDLE_MS = 60000,
};

struct ssls_own_ctx;

struct ssls_own_conn {
    ssls_conn_t base;
    struct ssls_own_ctx *ctx;
    SSL *ssl;
    int mode, mode_before; /* DUDA_EVENT_*: what the service waits for */
    uint32_t events;       /* that the kernel waits for */
    bool is_open;          /* the handshake is done */
    bool is_ending;        /* no more call-backs but close(); it goes when its output is sent */
    bool is_broken;        /* it goes at once */
    bool wants_output;     /* to go on with a handshake or with reading */
    int64_t deadline_ms;
    unsigned char *out;
    size_t out_at, out_len, out_room;
};

struct ssls_own_ctx {
    ssls_ctx_t base;
    struct ssls_own_ctx *next;
    SSL_CTX *tls;
    int wake; /* eventfd: the service has ended */
    pthread_t thread;
    atomic_bool is_running, is_over;
    int64_t deaf_until_ms; /* no descriptor was left for a client; 0: it listens */
    struct ssls_own_conn **by_fd;
    size_t by_fd_room, nconns;
    void (*accepted)(struct ssls_ctx *, ssls_conn_t *, int fd);
    void (*read)(struct ssls_ctx *, ssls_conn_t *, int fd, unsigned char *buf, int len);
    void (*write)(struct ssls_ctx *, ssls_conn_t *, int fd);
    void (*close)(struct ssls_ctx *, ssls_conn_t *, int fd);
    void (*timeout)(struct ssls_ctx *, ssls_conn_t *, int fd);
    unsigned char record[SSLS_RECORD];
};

static inline struct ssls_own_ctx *ssls_own(ssls_ctx_t *ctx)
{
    return (struct ssls_own_ctx *)(void *)ctx;
}

/** @return whether this is the thread of the loop */
static inline bool ssls_is_inside(const struct ssls_own_ctx *c)
{
    return atomic_load(&c->is_running) && pthread_equal(c->thread, pthread_self());
}

/* ---- conn.c ---- */

/** Take a client. @return NULL: no memory, or too many; fd is not closed */
struct ssls_own_conn *ssls_conn_new(struct ssls_own_ctx *c, int fd);
/** Its descriptor has events. */
void ssls_conn_drive(struct ssls_own_conn *conn, uint32_t events);
/** Its time is over. */
void ssls_conn_expire(struct ssls_own_conn *conn);
/** Queue bytes. @return size; -1: too many wait, or it is not open */
int ssls_conn_write(struct ssls_own_conn *conn, const unsigned char *bytes, int size);
/** Tell the kernel what it waits for now. */
void ssls_conn_watch(struct ssls_own_conn *conn);
/** Close it if that is due. @return whether it is gone */
bool ssls_conn_settle(struct ssls_own_conn *conn);

/* ---- certificate.c ---- */

/** @return NULL: no memory */
SSL_CTX *ssls_tls_new(void);
int ssls_load_cert(ssls_ctx_t *ctx, char *file);
int ssls_load_key(ssls_ctx_t *ctx, char *file);
int ssls_load_chain(ssls_ctx_t *ctx, char *file);
int ssls_load_dh(ssls_ctx_t *ctx, char *file);

/* ---- loop.c ---- */

void ssls_loop(ssls_ctx_t *ctx);
/** From any thread: take no more clients. */
void ssls_loop_end(struct ssls_own_ctx *c);

#endif
