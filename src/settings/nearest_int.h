/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_NEAREST_INT_H
#define MK_SETTINGS_NEAREST_INT_H

#include <monkey/types.h>

/* The search behind mk_nearest_name, for names that do not stand in one array. Start from zero. */
struct mk_nearest {
    const char *name; /* the best so far; NULL: none is near */
    size_t distance;
};

/** Consider one more name; NULL is allowed and ignored. */
void mk_nearest_offer(struct mk_nearest *n, struct mk_str wrong, const char *name);

#endif
