/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SSLS_H
#define DUDA_PACKAGE_SSLS_H
#include "webservice.h"
typedef struct {
    int fd;
    struct mk_list _head;
} ssls_conn_t;
typedef struct ssls_ctx {
    int fd;
    int efd;
    struct mk_list conns;
} ssls_ctx_t;
/*
 * ssls: A TLS server of the service's own, for protocols that are not HTTP. duda_main() calls init(), loads the certificate and
 * its key, sets call-backs, and starts a thread by worker->spawn() that calls server_loop().
 *
 *        static void on_read(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd, unsigned char *buf, int len)
 *        {
 *            ssls->write(conn, buf, len);
 *        }
 *
 * All call-backs are made on that thread, which is no worker: objects of requests, timers and events are not for it. A
 * connection is valid until its close call-back, which is made once for each that was accepted.
 *
 * TLS 1.2 and later. A handshake may take 10 s. 4096 clients are served at a time; others are closed. When the service is
 * unloaded or loaded anew, its loop takes no more clients, and returns when the last one has left.
 */
struct duda_api_ssls {
    /* Queue bytes, which are copied, and send what can be sent now. On the loop's thread. size; -1: it is closing, or more
       than 1 MiB would wait for the client. */
    int (*write)(ssls_conn_t *conn, unsigned char *buf, int size);
    /* Wait for something else: DUDA_EVENT_READ, DUDA_EVENT_WRITE (the write call-back is made when the client can take bytes),
       DUDA_EVENT_RW, DUDA_EVENT_SLEEP or DUDA_EVENT_WAKEUP. efd: of the context. On the loop's thread. 0, -1. */
    int (*event_mod)(int efd, int fd, int mode);
    /* Wait for bytes of the client, as at first. 0; -1: it is no connection of this loop. */
    int (*event_add)(int efd, int fd);
    /* Close the connection when what was written has been sent. 0, -1. */
    int (*event_del)(int efd, int fd);
    /* Parameters for DHE of TLS 1.2, at least 2048 bits. Files are PEM, and loaded before server_loop(). 0; -1: refused, logged. */
    int (*load_dh_param)(ssls_ctx_t *ctx, char *file);
    /* Further certificates that are sent with that of the server. Clients are not asked for theirs. */
    int (*load_ca_root_cert)(ssls_ctx_t *ctx, char *file);
    /* The certificate, and those above it. */
    int (*load_cert)(ssls_ctx_t *ctx, char *file);
    int (*load_key)(ssls_ctx_t *ctx, char *file);
    /* A listening socket at a numeric address; NULL: all of IPv4. -1: errno says why. */
    int (*socket_server)(int port, char *listen_addr);
    /* Before server_loop(); each may be NULL. accepted: the handshake is done. timeout: nothing came or went for 60 s; the
       connection is closed unless the call-back writes. */
    void (*set_callbacks)(ssls_ctx_t *ctx,
                          void (*accepted)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*read)(struct ssls_ctx *, ssls_conn_t *, int fd, unsigned char *buf,
                                       int len),
                          void (*write)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*close)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*timeout)(struct ssls_ctx *, ssls_conn_t *, int fd));
    /* Serve clients; it blocks. Without a certificate and its key it returns at once, logged. */
    void (*server_loop)(ssls_ctx_t *ctx);
    /* A server at a port of a numeric address; NULL: all of IPv4. NULL: refused, logged. */
    ssls_ctx_t *(*init)(int port, char *listen_addr);
};
typedef struct duda_api_ssls ssls_object_t;
DUDA_OBJ ssls_object_t *ssls;
#endif
