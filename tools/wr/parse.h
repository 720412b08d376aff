/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PARSE_H
#define WR_PARSE_H

#include "result.h"

/**
 * Read what result_json() wrote. Members that it does not write are skipped.
 * @param text  the file, ended by NUL; rewritten, and borrowed by the result as long as that lives
 * @return NULL, or what is wrong with it (static); the result is to be given to runs_fini() in any case
 */
const char *result_parse(char *text, struct result *r);

#endif
