/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_SCAN_INT_H
#define MK_CONF_SCAN_INT_H

#include <monkey/types.h>

#include <stdbool.h>

/* Text to lines, lines to their parts. Knows no sections and notes no faults. */

struct mk_scan {
    struct mk_str rest;
    unsigned line; /* number of the line last given */
};

/** Start on a text; a UTF-8 byte order mark is skipped. */
void mk_scan_init(struct mk_scan *s, struct mk_str text);

/** @param line  out: the next line without its LF or CRLF, borrowed. @return false at the end. */
bool mk_scan_line(struct mk_scan *s, struct mk_str *line);

/** @return the offset of the first byte that is no text (control bytes but HTAB), or line.len. */
size_t mk_scan_bad_byte(struct mk_str line);

/** A line that is neither blank nor a comment; all parts borrow from it. */
struct mk_conf_line {
    struct mk_str indent, key, value; /* value: without blanks at either end, may be empty */
};

/** @return false for a blank line and for a comment. */
bool mk_scan_parts(struct mk_str line, struct mk_conf_line *parts);

#endif
