/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_ASK_H
#define MK_SERVER_WORKER_ASK_H

#include "core/loop.h"

struct mk_worker;

/** An order to a worker that is given from any thread, and once however often before the worker has seen it. */
struct mk_ask {
    struct mk_post post;
    atomic_bool is_asked; /* it is on its way */
};

/** @param fn  called on the worker's thread; calls mk_ask_begin first */
void mk_ask_init(struct mk_ask *ask, void (*fn)(struct mk_post *post));
/** Any thread. */
void mk_ask(struct mk_worker *w, struct mk_ask *ask);
/** It is being carried out: who asks from now on asks again. */
void mk_ask_begin(struct mk_ask *ask);

#endif
