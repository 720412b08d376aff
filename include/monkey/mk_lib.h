/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_MK_LIB_H
#define MONKEY_MK_LIB_H

/*
 * The library interface of Monkey 1.6 to 1.8, for programs that were written for it: mk_lib(3). New programs use
 * <monkey/server.h>. In libmonkey-1.8: pkg-config --cflags --libs libmonkey.
 *
 *     static void hello(mk_request_t *request, void *data)
 *     {
 *         mk_http_status(request, 200);
 *         mk_http_send(request, "Hello\n", 6, NULL);
 *         mk_http_done(request);
 *     }
 *
 *     mk_ctx_t *ctx = mk_create();
 *     int vid;
 *
 *     mk_config_set(ctx, "Listen", "8080", NULL);
 *     vid = mk_vhost_create(ctx, NULL);
 *     mk_vhost_handler(ctx, vid, "/hello", hello, NULL);
 *     mk_start(ctx);
 *     ...
 *     mk_stop(ctx);
 *     mk_destroy(ctx);
 *
 * A program has any number of contexts. Functions that take a context may be called from any thread; those that take a
 * request, in its callback. Misuse is answered with -1 or NULL and a warning on standard error.
 */

#include <monkey/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A server: a handle, not an address. A call with the handle of a freed context is refused. */
typedef struct mk_lib_ctx mk_ctx_t;
/** A queue of messages for the workers. */
typedef struct mk_fifo_queue mk_mq_t;

/** Bytes, terminated after their length; data NULL: absent. */
typedef struct {
    char *data;
    unsigned long len;
} mk_ptr_t;

/** A request, valid until its callback returns. */
typedef struct mk_http_request {
    mk_ptr_t method;        /* as sent: "GET" */
    mk_ptr_t uri_processed; /* the path, decoded and normalised, without query */
    mk_ptr_t query_string;
    mk_ptr_t data; /* the body, whole */
} mk_request_t;

/** Make a server with defaults. @return the context, for mk_destroy; NULL: no memory. */
MK_API mk_ctx_t *mk_create(void);
/** Free a context; a server that runs is stopped first. @return 0; -1: it was freed before, or this is a callback of it. */
MK_API int mk_destroy(mk_ctx_t *ctx);

/** Start the server in threads of its own. @return 0; -1: it runs already, or cannot start. */
MK_API int mk_start(mk_ctx_t *ctx);
/** Stop the server. Requests in flight have a second. It may be configured and started again. @return 0; -1: it does not run, or this is a callback of it. */
MK_API int mk_stop(mk_ctx_t *ctx);

/*
 * <monkey/server.h> has a function mk_config_set too. A file that includes that header first calls this one by its second
 * name, mk_lib_config_set; the other order does not compile.
 */
#ifndef MONKEY_SERVER_H
#define mk_config_set mk_lib_config_set
#endif

/**
 * Set keys, each with its value as text, terminated by NULL, before the start: Listen (repeatable), Workers (0: one for each
 * CPU), Timeout, KeepAlive, MaxKeepAliveRequest, KeepAliveTimeout, UserDir, IndexFile, HideVersion, Resume, MaxRequestSize
 * (bytes of a head, from 1024 to 1 MB, and of a body), SymLink, DefaultMimeType, FDT. Keys have any case, times are in
 * seconds, switches are on or off.
 * @return 0; -1: a key is unknown, a value is wrong or the server runs; then the call changed nothing.
 */
MK_API int mk_lib_config_set(mk_ctx_t *ctx, ...) __attribute__((sentinel));

/**
 * Add a virtual host before the start. The first one also answers requests for unknown hosts.
 * @param name  of the host; NULL: "127.0.0.1"
 * @return its number, from 0; -1: no memory, or the server runs.
 */
MK_API int mk_vhost_create(mk_ctx_t *ctx, const char *name);
/** Set keys of a virtual host, as mk_config_set: Name (repeatable), DocumentRoot. @return as mk_config_set; -1: there is no such host. */
MK_API int mk_vhost_set(mk_ctx_t *ctx, int vid, ...) __attribute__((sentinel));
/**
 * Bind paths of a virtual host to a callback, before the start. The first handler that matches answers.
 * @param regex  a POSIX extended expression, unanchored, in any case, on uri_processed; also with backslashes in brackets, `\d`
 *               and `(?:`, as the older library read them
 * @param cb     called on a worker when the body has arrived; it must not block
 * @param data   for cb
 * @return 0; -1: an argument is wrong, or the server runs.
 */
MK_API int mk_vhost_handler(mk_ctx_t *ctx, int vid, const char *regex,
                            void (*cb)(mk_request_t *request, void *data), void *data);

/* ---- the answer, in a handler ---- */

/** Set the status, 200 to 599, before the answer is flushed. A handler that sets none is answered with 500. @return 0 or -1. */
MK_API int mk_http_status(mk_request_t *request, int status);
/** Add a header field, copied, before the answer is flushed. @return 0; -1 also: no memory. */
MK_API int mk_http_header(mk_request_t *request, const char *key, int key_len, const char *val,
                          int val_len);
/**
 * Add bytes to the body, copied, after the status was set.
 * @param cb_finish  called when buf is no longer needed, before this call returns; NULL: none
 * @return 0; -1 also: no memory.
 */
MK_API int mk_http_send(mk_request_t *request, const char *buf, size_t len,
                        void (*cb_finish)(mk_request_t *request));
/** Send what there is, with a body of unknown length, when the callback returns. Status and fields are final. @return 0 or -1. */
MK_API int mk_http_flush(mk_request_t *request);
/** Complete the answer. The end of the callback does the same. @return 0; -1: it was complete, or cannot be sent. */
MK_API int mk_http_done(mk_request_t *request);

/* ---- workers ---- */

/** Call a function on each worker before it serves, from mk_start. @return 0; -1: no memory, or the server runs. */
MK_API int mk_worker_callback(mk_ctx_t *ctx, void (*cb_func)(void *data), void *data);
/**
 * Make a queue before the start.
 * @param name  differs from those of other queues
 * @param cb    called on each worker for each message; message is a copy of its own, for the call only
 * @param data  for cb
 * @return the queue's number, from 0; -1: an argument is wrong, no memory, or the server runs.
 */
MK_API int mk_mq_create(mk_ctx_t *ctx, const char *name,
                        void (*cb)(mk_mq_t *queue, void *message, size_t size, void *data),
                        void *data);
/**
 * Send a message, copied, to all workers of a server that runs. Those of one thread arrive in order; those that have not
 * arrived when the server stops are dropped.
 * @return 0; -1: there is no such queue, the server does not run, or no memory.
 */
MK_API int mk_mq_send(mk_ctx_t *ctx, int qid, const void *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
