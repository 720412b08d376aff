/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_NUMBER_H
#define WR_NUMBER_H

/* Of libm this is all that is needed, so wr does without it. NAN is neither larger nor smaller than b. */

static inline double number_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double number_smaller(double a, double b)
{
    return a < b ? a : b;
}

/** @param a  not negative, below 2^63 */
static inline double number_whole(double a)
{
    return (double)(long long)a;
}

#endif
