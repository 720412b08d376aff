/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_DESCRIBE_INT_H
#define MK_SETTINGS_DESCRIBE_INT_H

#include "settings/field.h"

/**
 * What a field takes, in words that follow "expected": "a time from 1s to 1d".
 * @param in_range  false: the form was wrong, so the form is described; true: the range is
 * @return text in the arena, or NULL without memory
 */
char *mk_field_expected(const struct mk_field *f, bool in_range, struct mk_arena *arena);

#endif
