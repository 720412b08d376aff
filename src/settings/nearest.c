/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/nearest_int.h"

#include "base/str.h"
#include "settings/field.h"

enum { NAME_MAX_LEN = 48 }; /* nobody misspells longer names by accident */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
static size_t distance(struct mk_str a, struct mk_str b)
{
    unsigned char rows[3][NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= a.len; i++) {
        const unsigned char *two_up = rows[(i + 1) % 3], *up = rows[(i - 1) % 3];
        unsigned char *row = rows[i % 3];

        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = mk_char_lower(a.p[i - 1]), y = mk_char_lower(b.p[j - 1]);
            size_t best = min3(up[j] + 1U, row[j - 1] + 1U, up[j - 1] + (x != y));

            if (i > 1 && j > 1 && x == mk_char_lower(b.p[j - 2]) &&
                y == mk_char_lower(a.p[i - 2]) && two_up[j - 2] + 1U < best)
                best = two_up[j - 2] + 1U;
            row[j] = (unsigned char)best;
        }
    }
    return rows[a.len % 3][b.len];
}

void mk_nearest_offer(struct mk_nearest *n, struct mk_str wrong, const char *name)
{
    struct mk_str candidate = mk_str_from(name);
    size_t d, longer = wrong.len > candidate.len ? wrong.len : candidate.len;

    if (candidate.len == 0 || longer > NAME_MAX_LEN)
        return;
    d = distance(wrong, candidate);
    if (d > longer / 3 || (n->name && d >= n->distance))
        return;
    *n = (struct mk_nearest){name, d};
}

const char *mk_nearest_name(struct mk_str wrong, const char *const *names)
{
    struct mk_nearest n = {0};

    for (; *names; names++)
        mk_nearest_offer(&n, wrong, *names);
    return n.name;
}
