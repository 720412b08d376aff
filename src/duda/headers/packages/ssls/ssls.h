/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SSLS_H
#define DUDA_PACKAGE_SSLS_H
#include "webservice.h"
typedef struct {
    int fd;
    struct mk_list _head; /* + TLS state */
} ssls_conn_t;
typedef struct ssls_ctx {
    int fd;
    int efd;
    struct mk_list conns; /* + TLS state, callbacks */
} ssls_ctx_t;
struct duda_api_ssls {
    int (*write)(ssls_conn_t *conn, unsigned char *buf, int size);
    int (*event_mod)(int efd, int fd, int mode);
    int (*event_add)(int efd, int fd);
    int (*event_del)(int efd, int fd);
    int (*load_dh_param)(ssls_ctx_t *ctx, char *file);
    int (*load_ca_root_cert)(ssls_ctx_t *ctx, char *file);
    int (*load_cert)(ssls_ctx_t *ctx, char *file);
    int (*load_key)(ssls_ctx_t *ctx, char *file);
    int (*socket_server)(int port, char *listen_addr);
    void (*set_callbacks)(ssls_ctx_t *ctx,
                          void (*accepted)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*read)(struct ssls_ctx *, ssls_conn_t *, int fd, unsigned char *buf,
                                       int len),
                          void (*write)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*close)(struct ssls_ctx *, ssls_conn_t *, int fd),
                          void (*timeout)(struct ssls_ctx *, ssls_conn_t *, int fd));
    void (*server_loop)(ssls_ctx_t *ctx); /* blocks; run it in a worker->spawn() thread */
    ssls_ctx_t *(*init)(int port, char *listen_addr);
};
typedef struct duda_api_ssls ssls_object_t;
DUDA_OBJ ssls_object_t *ssls;
#endif
