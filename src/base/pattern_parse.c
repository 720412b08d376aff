/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/pattern_int.h"
#include "base/str.h"

struct reader {
    struct mk_pattern_program *prog;
    const char *begin, *p, *end;
};

static void alternatives(struct reader *r, unsigned depth);

/* Only the first counts; nothing is read after it. */
static void refuse(struct reader *r, const char *where, const char *why)
{
    if (!r->prog->why) {
        r->prog->why = why;
        r->prog->where = (size_t)(where - r->begin);
    }
    r->p = r->end;
}

static bool is_next(const struct reader *r, char c)
{
    return r->p < r->end && *r->p == c;
}

/* ---- steps ---- */

static const char too_large[] = "it is too large";

static void emit(struct reader *r, enum mk_pattern_op op, int to)
{
    struct mk_pattern_program *prog = r->prog;

    if (prog->nsteps == MK_LIMIT_PATTERN_STEPS)
        refuse(r, r->p, too_large);
    else
        prog->steps[prog->nsteps++] = (struct mk_pattern_step){(uint8_t)op, (int16_t)to, 0};
}

/* A SPLIT before the steps from `at` on. */
static void emit_before(struct reader *r, unsigned at, int to)
{
    struct mk_pattern_program *prog = r->prog;

    emit(r, MK_PATTERN_SPLIT, to);
    if (prog->why)
        return;
    memmove(prog->steps + at + 1, prog->steps + at,
            (prog->nsteps - at - 1) * sizeof(prog->steps[0]));
    prog->steps[at] = (struct mk_pattern_step){MK_PATTERN_SPLIT, (int16_t)to, 0};
}

static void emit_copy(struct reader *r, unsigned from, unsigned len)
{
    struct mk_pattern_program *prog = r->prog;

    if (len > MK_LIMIT_PATTERN_STEPS - prog->nsteps) {
        refuse(r, r->p, too_large);
        return;
    }
    memcpy(prog->steps + prog->nsteps, prog->steps + from, len * sizeof(prog->steps[0]));
    prog->nsteps += len;
}

static void emit_set(struct reader *r, const struct mk_pattern_set *set)
{
    struct mk_pattern_program *prog = r->prog;
    unsigned i = 0;

    while (i < prog->nsets && memcmp(&prog->sets[i], set, sizeof(*set)) != 0)
        i++;
    if (i == MK_LIMIT_PATTERN_SETS) {
        refuse(r, r->p, too_large);
        return;
    }
    if (i == prog->nsets)
        prog->sets[prog->nsets++] = *set;
    emit(r, MK_PATTERN_BYTE, (int)i);
}

/* ---- sets ---- */

static void add_range(struct mk_pattern_set *set, unsigned char from, unsigned char to)
{
    for (unsigned c = from; c <= to; c++)
        set->bits[c / 32] |= 1U << c % 32;
}

static void invert(struct mk_pattern_set *set)
{
    for (int i = 0; i < 8; i++)
        set->bits[i] = ~set->bits[i];
}

static void add_ranges(struct mk_pattern_set *set, const char *pairs)
{
    for (; *pairs; pairs += 2)
        add_range(set, (unsigned char)pairs[0], (unsigned char)pairs[1]);
}

static void emit_byte(struct reader *r, char c)
{
    struct mk_pattern_set set = {{0}};
    unsigned char folded = mk_pattern_fold((unsigned char)c);

    add_range(&set, folded, folded);
    emit_set(r, &set);
}

static void emit_ranges(struct reader *r, const char *pairs, bool inverted)
{
    struct mk_pattern_set set = {{0}};

    add_ranges(&set, pairs);
    if (inverted)
        invert(&set);
    emit_set(r, &set);
}

/* ---- [...] ---- */

