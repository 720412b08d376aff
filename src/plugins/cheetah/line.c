/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include "kit/text/words.h"

enum { LETTERS = 16 };

static bool ends_word(char c)
{
    return text_is_blank(c) || c == '\r';
}

static void add_word(struct line *line, struct mk_str word)
{
    if (text_is(word, MK_STR("--json")))
        line->json = true;
    else if (line->count < LINE_MAX_WORDS)
        line->words[line->count++] = word;
    else
        line->count = LINE_MAX_WORDS + 1;
}

void cheetah_line_parse(struct line *line, struct mk_str text)
{
    size_t at = 0;

    *line = (struct line){0};
    while (at < text.len) {
        size_t began = at;

        while (at < text.len && !ends_word(text.p[at]))
            at++;
        if (at > began)
            add_word(line, (struct mk_str){text.p + began, at - began});
        else
            at++;
    }
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance, a row of his table at a time. */
unsigned cheetah_line_distance(struct mk_str a, struct mk_str b)
{
    unsigned row[LETTERS + 1];

    if (a.len > LETTERS)
        a.len = LETTERS;
    if (b.len > LETTERS)
        b.len = LETTERS;
    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 0; i < a.len; i++) {
        unsigned diagonal = row[0];

        row[0] = i + 1;
        for (unsigned j = 0; j < b.len; j++) {
            unsigned above = row[j + 1];

            row[j + 1] = least(above + 1, row[j] + 1, diagonal + (a.p[i] != b.p[j]));
            diagonal = above;
        }
    }
    return row[b.len];
}
