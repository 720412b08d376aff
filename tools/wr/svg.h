/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SVG_H
#define WR_SVG_H

#include <stddef.h>
#include <stdio.h>

struct svg_point {
    double x, y;
};

/** A line, and what was measured around it; borrowed. */
struct svg_series {
    const char *name;
    struct svg_point *line, *dots;
    size_t nline, ndots;
};

struct svg_axes {
    const char *title, *x, *y; /* what it shows; names of the axes */
};

enum { SVG_COLOURS = 8 };

/** Text of a page: < > & and quotes are escaped, bytes above 127 are Latin-1. */
void html_text(FILE *to, const char *text);

/** A number short enough for an axis or a table: 12.3, 4.56k, 78M. @return text */
const char *svg_number(double value, char text[16]);

/** The next larger of 1, 2 and 5 times a power of ten. value is above 0. */
double svg_round_up(double value);

/** A drawing with both axes from 0. Colours are the classes c0, c1, ... of the page. */
void svg_plot(FILE *to, const struct svg_axes *axes, const struct svg_series *series, size_t count);

#endif
