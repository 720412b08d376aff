/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_VARIABLES_H
#define PROXY_VARIABLES_H

#include "exchange/head.h"

/* What the variables of a template (entry/template.h) stand for in a request. */

enum { PROXY_PORT_TEXT = 8 };

/**
 * What a variable stands for in a request; borrowed from it or from scratch.
 * @param is_path  out: it is decoded, and goes into a field percent-encoded
 */
struct mk_str proxy_variable(struct mk_str name, const struct proxy_request *q,
                             char scratch[PROXY_PORT_TEXT], bool *is_path);

#endif
