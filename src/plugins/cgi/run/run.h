/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_RUN_H
#define CGI_RUN_H

#include "entry/settings.h"
#include "yard/yard.h"

/*
 * A request that a script answers, and the script: from the request's first byte to the end of its process group, which may
 * be behind the end of the request. On one worker.
 */

/** on_handle. */
enum mk_verdict cgi_run_handle(struct mk_request *r, struct crew *crew, const struct yard *yard,
                               const struct cgi_site *site, const struct cgi_route *route);

/** No configuration is in force on this worker any more: whatever still runs is let go. */
void cgi_run_end_all(struct crew *crew);

#endif
