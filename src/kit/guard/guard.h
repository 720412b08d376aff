/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GUARD_H
#define KIT_GUARD_H

#include <monkey/plugin.h>

/*
 * Places of a site that need credentials: a section each, with a path and a title. Built by check_site on the control
 * thread, and constant then.
 */

/** The first member of a section's settings, filled by its keys Location (default "/") and Title (default "Restricted"). */
struct guard {
    const char
        *path; /* as written; after guards_gather without a slash at its end, so "/" is empty */
    const char *title;                /* the realm that clients show */
    const struct mk_pattern *pattern; /* of guards_gather: what path is; NULL: a plain path */
};

/** Those of a site; in the settings' memory. */
struct guards {
    struct guard **items; /* the longest path or pattern, as written, first */
    size_t count;
};

/**
 * All sections of a site, checked. Errors are noted: a text that is neither path nor pattern, a title that cannot be
 * quoted, two sections with one path.
 * @return 0 or MK_E_NOMEM.
 */
int guards_gather(struct mk_setup *setup, const struct mk_section_spec *section,
                  struct guards *guards) MK_MUST_USE;

/**
 * Add those of a site to all of a configuration, for start and stop.
 * @return 0 or MK_E_NOMEM.
 */
int guards_add(struct mk_setup *setup, struct guards *all, const struct guards *site) MK_MUST_USE;

/**
 * The guard of a request's path, in any case as routes match, however an application may read the path:
 * "/admin;v=1/x" is below /admin for many (mk_request_reading).
 * @param found  out: NULL: free to all
 * @return 0; MK_E_ACCESS: readings lead to different guards, and credentials of one are none for the other;
 *         MK_E_NOMEM.
 */
int guards_find(struct mk_request *r, const struct guards *guards,
                const struct guard **found) MK_MUST_USE;

#endif
