/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_VIEWS_RENDER_H
#define MK_DUDA_VIEWS_RENDER_H

/* A page made of a template and of values: a struct that rows of a table describe, or a tree of JSON. */

#include "webservice.h"

#include "kit/page/page.h"
#include "views/template.h"

enum { MK_DUDA_RENDER_TURNS = 1000000 }; /* steps of one page */

/** A value, or what has values. All NULL: none. */
struct mk_duda_shown {
    const struct cJSON *item;      /* of a tree */
    const struct duda_input *rows; /* of a struct, up to one without a name */
    const struct duda_input *row;  /* of one member, or of the values of a list */
    const void *data;              /* the struct, or the member */
};

/** @return 0; MK_E_LIMIT: more than MK_DUDA_RENDER_TURNS, or a page beyond PAGE_MAX; MK_E_NOMEM. page_free frees page in any case. */
int mk_duda_render(const struct mk_duda_template *t, const struct mk_duda_shown *values,
                   struct page *page) MK_MUST_USE;

#endif
