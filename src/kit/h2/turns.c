/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/turns.h"

#include "kit/text/words.h"

/* ---- the field ---- */

static bool read_urgency(struct h2_priority *p, struct mk_str value)
{
    if (value.len != 1 || value.p[0] < '0' || value.p[0] >= '0' + H2_URGENCIES)
        return false;
    p->urgency = (uint8_t)(value.p[0] - '0');
    return true;
}

static bool read_incremental(struct h2_priority *p, struct mk_str value, bool has_value)
{
    p->is_incremental = !has_value || text_is(value, MK_STR("?1"));
    return p->is_incremental || text_is(value, MK_STR("?0"));
}

/* A member of the dictionary, without its parameters (RFC 8941 section 3.2). */
static bool read_member(struct h2_priority *p, struct mk_str member)
{
    struct mk_str value = text_trim(text_cut(&member, ';'));
    const size_t whole = value.len;
    const struct mk_str key = text_cut(&value, '=');
    const bool has_value = key.len < whole;

    if (text_is(key, MK_STR("u")))
        return read_urgency(p, value);
    return !text_is(key, MK_STR("i")) || read_incremental(p, value, has_value);
}

void h2_priority_read(struct h2_priority *p, struct mk_str value)
{
    struct h2_priority read = *p;

    while (value.len > 0) {
        if (!read_member(&read, text_cut(&value, ',')))
            return;
    }
    *p = read;
}

/* ---- the order ---- */

/* Behind whom? NULL: it is the first. */
static struct h2_turn *place(const struct h2_turns *t, const struct h2_turn *turn)
{
    struct h2_turn *at = t->last[turn->priority.urgency];

    if (turn->priority.is_incremental)
        return at;
    while (at && (at->priority.is_incremental || at->id > turn->id))
        at = at->prev;
    return at;
}

void h2_turns_add(struct h2_turns *t, struct h2_turn *turn)
{
    const uint8_t urgency = turn->priority.urgency;

    if (turn->is_waiting)
        return;
    turn->is_waiting = true;
    t->waiting |= (uint8_t)(1U << urgency);
    turn->prev = place(t, turn);
    turn->next = turn->prev ? turn->prev->next : t->first[urgency];
    if (turn->prev)
        turn->prev->next = turn;
    else
        t->first[urgency] = turn;
    if (turn->next)
        turn->next->prev = turn;
    else
        t->last[urgency] = turn;
}

void h2_turns_remove(struct h2_turns *t, struct h2_turn *turn)
{
    const uint8_t urgency = turn->priority.urgency;

    if (!turn->is_waiting)
        return;
    turn->is_waiting = false;
    if (turn->prev)
        turn->prev->next = turn->next;
    else
        t->first[urgency] = turn->next;
    if (turn->next)
        turn->next->prev = turn->prev;
    else
        t->last[urgency] = turn->prev;
    if (!t->first[urgency])
        t->waiting &= (uint8_t) ~(1U << urgency);
}

struct h2_turn *h2_turns_next(const struct h2_turns *t)
{
    return t->waiting ? t->first[__builtin_ctz(t->waiting)] : NULL;
}

bool h2_turns_are_shared(const struct h2_turns *t)
{
    const struct h2_turn *one = h2_turns_next(t);

    return one && (one->next || t->waiting & (t->waiting - 1));
}

void h2_turns_pass(struct h2_turns *t, struct h2_turn *turn)
{
    if (!turn->is_waiting || !turn->priority.is_incremental || !turn->next)
        return;
    h2_turns_remove(t, turn);
    h2_turns_add(t, turn);
}
