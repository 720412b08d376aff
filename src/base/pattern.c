/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pattern.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/pattern_int.h"
#include "base/str.h"

/*
 * The automaton knows in each state where the program may be (subset construction). Only steps that wait for a byte or for
 * the end make a state; the others are followed at once.
 */

enum {
    NOTHING, /* states that have a row each, but no steps: nothing can match any more */
    MATCHED, /* something has matched, whatever follows */
    START,
    SLOTS =
        2 * MK_LIMIT_PATTERN_STATES, /* of the table by which states are found; a power of two */
    WORDS = MK_LIMIT_PATTERN_STEPS / 64
};

/* Steps, one bit each; nwords of them are in use. */
struct places {
    uint64_t words[WORDS];
};

struct maker {
    struct mk_pattern_program prog;
    unsigned nwords, ncolumns, nstates, room; /* room: for states */
    uint8_t columns[256], example[257];       /* of a byte; and a byte of each column */
    uint16_t slots[SLOTS];
    uint64_t *states;                /* nwords each: where the program may be */
    uint16_t *rows;                  /* ncolumns each: the number of the next state */
    struct places seen, next;        /* next: those of seen that wait */
    struct places again_seen, again; /* what a match that begins later adds at each byte */
    uint16_t stack[MK_LIMIT_PATTERN_STEPS];
    bool at_begin, at_end;
    bool has_matched;
    bool matches_all; /* the empty text, and so each */
};

static bool has(const struct places *places, unsigned i)
{
    return places->words[i / 64] >> i % 64 & 1;
}

static void add(struct places *places, unsigned i)
{
    places->words[i / 64] |= (uint64_t)1 << i % 64;
}

static void clear(struct maker *m)
{
    memset(&m->seen, 0, sizeof(m->seen));
    memset(&m->next, 0, sizeof(m->next));
    m->has_matched = false;
}

/* ---- columns: bytes that no set tells apart ---- */

static void make_columns(struct maker *m)
{
    memset(m->columns, 1, sizeof(m->columns));
    m->ncolumns = 2;
    for (unsigned i = 0; i < m->prog.nsets; i++) {
        uint16_t known[2 * 257] = {0};

        m->ncolumns = 1;
        for (unsigned c = 0; c < 256; c++) {
            bool is_in = mk_pattern_set_has(&m->prog.sets[i], mk_pattern_fold((unsigned char)c));
            uint16_t *column = &known[2 * m->columns[c] + is_in];

            if (*column == 0)
                *column = (uint16_t)m->ncolumns++;
            m->columns[c] = (uint8_t)*column;
        }
    }
    for (unsigned c = 0; c < 256; c++)
        m->example[m->columns[c]] = mk_pattern_fold((unsigned char)c);
}

/* ---- following steps ---- */

static void push(struct maker *m, unsigned *depth, unsigned step)
{
    if (has(&m->seen, step))
        return;
    add(&m->seen, step);
    m->stack[(*depth)++] = (uint16_t)step;
}

static void follow(struct maker *m, unsigned from)
{
    unsigned depth = 0;

    push(m, &depth, from);
    while (depth > 0) {
        unsigned at = m->stack[--depth];
        const struct mk_pattern_step *step = &m->prog.steps[at];
        unsigned to = at + (unsigned)step->to;

        if (step->op == MK_PATTERN_MATCH)
            m->has_matched = true;
        else if (step->op == MK_PATTERN_BYTE || (step->op == MK_PATTERN_END && !m->at_end))
            add(&m->next, at);
        else if (step->op == MK_PATTERN_JUMP)
            push(m, &depth, to);
        else if (step->op != MK_PATTERN_BEGIN || m->at_begin)
            push(m, &depth, at + 1);
        if (step->op == MK_PATTERN_SPLIT)
            push(m, &depth, to);
    }
}

/* ---- states ---- */

/* @return 0 or MK_E_NOMEM. */
static int grow(struct maker *m)
{
    unsigned room = m->room ? 2 * m->room : 32;
    uint64_t *states = mk_heap_resize(m->states, (size_t)room * m->nwords * sizeof(*states));
    uint16_t *rows;

    if (!states)
        return MK_E_NOMEM;
    m->states = states;
    rows = mk_heap_resize(m->rows, (size_t)room * m->ncolumns * sizeof(*rows));
    if (!rows)
        return MK_E_NOMEM;
    m->rows = rows;
    m->room = room;
    return 0;
}

/* @return the number of a state of m->next, MK_E_LIMIT or MK_E_NOMEM. */
static int add_state(struct maker *m)
{
    size_t size = m->nwords * sizeof(m->states[0]);

    if (m->nstates == MK_LIMIT_PATTERN_STATES ||
        (m->nstates + 1) * m->ncolumns > MK_LIMIT_PATTERN_CELLS)
        return MK_E_LIMIT;
    if (m->nstates == m->room && grow(m) < 0)
        return MK_E_NOMEM;
    memcpy(m->states + (size_t)m->nstates * m->nwords, m->next.words, size);
    return (int)m->nstates++;
}

/* Without this "/.{1,20}x" would have a state for each set of slashes among the last twenty bytes. */
static void leave_out_spare(struct maker *m)
{
    struct places all = m->next;

    for (unsigned i = 0; i < m->nwords; i++) {
        for (uint64_t bits = all.words[i]; bits; bits &= bits - 1) {
            unsigned at = 64 * i + (unsigned)__builtin_ctzll(bits), spare;

            while ((spare = m->prog.steps[at].spare) > 0) {
                at -= spare;
                if (has(&all, at))
                    m->next.words[i] &= ~(bits & -bits);
            }
        }
    }
}

