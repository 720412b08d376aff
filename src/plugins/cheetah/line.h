/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_LINE_H
#define CHEETAH_LINE_H

#include <monkey/types.h>

#include <stdbool.h>

/* A line that somebody wrote to the shell. */

enum {
    LINE_MAX_BYTES = 1024, /* without its end */
    LINE_MAX_WORDS = 4,    /* a command and what it takes; --json is not counted */
};

struct line {
    struct mk_str words[LINE_MAX_WORDS]; /* borrowed from the line */
    unsigned count;                      /* LINE_MAX_WORDS + 1: there were more */
    bool json;                           /* `--json` was among them, wherever */
};

/** Part a line without its end into words. Blanks are spaces, tabs and a carriage return. */
void cheetah_line_parse(struct line *line, struct mk_str text);

/** How many letters have to be put in, taken out or replaced to make one word of the other; at most 16 letters of each count. */
unsigned cheetah_line_distance(struct mk_str a, struct mk_str b);

#endif
