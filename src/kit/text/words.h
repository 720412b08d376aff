/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_WORDS_H
#define KIT_TEXT_WORDS_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Words of settings, fields and commands. Slices borrow from the text that they were cut from; an absent one is as good as
 * an empty one. "In any case" is that of ASCII letters, whatever the language of the surrounding program.
 */

static inline bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline char text_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/** The same bytes? */
bool text_is(struct mk_str a, struct mk_str b);
/** The same bytes in any case? */
bool text_is_word(struct mk_str a, struct mk_str b);
/** Does it begin so, in any case? */
bool text_begins(struct mk_str text, struct mk_str beginning);

/** Without the blanks around it. */
struct mk_str text_trim(struct mk_str text);

/**
 * Cut the next of blank-separated words off. What is left begins with the word behind it.
 * @return it, never empty; {NULL, 0}: there is none
 */
struct mk_str text_next_word(struct mk_str *rest);

/** Cut off what stands before the first such character, and the character; all of it where there is none. */
struct mk_str text_cut(struct mk_str *rest, char at);

/**
 * Is it a field by which a backend gives orders to the server before it: X-Accel-Redirect and its kin, X-Sendfile? They name paths
 * of the machine, so no client gets them.
 */
bool text_is_front_order(struct mk_str name);

/** A copy in lower case, terminated. @param dst  room for text.len + 1 bytes */
void text_lower_copy(char *dst, struct mk_str text);

#endif
