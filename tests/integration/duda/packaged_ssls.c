/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/ssls/ssls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DUDA_REGISTER("tests", "ssls");

#ifndef PORT
#define PORT 0
#endif
#ifndef FOLDER
#define FOLDER ""
#endif

static ssls_ctx_t *server;
static int accepted, closed, refused, writable; /* of the loop's thread; tests ask when it rests */

static void on_accepted(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd)
{
    accepted++;
    ssls->write(conn, (unsigned char *)"hello\n", 6);
}

/* "big N": N bytes */
static void write_big(ssls_conn_t *conn, const char *text)
{
    const int size = atoi(text);
    unsigned char *bytes = malloc(size);

    memset(bytes, 'x', size);
    if (ssls->write(conn, bytes, size) != size)
        ssls->write(conn, (unsigned char *)"too big\n", 8);
    free(bytes);
}

static void on_read(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd, unsigned char *buf, int len)
{
    char line[32];

    snprintf(line, sizeof(line), "%.*s", len, (char *)buf);
    if (strncmp(line, "big ", 4) == 0) {
        write_big(conn, line + 4);
    } else if (strcmp(line, "writable\n") == 0) {
        refused += ssls->event_mod(ctx->efd, fd, DUDA_EVENT_RW);
    } else if (strcmp(line, "again\n") == 0) {
        refused += ssls->event_mod(ctx->efd, fd, DUDA_EVENT_SLEEP);
        refused += ssls->event_mod(ctx->efd, fd, DUDA_EVENT_WAKEUP);
        refused += ssls->event_add(ctx->efd, fd);
        ssls->write(conn, (unsigned char *)"awake\n", 6);
    } else if (strcmp(line, "bye\n") == 0) {
        write_big(conn, "300000");
        refused += ssls->event_del(ctx->efd, fd);
        refused += ssls->write(conn, (unsigned char *)"x", 1) + 1;
    } else {
        ssls->write(conn, buf, len);
    }
}

static void on_writable(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd)
{
    writable++;
    ssls->event_mod(ctx->efd, fd, DUDA_EVENT_READ);
    ssls->write(conn, (unsigned char *)"writable\n", 9);
}

static void on_close(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd)
{
    closed++;
}

static void on_timeout(ssls_ctx_t *ctx, ssls_conn_t *conn, int fd)
{
}

static void *run(void *arg)
{
    ssls->server_loop(arg);
    return NULL;
}

static void count(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d", accepted, closed, refused, writable);
    response->end(dr, NULL);
}

/* From a worker, and with what is none. */
static void wrong(duda_request_t *dr)
{
    const int fd = ssls->socket_server(1, "name.example");
    int is_refused = ssls->event_mod(server->efd, server->fd, DUDA_EVENT_READ) < 0 &&
                     ssls->event_add(server->efd, 0) < 0 && ssls->event_del(-1, -1) < 0 &&
                     ssls->write(NULL, (unsigned char *)"x", 1) < 0 && fd < 0 &&
                     !ssls->init(70000, NULL) && !ssls->init(443, "name.example");

    is_refused &= ssls->load_cert(server, FOLDER "none.pem") < 0 &&
                  ssls->load_key(NULL, NULL) < 0 &&
                  ssls->load_dh_param(server, FOLDER "mine.pem") < 0 &&
                  ssls->load_ca_root_cert(server, FOLDER "mine.key") < 0;
    response->http_status(dr, 200);
    response->printf(dr, "%s", is_refused ? "all refused" : "something was not refused");
    response->end(dr, NULL);
}

int duda_main()
{
    ssls_ctx_t *other;

    duda_load_package(ssls, "ssls");
    server = ssls->init(PORT, "127.0.0.1");
    other = ssls->init(PORT, NULL);
    if (!server || !other || ssls->load_ca_root_cert(other, FOLDER "mine.pem") < 0 ||
        ssls->load_dh_param(server, FOLDER "dh.pem") < 0 ||
        ssls->load_cert(server, FOLDER "mine.pem") < 0 ||
        ssls->load_key(server, FOLDER "mine.key") < 0)
        return 1;
    ssls->server_loop(other); /* it has no key, so it returns */
    close(other->fd);
    ssls->set_callbacks(server, on_accepted, on_read, on_writable, on_close, on_timeout);
    worker->spawn(run, server);
    map->static_add_ref("/count", count);
    map->static_add_ref("/wrong", wrong);
    return 0;
}
