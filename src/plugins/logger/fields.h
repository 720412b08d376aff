/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_FIELDS_H
#define LOGGER_FIELDS_H

#include "format.h"

/* The fields of a line: %h, %{ms}T and the others. */

struct logger_field {
    char letter;
    const char *parameter; /* NULL: none */
    logger_piece_fn put;
    bool is_late; /* as in struct logger_piece */
};

/** @param parameter  of %{PARAMETER}; p NULL: there is none. @return NULL: there is no such field. */
const struct logger_field *logger_field_find(char letter, struct mk_str parameter);

/** %{NAME}i, %{NAME}n and $NAME: each a logger_piece_fn of the piece's index. */
void logger_field_header(struct logger_text *t, const struct logger_entry *e,
                         const struct logger_piece *piece);
void logger_field_note(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece);
void logger_field_variable(struct logger_text *t, const struct logger_entry *e,
                           const struct logger_piece *piece);

#endif
