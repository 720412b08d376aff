/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_MIN = 5, BOOTSTRAP_MIN = 10, DRAWS = 2000, VALUES_MAX = 1024 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double stats_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* xorshift64*: enough to draw rounds. */
static size_t draw(uint64_t *state, size_t count)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (size_t)((*state * 2685821657736338717U >> 32) % count);
}

static double median_of_draw(const double *values, size_t count, uint64_t *state)
{
    double drawn[VALUES_MAX];

    for (size_t i = 0; i < count; i++)
        drawn[i] = values[draw(state, count)];
    return stats_median(drawn, count);
}

static void bootstrap(const double *a, size_t na, const double *b, size_t nb, struct interval *i)
{
    static double ratios[DRAWS];
    uint64_t state = 1;

    for (size_t n = 0; n < DRAWS; n++)
        ratios[n] = median_of_draw(b, nb, &state) / median_of_draw(a, na, &state);
    (void)stats_median(ratios, DRAWS);
    *i = (struct interval){ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40]};
}

bool stats_ratio(double *a, size_t na, double *b, size_t nb, struct interval *i)
{
    if (na < ROUNDS_MIN || nb < ROUNDS_MIN || na > VALUES_MAX || nb > VALUES_MAX)
        return false;
    (void)stats_median(a, na);
    (void)stats_median(b, nb);
    if (!(a[0] > 0 && b[0] > 0))
        return false;
    if (na >= BOOTSTRAP_MIN && nb >= BOOTSTRAP_MIN)
        bootstrap(a, na, b, nb, i);
    else
        *i = (struct interval){b[0] / a[na - 1], b[nb - 1] / a[0]};
    return true;
}
