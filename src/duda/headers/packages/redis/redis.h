/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_REDIS_H
#define DUDA_PACKAGE_REDIS_H
#include "webservice.h"
#define REDIS_ERR -1
#define REDIS_OK 0
#define REDIS_REPLY_STRING 1
#define REDIS_REPLY_ARRAY 2
#define REDIS_REPLY_INTEGER 3
#define REDIS_REPLY_NIL 4
#define REDIS_REPLY_STATUS 5
#define REDIS_REPLY_ERROR 6
/* An answer. */
typedef struct redisReply {
    int type;          /* REDIS_REPLY_* */
    long long integer; /* of REDIS_REPLY_INTEGER */
    int len;           /* bytes of str */
    char *str;         /* of a string, status or error, terminated; else NULL */
    size_t elements;   /* of REDIS_REPLY_ARRAY */
    struct redisReply **element;
} redisReply;
/* A connection. */
typedef struct redisAsyncContext {
    struct {
        int err;
        char errstr[128];
        int fd;
        int flags;
    } c;
    int err; /* 0: none; 1: input or output; 3: the server has closed; 4: it sent what is no answer; 2: others */
    char *errstr; /* why */
    void *data;   /* the service's own */
} redisAsyncContext;
/*
 * redis: Servers of Redis, without waiting: commands are sent, and their answers come by call-back on the same worker. [W]
 *
 * A context is a connection of its own. With a request it ends behind the last answer once the request has ended, after 10 s
 * at the latest; without one it lives until disconnect() or free(). An old pointer to a context is refused. Each command
 * that was taken has its call-back once; reply is borrowed until it returns, and NULL if the connection ended without an
 * answer, rc->errstr. Commands have no time limit here. (P)SUBSCRIBE calls fn for each confirmation and message, and with
 * NULL at the end; (P)UNSUBSCRIBE names channels, and calls no other function. When the service is unloaded nothing is
 * called any more.
 */
struct duda_api_redis {
    /* Connect, within 10 s. ip is numeric or localhost (127.0.0.1): a name would block while it is looked up. dr may be
       NULL. Commands may be sent at once. rc->err: it cannot be; NULL: dr is not a request, no memory, or not a
       worker. */
    redisAsyncContext *(*connect)(const char *ip, int port, duda_request_t *dr);
    /* End it behind the last answer. It takes no more commands, and may be gone afterwards. */
    void (*disconnect)(redisAsyncContext *rc);
    /* Call back on this worker, as connect() has begun to. 0; -1: rc->err. */
    int (*attach)(redisAsyncContext *rc, duda_request_t *dr);
    /* Call fn once: 0: it is connected; -1: it cannot be, and ends. Before it is connected. 0, -1. */
    int (*setConnectCallback)(redisAsyncContext *rc,
                              void (*fn)(const redisAsyncContext *, int status));
    /* Call fn once when it has been connected and ends: 0: disconnect() or free(); -1: rc->errstr. 0, -1. */
    int (*setDisconnectCallback)(redisAsyncContext *rc,
                                 void (*fn)(const redisAsyncContext *, int status));
    /* Send a command: words with blanks between them, where %s is a text, %b bytes with their size_t, and others as of
       printf(). fn may be NULL. 0; -1: refused, and nothing is called. */
    int (*command)(redisAsyncContext *rc, void (*fn)(redisAsyncContext *, void *reply, void *priv),
                   void *priv, const char *fmt, ...);
    /* End it now: commands without an answer are called with NULL, before this returns unless it is called from a call-back
       of rc. */
    void (*free)(redisAsyncContext *rc);
    /* The request of connect(). NULL: there is none, or it has ended. */
    duda_request_t *(*getDudarequest)(const redisAsyncContext *rc);
};
typedef struct duda_api_redis redis_object_t;
DUDA_OBJ redis_object_t *redis;
#endif
