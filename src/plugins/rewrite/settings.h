/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REWRITE_SETTINGS_H
#define REWRITE_SETTINGS_H

#include "rules.h"

#include <monkey/plugin.h>

/** One [REWRITE] section. */
struct rewrite_settings {
    struct rule *first, *last;
    struct mk_words maps; /* files */
};

extern const struct mk_section_spec rewrite_section;

#endif
