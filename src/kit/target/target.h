/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TARGET_H
#define KIT_TARGET_H

#include <monkey/request.h>

enum { TARGET_TEXT = 256 };

/** What a request asked for, for a line of the log: escaped, and cut off where it is long. @return text. */
const char *target_text(const struct mk_request *r, char text[TARGET_TEXT]);

#endif
