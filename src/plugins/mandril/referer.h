/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MANDRIL_REFERER_H
#define MANDRIL_REFERER_H

#include <monkey/plugin.h>

/** The host of an absolute http or https URL, without port; {NULL, 0} when it is none. RFC 3986 section 3.2. */
struct mk_str mandril_url_host(struct mk_str url);

/** Is host the same as name, in any case, or below it when name is `*.example.org`? */
bool mandril_name_matches(struct mk_str name, struct mk_str host);

/**
 * Did a page of another site ask for this? Its own names are the request's host and the site's.
 * A request without Referer comes from nowhere; a Referer that is no http URL from elsewhere.
 */
bool mandril_comes_from_elsewhere(const struct mk_request *r, const struct mk_words *names);

#endif
