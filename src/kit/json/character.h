/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_CHARACTER_H
#define KIT_JSON_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    JSON_CHARACTER_ROOM = 4,
    JSON_CHARACTER_MAX = 12, /* bytes of one as written: two \uXXXX */
    JSON_CHARACTER_SHORT = 3,
};

/**
 * One character of a string, with its escape if it has one: RFC 8259 section 7, in UTF-8 (section 8.1).
 * @param p   len bytes, one at least, none of them a quote
 * @param to  room for JSON_CHARACTER_ROOM; out: behind the character
 * @return bytes of it at p; 0: it may not be in a string; -1: it may become a character with more bytes
 */
int json_take_character(const char *p, size_t len, char **to);

/**
 * The same for most that do not stand for themselves: escapes with one letter, and characters of two or three bytes.
 * @param p   JSON_CHARACTER_SHORT bytes
 * @param to  room for as many
 * @return bytes of it at p; 0: json_take_character is to judge, and *to is as it was
 */
static inline int json_take_short(const char *p, char **to)
{
    static const char meant[] = {['"'] = '"',  ['/'] = '/',  ['\\'] = '\\', ['b'] = '\b',
                                 ['f'] = '\f', ['n'] = '\n', ['r'] = '\r',  ['t'] = '\t'};
    const unsigned char first = (unsigned char)p[0], second = (unsigned char)p[1];
    const bool goes_on = (second & 0xc0) == 0x80;
    char *out = *to;

    if (first == '\\' && second < sizeof(meant) && meant[second]) {
        *out = meant[second];
        *to = out + 1;
        return 2;
    }
    if (first >= 0xc2 && first < 0xe0 && goes_on) {
        memcpy(out, p, 2);
        *to = out + 2;
        return 2;
    }
    /* E0 and ED have rules for the byte behind them */
    if (first > 0xe0 && first < 0xed && goes_on && ((unsigned char)p[2] & 0xc0) == 0x80) {
        memcpy(out, p, 3);
        *to = out + 3;
        return 3;
    }
    return 0;
}

/** Is it well-formed UTF-8? */
bool json_is_text(const char *text);

#endif
