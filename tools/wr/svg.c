/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include "number.h"

#include <math.h>

enum { WIDTH = 520, HEIGHT = 260, LEFT = 58, RIGHT = 12, TOP = 34, BOTTOM = 40, TICKS = 5 };

struct scale {
    double x_max, y_max, y_step;
};

void html_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' || c == '"')
            (void)fprintf(to, "&#%u;", c < ' ' ? ' ' : c);
        else
            (void)fputc(c, to);
    }
}

const char *svg_number(double value, char text[16])
{
    static const char units[] = {0, 'k', 'M', 'G', 'T'};
    size_t unit = 0;

    for (; fabs(value) >= (unit ? 999.5 : 9999.5) && unit + 1 < sizeof(units); unit++)
        value /= 1000;
    (void)snprintf(text, 16, fabs(value) < 999.5 ? "%.3g%c" : "%.0f%c", value, units[unit]);
    return text;
}

double svg_round_up(double value)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = 1;

    if (!(value > 0) || isinf(value))
        return value;
    while (power * 10 <= value)
        power *= 10;
    while (power > value)
        power /= 10;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
        if (value <= steps[i] * power * 1.0000001)
            return steps[i] * power;
    return 10 * power;
}

static double x_of(const struct scale *s, double x)
{
    return LEFT + x / s->x_max * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct scale *s, double y)
{
    return HEIGHT - BOTTOM - y / s->y_max * (HEIGHT - TOP - BOTTOM);
}

static void widen(struct scale *s, const struct svg_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        s->x_max = number_larger(points[i].x, s->x_max);
        s->y_max = number_larger(points[i].y, s->y_max);
    }
}

/* The distance of the ticks is round, and the axis ends at one of them. */
static struct scale scale_of(const struct svg_series *series, size_t count)
{
    struct scale s = {0};

    for (size_t i = 0; i < count; i++) {
        widen(&s, series[i].line, series[i].nline);
        widen(&s, series[i].dots, series[i].ndots);
    }
    s.x_max = s.x_max > 0 ? s.x_max : 1;
    s.y_max = s.y_max > 0 ? s.y_max : 1;
    s.y_step = svg_round_up(s.y_max / TICKS);
    s.y_max = number_whole(s.y_max / s.y_step + 1 - 1e-6) * s.y_step;
    return s;
}

static void text_at(FILE *to, double x, double y, const char *anchor, const char *text)
{
    (void)fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_text(to, text);
    (void)fputs("</text>", to);
}

static void draw_axes(FILE *to, const struct svg_axes *axes, const struct scale *s)
{
    double step = svg_round_up(s->x_max / TICKS);
    char text[16];

    for (int i = 0; i * s->y_step <= s->y_max * 1.0001; i++) {
        double value = i * s->y_step, y = y_of(s, value);

        (void)fprintf(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        text_at(to, LEFT - 6, y + 4, "end", svg_number(value, text));
    }
    for (int i = 0; i * step <= s->x_max * 1.0001; i++)
        text_at(to, x_of(s, i * step), HEIGHT - BOTTOM + 16, "middle", svg_number(i * step, text));
    text_at(to, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 6, "middle", axes->x);
    text_at(to, 4, 14, "start", axes->y);
}

static void draw_series(FILE *to, const struct svg_series *series, size_t colour,
                        const struct scale *s)
{
    (void)fprintf(to, "<g class=\"c%zu\">", colour % SVG_COLOURS);
    for (size_t i = 0; i < series->ndots; i++)
        (void)fprintf(to, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>",
                      x_of(s, series->dots[i].x), y_of(s, series->dots[i].y));
    if (series->nline > 1) {
        (void)fputs("<path class=\"line\" d=\"", to);
        for (size_t i = 0; i < series->nline; i++)
            (void)fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M', x_of(s, series->line[i].x),
                          y_of(s, series->line[i].y));
        (void)fputs("\"/>", to);
    }
    for (size_t i = 0; i < series->nline && series->ndots > 0; i++)
        (void)fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>", x_of(s, series->line[i].x),
                      y_of(s, series->line[i].y));
    (void)fputs("</g>", to);
}

void svg_plot(FILE *to, const struct svg_axes *axes, const struct svg_series *series, size_t count)
{
    struct scale s = scale_of(series, count);

    (void)fprintf(to, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    html_text(to, axes->title);
    (void)fputs("</title>", to);
    draw_axes(to, axes, &s);
    for (size_t i = 0; i < count; i++)
        draw_series(to, &series[i], i, &s);
    (void)fputs("</svg>\n", to);
}
