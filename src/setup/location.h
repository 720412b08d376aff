/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_LOCATION_H
#define MK_SETUP_LOCATION_H

#include "setup/snapshot.h"

/*
 * Settings by path. A request of a site is in the nearest [LOCATION] whose Path has its path and in the first whose Match
 * does. For each pair of them there is a variant of the site, made when the configuration is checked, so that a
 * request costs no more than finding the pair.
 */

struct mk_location {
    struct mk_str path;         /* without a slash at its end */
    struct mk_pattern match;    /* of those behind the paths */
    struct mk_section *section; /* while the configuration is checked */
};

/** The locations of a site. */
struct mk_places {
    struct mk_location
        *items; /* paths, the longest first; then expressions, in the order written */
    size_t npaths, nmatches;
    /* by path and match, each list followed by "none": the last one of all is the site itself */
    struct mk_site **variants;
};

/** How many variants the locations of a site come to. @return 0: it has none. */
size_t mk_places_count(const struct mk_tree *site);

/**
 * Make the variants of a site, whose own settings are complete: the next of the snapshot's, which has room for them.
 * @return 0 (faults may have been noted, and site->places may be NULL) or MK_E_NOMEM.
 */
int mk_places_build(struct mk_snapshot *s, struct mk_site *site, const struct mk_tree *tree,
                    struct mk_setup *ctx) MK_MUST_USE;

/** Its Header lines as they are sent: site->extra_lines. @return 0 or MK_E_NOMEM. */
int mk_site_make_lines(struct mk_site *site, struct mk_setup *ctx) MK_MUST_USE;

#endif
