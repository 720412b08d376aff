/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_UNITS_INT_H
#define MK_SETTINGS_UNITS_INT_H

#include <stdint.h>

/* A unit that may stand behind a number. */
struct mk_unit {
    char name[4];
    int32_t factor;
};

enum { MK_SIZE_UNITS = 4, MK_TIME_UNITS = 5 };

/* From the smallest up. */
extern const struct mk_unit mk_size_units[MK_SIZE_UNITS]; /* in bytes */
extern const struct mk_unit mk_time_units[MK_TIME_UNITS]; /* in milliseconds */

#endif
