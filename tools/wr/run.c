/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 4096 };

#define FIGURE_TEXTS(name, text, better, meaning) text "\0" meaning "\0"
#define FIGURE_BETTER(name, text, better, meaning) WR_##better,
#define FLAG_TEXTS(name, text, sentence) text "\0" sentence "\0"

static const char figures[] = WR_FIGURES(FIGURE_TEXTS);
static const unsigned char betters[] = {WR_FIGURES(FIGURE_BETTER)};
static const char flags[] = WR_FLAGS(FLAG_TEXTS);

const char *wr_text(const char *list, int number)
{
    while (number-- > 0)
        list += strlen(list) + 1;
    return list;
}

const char *wr_figure_name(int figure)
{
    return wr_text(figures, 2 * figure);
}

const char *wr_figure_meaning(int figure)
{
    return wr_text(figures, 2 * figure + 1);
}

enum wr_better wr_figure_better(int figure)
{
    return (enum wr_better)betters[figure];
}

const char *wr_flag_name(int flag)
{
    return wr_text(flags, 2 * flag);
}

const char *wr_flag_sentence(int flag)
{
    return wr_text(flags, 2 * flag + 1);
}

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
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].samples);
        free(all->items[i].calls);
    }
    free(all->items);
    *all = (struct runs){0};
}
