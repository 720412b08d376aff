/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_ENERGY_H
#define WR_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

enum { ENERGY_PACKAGES_MAX = 8 };

/** Counters of the processor's packages, in microjoules (RAPL). They begin again at their end. */
struct energy {
    uint64_t uj[ENERGY_PACKAGES_MAX], end_uj[ENERGY_PACKAGES_MAX];
    int count; /* 0: they cannot be read */
};

/** @param sys  where /sys is mounted */
struct energy energy_read(const char *sys);

/**
 * What all packages used between two readings, in millijoules.
 * A counter that began again twice is not noticed: it takes some half an hour to come to its end.
 */
double energy_between(const struct energy *before, const struct energy *after);

#endif
