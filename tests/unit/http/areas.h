/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_AREAS_H
#define TESTS_AREAS_H

#include "guard.h"

/* Guarded memory for what a group of tests reads and writes: open_areas and close_areas are its set-up. */

static struct guard in_area, out_area;

static int open_areas(void **state)
{
    (void)state;
    in_area = guard_open(4096);
    out_area = guard_open(4096);
    return 0;
}

static int close_areas(void **state)
{
    (void)state;
    guard_close(&in_area);
    guard_close(&out_area);
    return 0;
}

#endif
