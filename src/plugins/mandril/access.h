/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MANDRIL_ACCESS_H
#define MANDRIL_ACCESS_H

#include <monkey/plugin.h>

/*
 * Allow and Deny of [HOST] and [LOCATION]: which addresses may ask for what is there. The first line that has the
 * address decides; where there are only Allow lines, all other addresses are denied. Internal: nobody may ask for it, and only
 * the server leads there.
 */

struct access;

extern const struct mk_section_spec mandril_access_section;

/** What holds in the present place. In check_site. @param made  out: NULL: it has no such lines. @return 0 or MK_E_NOMEM. */
int mandril_access_make(struct mk_setup *setup, const struct access **made) MK_MUST_USE;

/** A line that denies an address, or, with file NULL, that there is none that allows it. */
struct access_denial {
    const char *file;
    unsigned line;
};

/** @param access  NULL: nobody is denied. @return whether the peer of a request may not have it. */
bool mandril_access_denies(const struct access *access, const struct mk_request_facts *facts,
                           struct access_denial *why);

/**
 * Is the place of a path for the server itself? However an application reads the path of a request, its own place alone can be
 * one to which the server led.
 * @param access  of the place; NULL: it has no such lines
 * @param is_own  the path is the request's as the server reads it
 * @return whether the peer of a request may not know of it.
 */
bool mandril_access_hides(const struct access *access, const struct mk_request_facts *facts,
                          bool is_own);

#endif
