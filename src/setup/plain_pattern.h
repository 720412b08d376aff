/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_PLAIN_PATTERN_H
#define MK_SETUP_PLAIN_PATTERN_H

#include <monkey/types.h>

#include <stdbool.h>

/* Expressions that are plain text, perhaps with `^` before it, and with `$`, `.*` or `(.*)` after it: all others are left alone. */

enum { MK_PLAIN_MAX = 512 }; /* longer ones are left alone too */

struct mk_plain {
    bool ends; /* with `$`: nothing follows the text */
    size_t len;
    char text[MK_PLAIN_MAX]; /* in lower case, after NUL where it begins with `^` */
};

/** @return false: it is not plain. */
bool mk_plain_read(struct mk_plain *p, struct mk_str pattern) MK_MUST_USE;
/** Does each path of the second one match the first? false: no, or one of them is not plain. */
bool mk_plain_covers(struct mk_str first, struct mk_str second);

#endif