static bool is_nothing(const struct maker *m)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < m->nwords; i++)
        any |= m->next.words[i];
    return any == 0;
}

/* The state of what was followed, a new one if need be. The first three are never found: START knows that nothing was read. */
static int find_state(struct maker *m)
{
    size_t size = m->nwords * sizeof(m->states[0]);
    unsigned slot;
    int state;

    if (m->has_matched)
        return MATCHED;
    leave_out_spare(m);
    if (is_nothing(m))
        return NOTHING;
    slot = mk_str_hash((struct mk_str){(const char *)m->next.words, size}, 0) % SLOTS;
    for (; m->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        state = m->slots[slot];
        if (memcmp(m->states + (size_t)state * m->nwords, m->next.words, size) == 0)
            return state;
    }
    state = add_state(m);
    if (state > 0)
        m->slots[slot] = (uint16_t)state;
    return state;
}

/* Whatever waits at this state sees a byte of the column, or the end. @return the next state or an error. */
static int take_column(struct maker *m, unsigned state, unsigned column)
{
    m->at_begin = state == START && column == 0;
    m->at_end = column == 0;
    clear(m);
    if (column > 0) {
        m->seen = m->again_seen;
        m->next = m->again;
    }
    for (unsigned i = 0; i < m->nwords; i++) {
        uint64_t bits = m->states[(size_t)state * m->nwords + i];

        for (; bits; bits &= bits - 1) {
            unsigned at = 64 * i + (unsigned)__builtin_ctzll(bits);
            const struct mk_pattern_step *step = &m->prog.steps[at];

            if (step->op == MK_PATTERN_END && column == 0)
                follow(m, at);
            else if (step->op == MK_PATTERN_BYTE && column > 0 &&
                     mk_pattern_set_has(&m->prog.sets[step->to], m->example[column]))
                follow(m, at + 1);
        }
    }
    if (column == 0)
        return m->has_matched ? MATCHED : NOTHING;
    return find_state(m);
}

/* NOTHING, MATCHED and START. */
static int make_first_states(struct maker *m)
{
    clear(m);
    for (int state = NOTHING; state <= MATCHED; state++)
        if (add_state(m) < 0)
            return MK_E_NOMEM;
    for (unsigned column = 0; column < m->ncolumns; column++) {
        m->rows[column] = NOTHING;
        m->rows[m->ncolumns + column] = MATCHED;
    }
    follow(m, 0);
    m->again_seen = m->seen;
    m->again = m->next;
    clear(m);
    m->at_begin = true;
    follow(m, 0);
    m->matches_all = m->has_matched;
    return m->matches_all || add_state(m) > 0 ? 0 : MK_E_NOMEM;
}

static int make_states(struct maker *m)
{
    int err = make_first_states(m);

    for (unsigned state = START; err == 0 && state < m->nstates; state++) {
        for (unsigned column = 0; column < m->ncolumns; column++) {
            int next = take_column(m, state, column);

            if (next < 0)
                return next;
            m->rows[state * m->ncolumns + column] = (uint16_t)next;
        }
    }
    return err;
}

static int finish(struct mk_pattern *p, const struct maker *m, struct mk_arena *arena)
{
    unsigned n = m->nstates * m->ncolumns;
    uint16_t *rows = mk_arena_alloc(arena, n * sizeof(*rows));

    if (!rows)
        return MK_E_NOMEM;
    for (unsigned i = 0; i < n; i++)
        rows[i] = (uint16_t)(m->rows[i] * m->ncolumns);
    p->rows = rows;
    p->matched = (uint16_t)(MATCHED * m->ncolumns);
    p->start = (uint16_t)((m->matches_all ? MATCHED : START) * m->ncolumns);
    memcpy(p->columns, m->columns, sizeof(p->columns));
    return 0;
}

static int make(struct mk_pattern *p, struct maker *m, struct mk_arena *arena)
{
    int err;

    m->nwords = m->prog.nsteps / 64 + 1;
    m->nstates = m->room = 0;
    m->at_begin = m->at_end = false;
    m->states = NULL;
    m->rows = NULL;
    memset(m->slots, 0, sizeof(m->slots));
    make_columns(m);
    err = make_states(m);
    if (err == 0)
        err = finish(p, m, arena);
    mk_heap_free(m->states);
    mk_heap_free(m->rows);
    return err;
}

MK_AT_START int mk_pattern_init(struct mk_pattern *p, struct mk_str pattern, struct mk_arena *arena,
                                const char **why, size_t *where)
{
    struct maker *m = mk_heap_alloc(sizeof(*m));
    int err = MK_E_INVALID;

    if (!m)
        return MK_E_NOMEM;
    mk_pattern_parse(&m->prog, pattern);
    *why = m->prog.why;
    *where = m->prog.where;
    if (!*why)
        err = make(p, m, arena);
    if (err == MK_E_LIMIT) {
        *why = "it needs too many states";
        err = MK_E_INVALID;
    }
    mk_heap_free(m);
    return err;
}

unsigned mk_pattern_pass(const struct mk_pattern *p, unsigned state, struct mk_str bytes)
{
    const char *end = bytes.p + bytes.len;

    for (const char *at = bytes.p; at < end && state > p->matched; at++)
        state = p->rows[state + p->columns[(unsigned char)*at]];
    return state;
}
