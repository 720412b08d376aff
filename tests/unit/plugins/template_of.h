/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEMPLATE_OF_H
#define TEMPLATE_OF_H

#include <monkey/variables.h>

/* A text taken apart as the server does it. pieces of ENVIRONMENT have the name in place of a value. */

static inline int template_read(struct mk_template *t, struct mk_str text, unsigned flags,
                                struct mk_template_piece pieces[MK_TEMPLATE_MAX])
{
    struct mk_str wrong;

    t->pieces = pieces;
    return mk_template_read(pieces, &t->count, text, flags, &wrong);
}

#endif
