/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_METRICS_H
#define MONKEY_WEB_METRICS_H

/*
 * What the server counts, in the text format 0.0.4 of Prometheus, for its own page or for a program's.
 *
 *     mk_config_handle(config, "GET", "/metrics", mk_reply_metrics, NULL);
 *
 * They are those of the command `metrics` of the shell, without the plugins' (mk_worker_metrics). Numbers alone:
 * mk_server_stats, mk_server_facts.
 */

#include <monkey/request.h>
#include <monkey/server.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Pass the text to fn, some lines at a time, each with its line end.
 * @return 0; MK_E_INVALID: server or fn is NULL. Any thread.
 */
MK_API int mk_metrics_write(struct mk_server *server, mk_text_fn fn, void *arg);

/**
 * A handler (mk_handle_fn) that answers with the text. Everybody who reaches its path sees it.
 * @param arg  unused
 */
MK_API enum mk_verdict mk_reply_metrics(struct mk_request *r, void *arg);

#ifdef __cplusplus
}
#endif

#endif
