/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_MATCHER_H
#define MK_SERVER_MATCHER_H

#include "base/arena.h"

#include <regex.h>
#include <stdbool.h>

/*
 * `Match` patterns: POSIX extended regular expressions, unanchored, case-insensitive. A pattern that is
 * only a literal, perhaps anchored, never meets the regex engine.
 */
enum mk_matcher_kind {
    MK_MATCH_CONTAINS,
    MK_MATCH_PREFIX,
    MK_MATCH_SUFFIX,
    MK_MATCH_EXACT,
    MK_MATCH_REGEX
};

struct mk_matcher {
    enum mk_matcher_kind kind;
    struct mk_str literal; /* lower case; all kinds but REGEX */
    const char *pattern;   /* terminated; REGEX */
};

/**
 * @param why  out: what is wrong with the pattern, in the arena
 * @return 0, MK_E_INVALID, or MK_E_NOMEM. Back-references are refused: their cost has no bound.
 */
int mk_matcher_init(struct mk_matcher *m, struct mk_str pattern, struct mk_arena *arena,
                    const char **why) MK_MUST_USE;

/** Compile for one thread's use; only for MK_MATCH_REGEX. @return 0 or MK_E_NOMEM. regfree() it. */
int mk_matcher_compile(const struct mk_matcher *m, regex_t *regex) MK_MUST_USE;

/** @param path   terminated; @param regex  this thread's own, for MK_MATCH_REGEX */
bool mk_matcher_matches(const struct mk_matcher *m, const regex_t *regex, struct mk_str path);

#endif
