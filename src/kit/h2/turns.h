/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_TURNS_H
#define KIT_H2_TURNS_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Whose body leaves next (RFC 9218): the most urgent; among them those that are not incremental one after the other, in the
 * order in which they were asked for, then the incremental ones in turns.
 */

enum { H2_URGENCIES = 8, H2_URGENCY = 3 /* unless a client says otherwise */ };

struct h2_priority {
    uint8_t urgency; /* 0: the highest */
    bool is_incremental;
};

/** A stream's place. */
struct h2_turn {
    struct h2_turn *next, *prev;
    uint32_t id; /* of its stream */
    struct h2_priority priority;
    bool is_waiting; /* in turns */
};

struct h2_turns {
    struct h2_turn *first[H2_URGENCIES], *last[H2_URGENCIES];
    uint8_t waiting; /* a bit for each urgency that has some */
};

/** Read a Priority field's value; what it does not name stays. What is no dictionary changes nothing (RFC 9218 section 4). */
void h2_priority_read(struct h2_priority *p, struct mk_str value);

/** Unless it is there already. */
void h2_turns_add(struct h2_turns *t, struct h2_turn *turn);
/** If it is there. */
void h2_turns_remove(struct h2_turns *t, struct h2_turn *turn);
/** @return whose turn it is; NULL: nobody's. */
struct h2_turn *h2_turns_next(const struct h2_turns *t);
/** Is there more than one to choose from? */
bool h2_turns_are_shared(const struct h2_turns *t);
/** It has sent a frame. */
void h2_turns_pass(struct h2_turns *t, struct h2_turn *turn);

#endif
