/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_COMPAT_18_MK_LIB_INT_H
#define MK_COMPAT_18_MK_LIB_INT_H

#include "compat/context.h"

#include <monkey/mk_lib.h>

/* A context of the 1.8 interface. Lists are in the order of the program's calls. */

struct mk_lib;
struct mk_worker;

struct mk_lib_handler {
    struct mk_lib_handler *next;
    char *pattern; /* of the server */
    void (*cb)(mk_request_t *request, void *data);
    void *data;
};

struct mk_lib_vhost {
    struct mk_lib_vhost *next;
    char site[24]; /* for mk_compat_set; empty: the default site */
    struct mk_lib_handler *handlers;
};

struct mk_lib_worker_callback {
    struct mk_lib_worker_callback *next;
    void (*cb)(void *data);
    void *data;
};

struct mk_fifo_queue {
    struct mk_fifo_queue *next;
    char *name;
    void (*cb)(mk_mq_t *queue, void *message, size_t size, void *data);
    void *data;
    struct mk_lib *lib;
};

struct mk_lib {
    struct mk_compat c;
    struct mk_lib_vhost *vhosts; /* the default first */
    struct mk_lib_worker_callback *callbacks;
    struct mk_fifo_queue *queues;
};

/** The plugin by which a context answers; its argument is the context. */
extern const struct mk_plugin mk_lib_plugin;

/** @return the pattern of the server that means what the older library made of it, for free(); NULL: no memory. */
char *mk_lib_pattern(const char *regex) MK_MUST_USE;

/** @return whether this thread is that of the worker, and the worker has not ended. */
bool mk_lib_is_on(const struct mk_worker *w);

void mk_lib_free_queues(struct mk_lib *lib);

static inline struct mk_lib *mk_lib_of(struct mk_compat *c)
{
    return (struct mk_lib *)(void *)c;
}

#endif
