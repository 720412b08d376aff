/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_KNOWN_H
#define MK_SETUP_KNOWN_H

#include <stddef.h>

/** A section of one of our plugins: written for one that is not loaded it is no mistake, but worth a warning. */
struct mk_known_section {
    const char *section, *plugin;
};

/** By section; tools/known_sections reads them out of the plugins' tables when the library is built. */
extern const struct mk_known_section mk_known_sections[];
extern const size_t mk_nknown_sections;

#endif
