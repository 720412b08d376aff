/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_MEMCACHED_H
#define DUDA_PACKAGE_MEMCACHED_H
#include "duda_api.h"
#if DUDA_API_LEVEL < 3
#error "the package memcached needs DUDA_API_LEVEL 3"
#endif
/* Results of commands. */
#define MEMCACHED_OK 0
#define MEMCACHED_MISS 1       /* the key has no value */
#define MEMCACHED_NOT_STORED 2 /* add(): the key has a value; replace(): it has none */
#define MEMCACHED_REFUSED (-1) /* the command is invalid, or the server refused it: text says why */
#define MEMCACHED_TIMEOUT                                                                          \
    (-2)                    /* no answer within timeout_ms; the command may have been carried out */
#define MEMCACHED_DOWN (-3) /* no server can be reached */
#define MEMCACHED_LOST (-4) /* the connection ended before the answer, likewise */
#define MEMCACHED_MALFORMED (-5) /* the server sent what is no answer */
#define MEMCACHED_FULL (-6)      /* 1,024 commands of this worker wait, or there is no memory */
/* Servers, and how they are asked; 0 is the default. */
struct memcached_options {
    const char *servers;  /* HOST:PORT or memcached://HOST[:PORT], blanks between; at most 64 */
    unsigned connections; /* to a server, of each worker, at most 16; 0: 2 */
    unsigned timeout_ms;  /* of a command, with its connection; exact to 200; 0: 1000 */
    size_t value_max;     /* bytes of a value, at most 128 MB; 0: 1 MB, the default of the server */
};
/* The answer to a command, valid during the call-back. */
struct memcached_answer {
    int result;        /* MEMCACHED_... */
    const char *value; /* of get(), terminated; NULL: none */
    size_t len;        /* bytes of the value */
    uint64_t number;   /* of incr() and decr(): the new value */
    const char *text;  /* the result in words */
};
typedef struct memcached_client memcached_client_t; /* opaque to services */
typedef void (*memcached_fn)(duda_request_t *dr, const struct memcached_answer *answer, void *arg);
/* memcached: Level 3: values by key in servers of memcached, by its text protocol.

       static void show(duda_request_t *dr, const struct memcached_answer *answer, void *arg)
       {
           if (dr)
               response->send(dr, answer->result == 0 ? 200 : 404, "text/plain", "%s", answer->text);
       }

       static void page(duda_request_t *dr)
       {
           if (memcached->get(books, dr, "title", show, NULL) < 0)
               response->problem(dr, 503, "Try again later", NULL);
       }

   A command is sent at once and parks the request, as response->wait() does; nothing blocks. It returns 0: fn is called once,
   later, on this worker, and answers; else MEMCACHED_REFUSED, _DOWN or _FULL: nothing is called, and the request is not
   parked. If the request has ended meanwhile, fn gets NULL in place of dr, so that it can free arg. With dr NULL a command
   belongs to no request; fn may be NULL then. When the service ends, fn is not called for commands without an answer.

   A key has 1 to 250 bytes without blanks and control bytes. seconds: until the value expires; 0: never. Each worker has
   connections of its own, on which commands follow each other without waiting for answers.

   A host is a name, an IPv4 address, or an IPv6 address in brackets. Names are looked up when a connection is made, without
   blocking, and again when no address accepts it. The scheme memcacheds is memcached over TLS, by the plugin tls or mbedtls;
   the plugin's section [TLS_BACKEND] says how servers are verified. A URL may end in ?connections=N: all workers together have
   at most N connections to that server. Commands wait for one, first-in first-out, within timeout_ms.

   Keys are spread over the servers by consistent hashing, as ketama does it: 160 points of each server on a ring of 32 bits,
   FNV-1a with the final mix of MurmurHash3 of "host:port-number"; a key belongs to the next point. After a failure
   a server is left out, and its keys belong to the next server on the ring, until a connection to it answers again: the first
   is tried after 500 ms, the next after twice as long, up to 30 seconds. */
struct duda_api_memcached {
    /* [M] A client for these servers, which lasts as long as the service; options and texts are copied. NULL: a server is
       malformed or needs TLS that is missing, a bound is exceeded, there are 8 clients, or no memory: logged. */
    memcached_client_t *(*client)(const struct memcached_options *options);
    /* [W] Ask for a value. */
    int (*get)(memcached_client_t *client, duda_request_t *dr, const char *key, memcached_fn fn,
               void *arg);
    /* [W] Keep a copy of len bytes. */
    int (*set)(memcached_client_t *client, duda_request_t *dr, const char *key, const void *value,
               size_t len, uint32_t seconds, memcached_fn fn, void *arg);
    /* [W] Likewise, if the key has no value. */
    int (*add)(memcached_client_t *client, duda_request_t *dr, const char *key, const void *value,
               size_t len, uint32_t seconds, memcached_fn fn, void *arg);
    /* [W] Likewise, if the key has a value. */
    int (*replace)(memcached_client_t *client, duda_request_t *dr, const char *key,
                   const void *value, size_t len, uint32_t seconds, memcached_fn fn, void *arg);
    /* [W] Delete a value. */
    int (*drop)(memcached_client_t *client, duda_request_t *dr, const char *key, memcached_fn fn,
                void *arg);
    /* [W] Add to a value that is a decimal number of 64 bits; it begins again at 0 beyond them. */
    int (*incr)(memcached_client_t *client, duda_request_t *dr, const char *key, uint64_t by,
                memcached_fn fn, void *arg);
    /* [W] Likewise, subtract, at most to 0. */
    int (*decr)(memcached_client_t *client, duda_request_t *dr, const char *key, uint64_t by,
                memcached_fn fn, void *arg);
    /* [W] Give a value another time to expire. */
    int (*touch)(memcached_client_t *client, duda_request_t *dr, const char *key, uint32_t seconds,
                 memcached_fn fn, void *arg);
};
typedef struct duda_api_memcached memcached_object_t;
DUDA_OBJ memcached_object_t *memcached;
#endif