/* Behind "[:". Without case, "upper" and "lower" are the same. */
static void class_in_brackets(struct reader *r, struct mk_pattern_set *set)
{
    static const struct {
        char name[7], pairs[9];
    } classes[] = {
        {"alnum", "09AZ"},     {"alpha", "AZ"},     {"blank", "\t\t  "}, {"cntrl", "\1\37\177\177"},
        {"digit", "09"},       {"graph", "!~"},     {"lower", "AZ"},     {"print", " ~"},
        {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"},     {"xdigit", "09AF"},
    };
    const char *name = r->p;
    size_t len = 0;

    while (name + len + 1 < r->end && !(name[len] == ':' && name[len + 1] == ']'))
        len++;
    for (size_t i = 0; name + len + 1 < r->end && i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (mk_str_eq(mk_str_from(classes[i].name), (struct mk_str){name, len})) {
            add_ranges(set, classes[i].pairs);
            r->p += len + 2;
            return;
        }
    }
    refuse(r, name - 2, "there is no class of this name");
}

/* A byte, or the end of a range. */
static unsigned char byte_in_brackets(struct reader *r)
{
    if (*r->p == '[' && r->p + 1 < r->end && strchr(".=:", r->p[1]))
        refuse(r, r->p, "this [ is not supported here");
    return r->p < r->end ? mk_pattern_fold((unsigned char)*r->p++) : 0;
}

/* Is there a '-' that does not end the list? */
static bool is_range_next(const struct reader *r)
{
    return r->end - r->p > 1 && r->p[0] == '-' && r->p[1] != ']';
}

static void range_in_brackets(struct reader *r, struct mk_pattern_set *set, bool is_first)
{
    const char *at = r->p;
    unsigned char from, to;

    if (!is_first && is_range_next(r)) {
        refuse(r, at, "a - here can only be the last of the list");
        return;
    }
    from = to = byte_in_brackets(r);
    if (is_range_next(r)) {
        r->p++;
        to = byte_in_brackets(r);
    }
    if (from > to)
        refuse(r, at, "the range ends before it begins (letters count as capitals)");
    else
        add_range(set, from, to);
}

static void brackets(struct reader *r)
{
    struct mk_pattern_set set = {{0}};
    const char *at = r->p++;
    bool inverted = is_next(r, '^'), is_first = true;

    r->p += inverted;
    for (; is_first || !is_next(r, ']'); is_first = false) {
        if (r->p == r->end) {
            refuse(r, at, "this [ is not closed");
            return;
        }
        if (is_next(r, '[') && r->p + 1 < r->end && r->p[1] == ':') {
            r->p += 2;
            class_in_brackets(r, &set);
        } else {
            range_in_brackets(r, &set, is_first);
        }
    }
    r->p++;
    if (inverted)
        invert(&set);
    emit_set(r, &set);
}

/* ---- one thing, and how often ---- */

static void escaped(struct reader *r)
{
    const char *at = r->p++;
    char c = r->p < r->end ? *r->p++ : '\0';

    if (c == 'w' || c == 'W')
        emit_ranges(r, "09AZ__", c == 'W');
    else if (c == 's' || c == 'S')
        emit_ranges(r, "\t\r  ", c == 'S');
    else if (c == '\0')
        refuse(r, at, "there is nothing after the backslash");
    else if (c >= '1' && c <= '9')
        refuse(r, at, "back-references are not supported");
    else if (strchr("<>`'0", c) || (mk_char_lower(c) >= 'a' && mk_char_lower(c) <= 'z'))
        refuse(r, at, "this backslash has no meaning here (digits are [0-9])");
    else
        emit_byte(r, c);
}

/* @return the number; -1: there is none. */
static int number(struct reader *r)
{
    int n = -1;

    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
        n = (n < 0 ? 0 : n) * 10 + *r->p - '0';
        if (n > MK_LIMIT_PATTERN_STEPS)
            n = MK_LIMIT_PATTERN_STEPS + 1;
    }
    return n;
}

enum { FOR_EVER = -1 };

/* The steps from start on min times, then up to max times as many as there are. */
static void repeat(struct reader *r, unsigned start, int min, int max)
{
    unsigned len = r->prog->nsteps - start, end;
    int copies = max > min ? max : min;

    if (max == 0)
        r->prog->nsteps = start;
    if (len == 0 || max == 0)
        return;
    if (max == FOR_EVER && min == 0) {
        emit_before(r, start, (int)len + 2);
        emit(r, MK_PATTERN_JUMP, -(int)len - 1);
        return;
    }
    end = start + (unsigned)copies * len + (max > min ? (unsigned)(max - min) : 0);
    if (min == 0)
        emit_before(r, start, (int)(end - start));
    for (int i = 1; i < copies && !r->prog->why; i++) {
        if (i >= min)
            emit(r, MK_PATTERN_SPLIT, (int)(end - r->prog->nsteps));
        emit_copy(r, start + (min == 0), len);
        for (unsigned k = 1; i >= min && k <= len && !r->prog->why; k++) {
            struct mk_pattern_step *step = &r->prog->steps[r->prog->nsteps - k];

            if (step->spare == 0)
                step->spare = (uint16_t)(len + 1);
        }
    }
    if (max == FOR_EVER)
        emit(r, MK_PATTERN_SPLIT, -(int)len);
}

