/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_THEME_H
#define DIRLISTING_THEME_H

#include "render.h"

#include <monkey/settings.h>

enum { DIRLISTING_THEME_FILE_MAX = 64 << 10 };

/** The texts of a theme, as they stand in its files. */
struct dirlisting_texts {
    struct mk_str header, entry, footer;
};

/** What is used without `Theme`: the same as conf/themes/default/. */
extern const struct dirlisting_texts dirlisting_default_texts;
/** The listing as JSON. */
extern const struct dirlisting_texts dirlisting_json_texts;

/**
 * Cut texts that are part of the plugin.
 * @param places  where their tags may stand, enum dirlisting_place, beside what theme files may have
 * @return 0 or MK_E_NOMEM.
 */
int dirlisting_theme_of_texts(struct dirlisting_theme *theme, struct mk_setup *setup,
                              const struct dirlisting_texts *texts, unsigned places) MK_MUST_USE;

/**
 * Read header.theme, entry.theme and footer.theme. What is wrong is noted as a fault with file and line.
 * @param folder  of the theme
 * @param at      where the theme is named, for faults
 * @return 0, MK_E_INVALID or MK_E_NOMEM.
 */
int dirlisting_theme_read(struct dirlisting_theme *theme, struct mk_setup *setup,
                          const char *folder, const struct mk_origin *at) MK_MUST_USE;

#endif
