/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_TAKE_H
#define MK_DUDA_REMOTE_TAKE_H

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

#endif
