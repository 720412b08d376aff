/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_HOST_H
#define DUDA_HOST_H
#include "duda_api.h"

/* For packages, not for services: how a connection becomes a package's, as WebSockets do. duda_objects_given->host */

struct mk_request; /* <monkey/request.h> */
struct mk_worker;  /* <monkey/events.h> */

/* Where broadcasts meet those of other servers. */
struct duda_backplane {
    const char *server; /* a URL of Redis; NULL: there is none */
    const char *site;   /* of the service */
};

/* Where a service runs on a worker: for what calls a package there, such as streams. */
struct duda_place {
    void *seat;               /* the plugin's */
    struct mk_worker *worker; /* NULL: this thread is no worker of the service */
    const char *tls;          /* the transport for TLS to other servers; NULL: there is none */
};

enum duda_park { DUDA_PARK_STOPS, DUDA_PARK_ASKS };

struct duda_host {
    size_t size; /* sizeof(struct duda_host) of the plugin */
    /*
     * [R] Let accept(r, arg) answer the request in place of the service. It returns 1: the connection is the package's
     * from now on, and dr lives until release(); 0: it has refused. Texts of dr are then copies.
     * 0; -1: refused, or the request has an answer already.
     */
    int (*upgrade)(duda_request_t *dr, int (*accept)(struct mk_request *r, void *arg), void *arg);
    /* The connection has ended: dr has its end call-back, and is freed. On its worker. */
    void (*release)(duda_request_t *dr);
    /* Call fn(arg), which may call the service. On the worker of dr, between upgrade() and release(). */
    void (*run)(duda_request_t *dr, void (*fn)(void *arg), void *arg);
    /* Fill where, with texts that live as long as the service. */
    void (*backplane)(struct web_service *ws, struct duda_backplane *where);
    /* Fill in where this thread runs the service, until its globals end there. 0; -1: it is none of its workers. */
    int (*place)(struct duda_place *here);
    /* [W] Call fn(arg), which may call the service. Outside its calls, on the worker of the place. */
    void (*run_at)(const struct duda_place *place, void (*fn)(void *arg), void *arg);
    /*
     * [R] The request waits for an answer that the package will give, for WaitTimeout at most. Each call is undone by one of
     * unpark() with the same kind, before the function of the answer. DUDA_PARK_STOPS: as response->wait(), so that
     * the hooks before a route go no further; DUDA_PARK_ASKS: they do. 0; -1: it is none, or has its answer.
     */
    int (*park)(duda_request_t *dr, enum duda_park kind);
    void (*unpark)(duda_request_t *dr, enum duda_park kind);
};
#endif
