/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_PY_POOL_H
#define MK_PY_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct mk_py_call;

/** The calls that wait for a Python thread, and the bounds of each; of one server. */
struct mk_py_pool {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct mk_py_call *first, *last;
    size_t nwaiting;
    bool is_closed;
    /* constant while the server runs */
    size_t max_waiting;    /* calls */
    size_t body_memory;    /* bytes of a request's body in memory */
    size_t answer_memory;  /* bytes of an answer's body that wait for its client */
    bool is_streamed;      /* the application is called before the body has arrived */
    const char *spool_dir; /* borrowed */
};

void mk_py_pool_init(struct mk_py_pool *p);
/** The calls that still wait are dropped. */
void mk_py_pool_fini(struct mk_py_pool *p);
/** Add a call with a reference of its own. Any thread. @return false: too many wait, or the pool is closed. */
bool mk_py_pool_add(struct mk_py_pool *p, struct mk_py_call *c);
/** Take the next call with its reference, waiting for it; without the GIL. @return NULL: the pool is closed. */
struct mk_py_call *mk_py_pool_take(struct mk_py_pool *p);
/** Let every thread of mk_py_pool_take return. */
void mk_py_pool_close(struct mk_py_pool *p);

#endif
