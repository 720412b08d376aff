/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_ROUTE_ROUTE_H
#define MK_SERVER_ROUTE_ROUTE_H

#include "server/files/files.h"
#include "server/request/request.h"

/** Decide who answers a request whose head is complete, and let them: stage 20, redirect, handlers, files. */
void mk_route(struct mk_request *r);

/** r->path is another one now: ask stage 20 and the handlers about it. @return false when all passed. */
bool mk_route_again(struct mk_request *r);

/** Ask the hook again that said LATER, and go on behind it. */
void mk_route_resume(struct mk_request *r);

/** The site that was asked for, of several. */
void mk_route_choose_site(struct mk_request *r);

/** The path by which clients ask for a file: "/~user" stands before that of a user's. @return p NULL without memory. */
struct mk_str mk_route_path_of(struct mk_request *r, const struct mk_file *file);

/** Is a file what one of the site's handlers is asked for? See mk_site_is_handled. */
bool mk_route_is_owned(struct mk_request *r, const struct mk_file *file);

/** Redirect to the same path with a slash behind it: static_site.c. */
void mk_static_add_slash(struct mk_request *r);

/**
 * The site's page for a status may be a handler's: it is asked for that by GET (HEAD stays HEAD), and its 200 becomes the
 * status. Once for a request, before anything of an answer.
 * @return false: the page is no handler's, or all passed on it.
 */
bool mk_route_page(struct mk_request *r, unsigned status);

/** Answer with what r->path names below the site's root: static_site.c. */
void mk_static_serve(struct mk_request *r);

/** Answer GET or HEAD with a regular file: static_file.c. Takes over the reference. */
void mk_static_send(struct mk_request *r, struct mk_file *file);

/**
 * Answer with parts of a file, as Range asks: static_range.c. Takes over the reference unless false is returned.
 * @return false: the field does not apply, send the whole.
 */
bool mk_static_send_ranges(struct mk_request *r, struct mk_file *file, struct mk_str type,
                           struct mk_str coding);

#endif
