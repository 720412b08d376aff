/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 4096 };

#define FIGURE_ROW(name, text, better, meaning) [WR_F_##name] = {text, WR_##better, meaning},
const struct wr_figure_row wr_figures[] = {WR_FIGURES(FIGURE_ROW)};

#define FLAG_ROW(name, text, sentence) [WR_FLAG_##name] = {text, sentence},
const struct wr_flag_row wr_flags[] = {WR_FLAGS(FLAG_ROW)};

void run_init(struct run *r)
{
    *r = (struct run){0};
    for (int i = 0; i < WR_FIGURE_COUNT; i++)
        r->figures[i] = NAN;
}

static void thin(struct run *r)
{
    for (size_t i = 0; 2 * i + 1 < r->nsamples; i++)
        r->samples[i] = r->samples[2 * i + 1];
    r->nsamples /= 2;
}

void run_sample(struct run *r, const struct sample *s)
{
    if (r->nsamples == r->room && r->room < SAMPLES_MAX) {
        size_t room = r->room ? 2 * r->room : 64;
        struct sample *samples = realloc(r->samples, room * sizeof(*samples));

        if (samples) {
            r->samples = samples;
            r->room = room;
        }
    }
    if (r->nsamples == r->room)
        thin(r);
    if (r->nsamples < r->room)
        r->samples[r->nsamples++] = *s;
}

struct run *runs_add(struct runs *all, const struct run *taken)
{
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        struct run *items = realloc(all->items, room * sizeof(*items));

        if (!items)
            return NULL;
        all->items = items;
        all->room = room;
    }
    all->items[all->count] = *taken;
    return &all->items[all->count++];
}

void runs_fini(struct runs *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].samples);
    free(all->items);
    *all = (struct runs){0};
}
