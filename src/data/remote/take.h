/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_TAKE_H
#define MK_DATA_REMOTE_TAKE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <string.h>

/** Take a word off the front of a text. @return false: it does not begin so, and nothing is taken */
static inline bool remote_take(struct mk_str *s, const char *word)
{
    const size_t n = strlen(word);

    if (s->len < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    s->len -= n;
    return true;
}

/** Cut a text before this character. @return what stands behind it; p NULL: the character is not there, and nothing is cut */
static inline struct mk_str remote_cut(struct mk_str *s, char c)
{
    const char *at = s->len > 0 ? memchr(s->p, c, s->len) : NULL;
    struct mk_str rest = {NULL, 0};

    if (!at)
        return rest;
    rest = (struct mk_str){at + 1, s->len - (size_t)(at - s->p) - 1};
    s->len = (size_t)(at - s->p);
    return rest;
}

#endif
