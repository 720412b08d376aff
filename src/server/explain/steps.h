/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_EXPLAIN_STEPS_H
#define MK_SERVER_EXPLAIN_STEPS_H

#include "server/explain/explain.h"

/** The verdict of the plugin that is asked: of its last words, or a step of its own. @param verdict  copied */
void mk_explain_verdict(struct mk_explain *e, const char *verdict);

/** A line of the error log, as mk_log.take: words of the plugin that is asked, else of the server. */
void mk_explain_take_line(void *arg, enum mk_log_level level, const char *component,
                          const char *message);

#endif
