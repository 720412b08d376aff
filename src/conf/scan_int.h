/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_SCAN_INT_H
#define MK_CONF_SCAN_INT_H

#include "base/arena.h"

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

/** @return the offset of a `#` that begins a word and is not within quotes, or value.len. */
size_t mk_scan_comment(struct mk_str value);

/** @return the value with `#` for `\#` at the beginning of words: itself, or a copy in the arena; p NULL: no memory. */
struct mk_str mk_scan_unescape(struct mk_str value, struct mk_arena *arena);

/**
 * The server for which a file was written whose lines make no sense here: its first line is no section head, and there
 * are lines in angle brackets, or that end in a semicolon or a brace.
 * @return the end of a sentence, static; NULL: it may be ours.
 */
const char *mk_scan_foreign(struct mk_str text);

#endif
