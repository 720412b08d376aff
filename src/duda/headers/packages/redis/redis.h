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
#if DUDA_API_LEVEL >= 3
/* Results of run(), beside REDIS_OK. */
#define REDIS_REFUSED (-1) /* the command is invalid, or the server refused it: text says why */
#define REDIS_TIMEOUT (-2) /* no answer within the time limit; it may have been carried out */
#define REDIS_DOWN (-3)    /* the server cannot be reached; it has not been carried out */
#define REDIS_LOST (-4) /* the connection ended before the answer; it may have been carried out */
#define REDIS_MALFORMED (-5) /* the server sent what is no answer, or more than 64 MB */
#define REDIS_FULL (-6) /* 1,024 commands of this worker have no answer, or there is no memory */
/* A server, and how it is asked; 0 and NULL are the defaults. */
struct redis_options {
    /* HOST:PORT, or redis://USER:PASSWORD@HOST:PORT/DATABASE?connections=N, of which all but the host may be left out; N
       bounds the connections of all workers together to each server. A name is looked up without blocking, and again when
       no address accepts a connection. rediss:// is the same over TLS, by the plugin tls or mbedtls, which verifies the certificate.
       The options below go before those in it. */
    const char *server;
    const char *user;     /* of an access control list; at most 127 bytes */
    const char *password; /* likewise */
    unsigned db;          /* number of the database */
    unsigned connections; /* of each worker, at most 16; 0: 1 */
    unsigned timeout_ms;  /* of a command with its connection; exact to 200; at most 1 h; 0: 1000 */
};
/* Borrowed until the function returns. */
struct redis_answer {
    int result;
    const redisReply *reply; /* NULL: the server has sent none */
    const char *text;        /* what happened, in words */
};
typedef struct redis_client redis_client_t; /* opaque to services */
typedef void (*redis_fn)(duda_request_t *dr, const struct redis_answer *answer, void *arg);
/* message: len bytes and a terminator. NULL: the server hears this worker from now on; what was sent before, also since
   a connection was lost, is missed. */
typedef void (*redis_message_fn)(const char *channel, const char *message, size_t len, void *arg);
#endif
/*
 * redis: Servers of Redis, without waiting: commands are sent, and their answers come by call-back on the same worker. [W]
 *
 * A context is a connection of its own. With a request it ends after the last answer once the request has ended, after 10 s
 * at the latest; without one it lives until disconnect() or free(). An old pointer to a context is refused. Each command
 * that was taken has its call-back once; reply is borrowed until it returns, and NULL if the connection ended without an
 * answer, rc->errstr. Commands have no time limit here. (P)SUBSCRIBE calls fn for each confirmation and message, and with
 * NULL at the end; (P)UNSUBSCRIBE names channels, and calls no other function. When the service is unloaded nothing is
 * called any more.
 *
 * Level 3 has clients, whose connections a worker keeps for all of its requests. If the server is one of a cluster, commands
 * follow MOVED and ASK to at most 16 servers at a time, for each of which their order is kept:
 *
 *     static void show(duda_request_t *dr, const struct redis_answer *answer, void *arg)
 *     {
 *         if (dr)
 *             response->send(dr, answer->result == 0 ? 200 : 503, "text/plain", "%s", answer->text);
 *     }
 *
 *     static void page(duda_request_t *dr)
 *     {
 *         if (redis->run(books, dr, show, NULL, "INCR %s", "readers") < 0)
 *             response->problem(dr, 503, "Try again later", NULL);
 *     }
 */
struct duda_api_redis {
    /* Connect, within 10 s. ip is numeric or localhost (127.0.0.1): a name would block while it is looked up. dr may be
       NULL. Commands may be sent at once. rc->err: it cannot be; NULL: dr is not a request, no memory, or not a
       worker. */
    redisAsyncContext *(*connect)(const char *ip, int port, duda_request_t *dr);
    /* End it after the last answer. It takes no more commands, and may be gone afterwards. */
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
#if DUDA_API_LEVEL >= 3
    /* [M] A client of this server, which lasts as long as the service; options and texts are copied. NULL: the place is
       invalid, a bound is exceeded, TLS has no plugin, there are 8 clients, or no memory: logged. */
    redis_client_t *(*client)(const struct redis_options *options);
    /* Send a command, as of command(), and park the request. 0: fn is called once, later, on this worker, and answers; else
       REDIS_REFUSED, _DOWN or _FULL: nothing is called, and the request is not parked. fn gets NULL in place of a
       request that has ended meanwhile. dr NULL: the command belongs to no request, and fn may be NULL. Commands
       follow each other without waiting for answers; those of a worker are carried out in their order with one connection.
       What would change a connection for others is refused, such as MULTI, SELECT and SUBSCRIBE. When the service ends,
       fn is not called. */
    int (*run)(redis_client_t *client, duda_request_t *dr, redis_fn fn, void *arg, const char *fmt,
               ...);
    /* Likewise, with a time limit of its own. One that lets the server wait, such as BLPOP, delays the later ones of
       its connection. */
    int (*run_within)(redis_client_t *client, unsigned ms, duda_request_t *dr, redis_fn fn,
                      void *arg, const char *fmt, ...);
    /* Likewise, from n words, which are copied. lens NULL: they are terminated. */
    int (*run_words)(redis_client_t *client, duda_request_t *dr, redis_fn fn, void *arg, int n,
                     const char *const *words, const size_t *lens);
    /* Call fn for the messages of a channel, on this worker, until unsubscribe() or the end of the service. A connection that
       is lost is made anew. 0; -1: it is heard already, there are 256, or no memory. */
    int (*subscribe)(redis_client_t *client, const char *channel, redis_message_fn fn, void *arg);
    /* No more of them; also within fn. 0; -1: it is not heard by this worker. */
    int (*unsubscribe)(redis_client_t *client, const char *channel);
#endif
};
typedef struct duda_api_redis redis_object_t;
DUDA_OBJ redis_object_t *redis;
#endif
