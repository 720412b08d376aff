/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_URI_H
#define MK_HTTP_URI_H

#include <monkey/types.h>

#include <stdbool.h>

/* Paths and authorities of RFC 3986, as strictly as an origin server needs them. */

/**
 * Percent-decode a path once and normalise it: `%2F` counts as `/`, `//` as `/`, `.` and `..`
 * segments are removed. The one path that rules, handlers and files see.
 * @param raw  an absolute path without query, beginning with `/`
 * @param dst  room for raw.len bytes; may be raw.p itself
 * @param len  out: length of the result, which begins with `/`; a trailing slash is kept
 * @return 0; MK_E_BAD for NUL or `%00`, an escape that is not two hexadecimal digits, or a raw path
 *         that does not begin with `/`; MK_E_ACCESS when it climbs above the root.
 */
int mk_uri_normalise(struct mk_str raw, char *dst, size_t *len) MK_MUST_USE;

/**
 * Split and check an authority without userinfo: host [":" port], RFC 9112 section 3.2.
 * @param host  out: a reg-name, an IPv4 address, or an IPv6 literal with its brackets; a
 *              trailing dot of a name is left out; borrowed from authority. Empty when the
 *              authority is empty, which is valid
 * @param port  out: 0 when absent or empty
 * @return 0 or MK_E_BAD (userinfo, a character no host may have, a port that is no number up to 65535).
 */
int mk_uri_authority(struct mk_str authority, struct mk_str *host, unsigned *port) MK_MUST_USE;

/** Is every byte of s one that a request target may hold (RFC 3986 section 2, and ^ ` { | } as browsers send them, plus obs bytes >= 0x80
 * refused, `%` unchecked, `#` refused)? */
bool mk_uri_is_target(struct mk_str s);

#endif
