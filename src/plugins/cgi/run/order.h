/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_ORDER_H
#define CGI_ORDER_H

#include "entry/settings.h"

/**
 * Write the order for a script: wire.h.
 * @param has_body, length  of the request's body
 * @return its length, dst is to be freed; MK_E_LIMIT: the request has too much in its head; MK_E_NOMEM.
 */
ssize_t cgi_order_write(char **dst, struct mk_request *r, const struct cgi_site *site,
                        const struct cgi_route *route, const struct gateway_script *script,
                        bool has_body, int64_t length) MK_MUST_USE;

#endif
