/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_WEB_JSON_INT_H
#define MK_WEB_JSON_INT_H

#include <monkey/web/json.h>

#include "kit/json/read.h"

enum { JSON_VALUES = 20000, JSON_BYTES = 1 << 20 };

/** mk_reply_json with another type. */
enum mk_verdict mk_json_reply_as(struct mk_request *r, unsigned status, struct mk_json *j,
                                 struct mk_str type);

/** mk_json_read that gives the memory of the tree too. @param held  out: bytes */
int mk_json_read_held(struct mk_str text, const struct mk_json_bounds *bounds,
                      const struct mk_json_value **root, struct mk_json_fault *fault, size_t *held);

/** @param from  NULL: as if all were 0 */
void mk_json_set_bounds(struct json_read *r, const struct mk_json_bounds *from);

#endif
