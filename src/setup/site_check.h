/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_SITE_CHECK_H
#define MK_SETUP_SITE_CHECK_H

#include "settings/field.h"

struct mk_site;

/**
 * The last check of a site, when its routes are there: root, names, error pages, and what SlashRedirect needs.
 * @param tree       NULL: of a variant of a site
 * @param need_root  a site without DocumentRoot is a fault, unless a handler has every path
 * @return 0 (faults may have been noted) or MK_E_NOMEM.
 */
int mk_site_check(struct mk_site *site, const struct mk_tree *tree, bool need_root,
                  struct mk_setup *ctx) MK_MUST_USE;

#endif
