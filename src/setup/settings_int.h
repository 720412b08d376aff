/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_SETTINGS_INT_H
#define MK_SETUP_SETTINGS_INT_H

#include "setup/settings.h"

/* What the settings tables share. */

/** The array with room for one more, zeroed, item; it doubles when it is full. NULL without memory. */
void *mk_settings_grow(struct mk_arena *arena, void *items, size_t count, size_t size);

/** Append a zeroed item to s->list; gives a pointer to it, or NULL without memory. */
#define MK_SETTINGS_APPEND(ctx, s, list, count)                                                    \
    (((s)->list = mk_settings_grow((ctx)->arena, (s)->list, (s)->count, sizeof(*(s)->list)))       \
         ? &(s)->list[(s)->count++]                                                                \
         : NULL)

/** Position of a name in a NULL-terminated list, in any case; -1 when it is none of them. */
int mk_settings_index(const char *const *names, struct mk_str name);

#endif
