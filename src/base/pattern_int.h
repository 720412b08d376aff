/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_PATTERN_INT_H
#define MK_BASE_PATTERN_INT_H

#include "base/limits.h"

#include <monkey/types.h>

#include <stdbool.h>

/*
 * A pattern as a program for a machine that tries all ways at once (Thompson 1968). Jumps are relative, so that a part of
 * it can be copied and moved: that is how {m,n} is made.
 */

enum mk_pattern_op {
    MK_PATTERN_BYTE,  /* one byte of a set, then the next step */
    MK_PATTERN_SPLIT, /* both the next step and the one at `to` */
    MK_PATTERN_JUMP,
    MK_PATTERN_BEGIN, /* the next step at the beginning of the text */
    MK_PATTERN_END,   /* likewise at its end */
    MK_PATTERN_MATCH
};

struct mk_pattern_step {
    uint8_t op;
    int16_t to; /* SPLIT, JUMP: relative to this step; BYTE: index of the set */
    uint16_t
        spare; /* whatever matches from here does so from the step that is so far before, too; 0: there is none */
};

/** Bytes, with letters in upper case only. */
struct mk_pattern_set {
    uint32_t bits[8];
};

struct mk_pattern_program {
    unsigned nsteps, nsets;
    const char *why; /* what is wrong, static; NULL: nothing so far */
    size_t where;
    struct mk_pattern_step steps[MK_LIMIT_PATTERN_STEPS];
    struct mk_pattern_set sets[MK_LIMIT_PATTERN_SETS]; /* all different */
};

static inline unsigned char mk_pattern_fold(unsigned char c)
{
    return (unsigned char)(c - 'a') < 26 ? (unsigned char)(c - 0x20) : c;
}

static inline bool mk_pattern_set_has(const struct mk_pattern_set *set, unsigned char c)
{
    return set->bits[c / 32] >> c % 32 & 1;
}

/** @param prog  uninitialised; prog->why tells whether it can be used */
void mk_pattern_parse(struct mk_pattern_program *prog, struct mk_str pattern);

#endif
