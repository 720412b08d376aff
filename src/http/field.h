/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_FIELD_H
#define MK_HTTP_FIELD_H

#include <monkey/types.h>

#include <stdbool.h>

/* Fields that are to be sent: RFC 9110 section 5. */

/** Is it a field name: a token of one character at least (RFC 9110 section 5.1)? */
bool mk_field_is_name(struct mk_str name);

/** May it stand in a field line as its value: no control byte but HTAB, so no line end (RFC 9110 section 5.5)? */
bool mk_field_is_value(struct mk_str value);

/**
 * The first line of a section of lines that end in CR LF.
 * @param rest   in: the lines; out: those behind the first
 * @param line   out: the line with its end
 * @param name   out: what stands before its colon
 * @param value  out: what stands behind it, without blanks at either end
 * @return false when there is none, or it is not a valid one: rest tells, being empty or not.
 */
bool mk_field_next_line(struct mk_str *rest, struct mk_str *line, struct mk_str *name,
                        struct mk_str *value);

/**
 * Take the lines of a name out of a section of valid lines, in place.
 * @param from  the first line
 * @return the new end.
 */
char *mk_field_drop(char *from, char *end, struct mk_str name);

#endif
