/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_OVERVIEW_H
#define STATUS_OVERVIEW_H

#include <monkey/types.h>

/* The page for people: a document, and a script that asks for the numbers once a second. Both are static. */

struct mk_str status_overview_page(void);
struct mk_str status_overview_script(void);

#endif
