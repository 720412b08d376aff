/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_CHARACTER_H
#define KIT_JSON_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_CHARACTER_ROOM = 4, JSON_CHARACTER_MAX = 12 /* bytes of one as written: two \uXXXX */ };

/**
 * One character of a string, with its escape if it has one: RFC 8259 section 7, in UTF-8 (section 8.1).
 * @param p   len bytes, one at least, none of them a quote
 * @param to  room for JSON_CHARACTER_ROOM; out: behind the character
 * @return bytes of it at p; 0: it may not be in a string; -1: it may become a character with more bytes
 */
int json_take_character(const char *p, size_t len, char **to);

/** Is it well-formed UTF-8? */
bool json_is_text(const char *text);

#endif
