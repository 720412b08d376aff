/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_CALL_H
#define MK_PY_CALL_H

#include "fifo.h"

#include <monkey/request.h>

#include <pthread.h>
#include <stdatomic.h>

/*
 * One request between the worker that has it and the Python thread that answers it. The worker copies the request's head
 * before it shares the call, and the Python thread writes the answer's head before it says so; both are constant from then
 * on. All else is under the lock, which nobody holds for longer than a copy of some kilobytes. A Python thread waits
 * without the GIL; a worker never waits and never takes the GIL.
 */

struct mk_py_pool;

struct mk_py_line {
    struct mk_str name, value;
};

/** Lines and texts in one block of memory. */
struct mk_py_head {
    unsigned status; /* of an answer */
    size_t nlines;
    struct mk_py_line lines[];
};

/** The body of a request on its way to the application. */
struct mk_py_input {
    struct mk_py_fifo fifo;
    int fd;            /* of the file with the bytes above the bound; -1: none */
    uint64_t file_len; /* bytes in it */
    uint64_t file_at;  /* bytes that the application has taken from it */
    uint64_t total;    /* bytes that have arrived */
    int error;         /* enum mk_error that ended it; 0: none */
    bool is_ended;     /* all bytes have arrived, or error is set */
    bool is_wanted;    /* may be read: the application asked, or the client does not wait for 100 */
    bool is_paused;    /* the worker stopped reading, because there is no room or nobody asked */
    bool is_whole;     /* gathered before the application is called */
    bool has_submitted; /* the application is called or will be */
};

/** The answer on its way to the client. */
struct mk_py_output {
    struct mk_py_fifo fifo;
    struct mk_py_head *head; /* NULL: without an answer of the application's own */
    int64_t length;          /* as mk_reply_end */
    int fd;                  /* of a file to send after the head; -1: none. The worker takes it */
    uint64_t file_at, file_len;
    bool has_head;  /* head, length and fd are final */
    bool is_done;   /* no more bytes will come */
    bool is_broken; /* it ends before its end */
    bool is_passed; /* the application leaves the request to the server's files */
};

struct mk_py_call {
    atomic_uint refs;
    struct mk_py_call *next; /* in the pool's queue */
    struct mk_py_pool *pool;
    struct mk_server *server;
    uint64_t ticket;
    /* the request's head */
    struct mk_py_head *head;
    struct mk_str method, target, path, query, host;
    const char *scheme;
    unsigned minor;
    int64_t content_length;
    char peer[MK_PEER_TEXT];
    unsigned peer_port;
    const char *listen;    /* "127.0.0.1:2001" */
    const char *site_name; /* "": none */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the Python thread */
    struct mk_py_input input;
    struct mk_py_output output;
    bool is_asleep; /* the worker waits for mk_server_resume */
    bool is_over;   /* the request has ended: nobody reads the answer, no more of the body comes */
};

/**
 * Copy a request's head. On its worker.
 * @return a call with one reference; NULL: no memory, or the request has ended.
 */
struct mk_py_call *mk_py_call_new(struct mk_py_pool *pool, struct mk_request *r);
void mk_py_call_ref(struct mk_py_call *c);
/** Drop a reference; the last one frees the call. NULL is allowed. Any thread. */
void mk_py_call_put(struct mk_py_call *c);

/** The request has ended: wake the Python thread, drop bytes. On the worker. */
void mk_py_call_end(struct mk_py_call *c);
bool mk_py_call_is_over(struct mk_py_call *c);

/* ---- the Python thread's side; each may be called with the GIL unless its comment says otherwise ---- */

/**
 * Take bytes of the request's body, waiting for them. Without the GIL.
 * @return bytes; 0: the end; MK_E_PEER, MK_E_LIMIT, MK_E_BAD as mk_request_read; MK_E_SYS: the file.
 */
ssize_t mk_py_call_read(struct mk_py_call *c, char *dst, size_t len);

/** The answer's head is final. @param head  taken; NULL: 500 of the server, or an error of the body */
void mk_py_call_begin(struct mk_py_call *c, struct mk_py_head *head, int64_t length);

/**
 * Add a piece of the answer's body if there is room.
 * @return bytes taken; 0: there is no room, so wait; MK_E_PEER: the request has ended; MK_E_NOMEM.
 */
ssize_t mk_py_call_write(struct mk_py_call *c, const char *bytes, size_t len);
/** Wait for room. Without the GIL. @return 0 or MK_E_PEER. */
int mk_py_call_wait_for_room(struct mk_py_call *c);
/** Let the worker send what there is. */
void mk_py_call_flush(struct mk_py_call *c);
/** The answer has ended. @param is_broken  before its end: the connection is closed */
void mk_py_call_finish(struct mk_py_call *c, bool is_broken);

#endif
