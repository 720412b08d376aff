/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_STATUS_H
#define MK_HTTP_STATUS_H

#include <monkey/types.h>

#include <stdbool.h>

/** @return the reason phrase of a status (RFC 9110 section 15); a generic one for its class when unknown. */
struct mk_str mk_status_reason(unsigned status);

/** May a response with this status carry content (RFC 9110 sections 6.4.1 and 15)? Not 1xx, 204, 304. */
bool mk_status_has_content(unsigned status);

#endif
