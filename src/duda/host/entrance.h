/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_HOST_ENTRANCE_H
#define MK_DUDA_HOST_ENTRANCE_H

#include <monkey/plugin.h>

/** The hook: who of the site's services a path belongs to, and what that does with it. PASS: none. */
enum mk_verdict mk_duda_on_handle(struct mk_request *r, const struct mk_context *ctx, void *data);

#endif
