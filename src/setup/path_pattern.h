/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_PATH_PATTERN_H
#define MK_SETUP_PATH_PATTERN_H

#include "base/pattern.h"
#include "settings/field.h"

/* What keys that take a path say of many paths, one meaning everywhere: monkey.conf(5), PATTERNS OF PATHS. */

/**
 * As mk_setup_pattern.
 * @param is_glob  a text without a star is a glob too, of one path or name
 * @return 0, MK_E_INVALID (noted) or MK_E_NOMEM.
 */
int mk_path_pattern(struct mk_setup *ctx, const struct mk_origin *at, const char *key,
                    struct mk_str text, bool is_glob,
                    const struct mk_pattern **pattern) MK_MUST_USE;

#endif
