/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_METRICS_H
#define CHEETAH_METRICS_H

#include "reply.h"

struct mk_worker;

/**
 * Everything that is counted, by the server and by its plugins: in words in Prometheus' text format 0.0.4, in
 * JSON as a list of samples. On the worker's thread, as all here.
 */
void cheetah_metrics_tell(struct mk_worker *w, struct reply *r);

/** What plugins count and an overview shows, as a list, if there is any. */
void cheetah_metrics_tell_brief(struct mk_worker *w, struct reply *r);

#endif
