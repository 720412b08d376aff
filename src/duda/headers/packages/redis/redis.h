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
typedef struct redisReply {
    int type;
    long long integer;
    int len;
    char *str;
    size_t elements;
    struct redisReply **element;
} redisReply;
typedef struct redisAsyncContext {
    struct {
        int err;
        char errstr[128];
        int fd;
        int flags;
    } c;
    int err;
    char *errstr;
    void *data;
} redisAsyncContext;
struct duda_api_redis {
    redisAsyncContext *(*connect)(const char *ip, int port, duda_request_t *dr);
    void (*disconnect)(redisAsyncContext *rc);
    int (*attach)(redisAsyncContext *rc, duda_request_t *dr); /* [W] hook into the worker's loop */
    int (*setConnectCallback)(redisAsyncContext *rc,
                              void (*fn)(const redisAsyncContext *, int status));
    int (*setDisconnectCallback)(redisAsyncContext *rc,
                                 void (*fn)(const redisAsyncContext *, int status));
    int (*command)(redisAsyncContext *rc, void (*fn)(redisAsyncContext *, void *reply, void *priv),
                   void *priv, const char *fmt, ...);
    void (*free)(redisAsyncContext *rc);
    duda_request_t *(*getDudarequest)(const redisAsyncContext *rc);
};
typedef struct duda_api_redis redis_object_t;
DUDA_OBJ redis_object_t *redis;
#endif
