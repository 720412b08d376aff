/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_METRICS_H
#define CHEETAH_METRICS_H

#include "reply.h"

struct mk_server;

/**
 * Everything that is counted: in words in Prometheus' text format 0.0.4, in JSON as a list of samples.
 * Any thread.
 */
void metrics_tell(struct mk_server *server, struct reply *r);

#endif
