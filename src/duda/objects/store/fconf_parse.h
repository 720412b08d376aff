/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_FCONF_PARSE_H
#define MK_DUDA_FCONF_PARSE_H

#include "objects/objects.h"

enum { MK_DUDA_FCONF_LINE_MAX = 254, MK_DUDA_FCONF_WHY_MAX = 128 };

/**
 * Parse a configuration in Monkey's indented format: `[SECTION]` and comments (`#`) at column 0, then `key value`
 * lines, which are all indented by the same blanks.
 * @param file  its name, copied
 * @param text  its content
 * @param why   out, without a result: "line 3: sentence"
 * @return the configuration, owned by the caller; NULL.
 */
struct duda_config *mk_duda_fconf_parse(const char *file, const char *text,
                                        char why[MK_DUDA_FCONF_WHY_MAX]);
void mk_duda_fconf_free(struct duda_config *config);

#endif
