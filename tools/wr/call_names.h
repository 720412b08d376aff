/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CALL_NAMES_H
#define WR_CALL_NAMES_H

#include <stddef.h>

/** The system calls of the machine that is built for; the build writes the table. */
struct call_name {
    unsigned number;
    const char *name;
};

extern const struct call_name call_names[];
extern const size_t call_name_count;

#endif
