/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_WEB_BODY_INT_H
#define MK_WEB_BODY_INT_H

#include <monkey/web/body.h>

/** What was made of a gathered body counts for MaxMemory like the body. @param bytes  in place of the last number */
void mk_body_hold_beside(struct mk_request *r, size_t bytes);

#endif
