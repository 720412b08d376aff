/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_ANSWER_H
#define STATUS_ANSWER_H

#include "settings.h"

/** May this client have one of a site's paths, by this method? @return PASS, or DONE: it is refused. */
enum mk_verdict status_admit(struct mk_request *r, const struct mk_context *ctx,
                             enum status_path path);

/** Answer a request for one of a site's paths. Called again after LATER. */
enum mk_verdict status_answer(struct mk_request *r, const struct mk_context *ctx,
                              enum status_path path);

#endif
