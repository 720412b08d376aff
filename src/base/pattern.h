/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_PATTERN_H
#define MK_BASE_PATTERN_H

#include "base/arena.h"

#include <stdbool.h>

/*
 * Patterns of paths: POSIX extended regular expressions (IEEE Std 1003.1, section 9.4), unanchored, in any case of ASCII
 * letters. Each becomes an automaton when it is read, so that a text is passed once, from left to right, whatever the
 * pattern and whatever the text: a step for each byte.
 *
 * Where POSIX leaves a pattern undefined, the C library of GNU decides: `\w \W \s \S`, `{,n}`, a `)` that closes nothing.
 * Refused are back-references, which no automaton has; other backslashes before letters; word boundaries; collating elements
 * (`[.x.]`, `[=x=]`); and what would need more than MK_LIMIT_PATTERN_... Bytes above ASCII are bytes: `.` is one of them.
 */

/** Never changes again, so that all threads share it. Its memory: 2 bytes for each state and column, 128 KB at most. */
struct mk_pattern {
    const uint16_t
        *rows; /* of the states, one behind the other; a state is the offset of its row */
    uint16_t start,
        matched;          /* states; below `matched` is only the one from which nothing matches */
    uint8_t columns[256]; /* by byte; column 0 is the end of the text */
};

/**
 * @param arena  for the table, of which nothing refers to the pattern's text
 * @param why    out, for MK_E_INVALID: what is wrong, a sentence without full stop; static
 * @param where  out, for MK_E_INVALID: the offset of it in the pattern
 * @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
int mk_pattern_init(struct mk_pattern *p, struct mk_str pattern, struct mk_arena *arena,
                    const char **why, size_t *where) MK_MUST_USE;

/** Go on over the next bytes of a text. @param state  p->start at its beginning. @return the state behind them. */
unsigned mk_pattern_pass(const struct mk_pattern *p, unsigned state, struct mk_str bytes);

/** Does the text match that ends where this state was reached? */
static inline bool mk_pattern_is_match(const struct mk_pattern *p, unsigned state)
{
    return p->rows[state] == p->matched;
}

static inline bool mk_pattern_matches(const struct mk_pattern *p, struct mk_str text)
{
    return mk_pattern_is_match(p, mk_pattern_pass(p, p->start, text));
}

#endif
