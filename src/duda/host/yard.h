/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_YARD_H
#define MK_DUDA_SERVICE_YARD_H

#include "service/service.h"

/** What a reload keeps: the workers. Each one's slot is its own. */
struct mk_duda_yard {
    struct counted refs; /* configurations */
    unsigned nworkers;
    bool reports_crashes; /* host/crash.h: as the first configuration says */
    struct mk_duda_worker *workers[];
};

struct mk_duda_yard *mk_duda_yard_new(struct mk_server *server);
struct mk_duda_yard *mk_duda_yard_get(struct mk_duda_yard *yard);
void mk_duda_yard_put(struct mk_duda_yard *yard);

/** Report crashes from now on. Control thread, before workers are taken. */
void mk_duda_yard_report_crashes(struct mk_duda_yard *yard);

/** The object of a worker, made at first; another configuration has it. On that worker. @return NULL without memory. */
struct mk_duda_worker *mk_duda_worker_take(struct mk_duda_yard *yard, struct mk_worker *worker);
void mk_duda_worker_leave(struct mk_duda_yard *yard, struct mk_duda_worker *w);

#endif