/* "{m}", "{m,}", "{m,n}", "{,n}" */
static void repeat_by_number(struct reader *r, unsigned start)
{
    const char *at = r->p++;
    int min = number(r), max = min;

    if (is_next(r, ',')) {
        r->p++;
        max = number(r);
        if (min < 0)
            min = 0;
    }
    if (!is_next(r, '}') || min < 0)
        refuse(r, at, "this { is not of the form {m}, {m,} or {m,n}");
    else if (max != FOR_EVER && min > max)
        refuse(r, at, "the first number is above the second");
    else
        repeat(r, start, min, max);
}

static void one(struct reader *r, unsigned depth)
{
    const char *at = r->p;

    switch (*at) {
    case '*':
    case '+':
    case '?':
    case '{':
        refuse(r, at, "there is nothing to repeat");
        break;
    case '(':
        r->p++;
        alternatives(r, depth + 1);
        if (!is_next(r, ')'))
            refuse(r, at, "this ( is not closed");
        else
            r->p++;
        break;
    case '[':
        brackets(r);
        break;
    case '\\':
        escaped(r);
        break;
    case '.':
        r->p++;
        emit_ranges(r, "", true);
        break;
    default:
        emit_byte(r, *r->p++);
    }
}

static void repetitions(struct reader *r, unsigned start)
{
    for (; r->p < r->end; r->p += r->p < r->end) {
        if (*r->p == '*')
            repeat(r, start, 0, FOR_EVER);
        else if (*r->p == '+')
            repeat(r, start, 1, FOR_EVER);
        else if (*r->p == '?')
            repeat(r, start, 0, 1);
        else if (*r->p == '{')
            repeat_by_number(r, start);
        else
            return;
    }
}

/* ---- the whole ---- */

static void branch(struct reader *r, unsigned depth)
{
    while (r->p < r->end && *r->p != '|' && (*r->p != ')' || depth == 0)) {
        unsigned start = r->prog->nsteps;

        if (*r->p == '^' || *r->p == '$') {
            emit(r, *r->p == '^' ? MK_PATTERN_BEGIN : MK_PATTERN_END, 0);
            r->p += r->p < r->end;
        } else {
            one(r, depth);
            repetitions(r, start);
        }
    }
}

MK_AT_START static void alternatives(struct reader *r, unsigned depth)
{
    enum { NONE = -1 };
    struct mk_pattern_program *prog = r->prog;
    int jump = NONE; /* the last of those to the end; each holds the one before */

    if (depth > MK_LIMIT_PATTERN_DEPTH)
        refuse(r, r->p, "there are too many parentheses in parentheses");
    for (;;) {
        unsigned start = prog->nsteps;

        branch(r, depth);
        if (!is_next(r, '|'))
            break;
        r->p++;
        emit_before(r, start, (int)(prog->nsteps - start) + 2);
        emit(r, MK_PATTERN_JUMP, jump);
        jump = (int)prog->nsteps - 1;
    }
    while (jump != NONE && !prog->why) {
        int before = prog->steps[jump].to;

        prog->steps[jump].to = (int16_t)((int)prog->nsteps - jump);
        jump = before;
    }
}

MK_AT_START void mk_pattern_parse(struct mk_pattern_program *prog, struct mk_str pattern)
{
    struct reader r = {prog, pattern.p, pattern.p, pattern.p + pattern.len};

    prog->nsteps = prog->nsets = 0;
    prog->why = NULL;
    prog->where = 0;
    alternatives(&r, 0);
    emit(&r, MK_PATTERN_MATCH, 0);
}
