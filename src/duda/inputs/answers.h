/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUTS_ANSWERS_H
#define MK_DUDA_INPUTS_ANSWERS_H

#include "inputs/schema.h"

/* The table of the answers of a route, checked once, when the service is loaded. */

enum { MK_DUDA_ANSWERS = 32, MK_DUDA_ANSWER_TYPE = 128 /* bytes of a type */ };

struct mk_duda_answer {
    const struct duda_answer *said;  /* of the service */
    const struct mk_duda_rows *rows; /* of a JSON body; NULL: any, or none */
};

struct mk_duda_answers {
    unsigned count;
    struct mk_duda_answer row[];
};

/** Check a table. @return the answers, which borrow it; NULL: room->why */
const struct mk_duda_answers *mk_duda_answers_new(struct mk_duda_schema_room *room,
                                                  const struct duda_answer *said) MK_MUST_USE;

/**
 * Is this one of them? What the server makes of an answer for a condition or a range is one where 200 is.
 * @param type  the value of Content-Type; {NULL, 0}: there is none
 */
bool mk_duda_answers_have(const struct mk_duda_answers *answers, unsigned status,
                          struct mk_str type);

#endif
