/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_URI_READING_H
#define MK_HTTP_URI_READING_H

#include <monkey/types.h>

/*
 * How applications may read a path that we take as it is. RFC 3986 section 3.3 leaves parameters of a segment to
 * them, Windows takes `\` for `/` and leaves dots and blanks at the end of a name out. Which of these one does is
 * not known here, so each combination is a reading of its own: "/admin;\..\x/y" is /admin/y for who cuts parameters,
 * and /x/y for who does both.
 */
enum mk_reading {
    MK_READING_PARAMETERS = 1, /* `;` and what follows it is no part of the segment */
    MK_READING_BACKSLASH = 2,  /* `\` is `/` */
    MK_READING_ENDS = 4,       /* dots and blanks at the end of a segment are no part of it */
    MK_READINGS = 7,
};

/** @param path  of mk_uri_normalise. @return which of them may make another path of it; 0 for nearly all paths. */
unsigned mk_uri_readings(struct mk_str path);

/**
 * Read a path so, then remove the dot segments that come to light; above the root is the root.
 * @param path      of mk_uri_normalise
 * @param readings  enum mk_reading, together
 * @param dst       room for path.len bytes; not path.p
 * @return the length of the result, which begins with `/`.
 */
size_t mk_uri_read(struct mk_str path, unsigned readings, char *dst);

#endif
