/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STATS_H
#define WR_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @return the middle of them, NAN of none. The values are sorted in place. */
double stats_median(double *values, size_t count);

struct interval {
    double low, high;
};

/**
 * In what range the ratio of the medians, of b over a, lies. From ten rounds on a bootstrap, 95 %, with a fixed seed so
 * that it can be repeated; from five on the ratios of the extremes, which need no assumption and hold in nine of ten
 * cases or more.
 * @return false: fewer rounds than five, or a value that is not above 0
 */
bool stats_ratio(double *a, size_t na, double *b, size_t nb, struct interval *i);

#endif
