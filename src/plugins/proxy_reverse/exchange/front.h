/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_FRONT_H
#define PROXY_FRONT_H

#include "exchange/exchange.h"

#include <monkey/plugin.h>

/*
 * Orders of backends to the server before them: X-Accel-Redirect names a path of the site, X-Sendfile a file beneath SendfileRoot,
 * which are sent in the place of the answer. Of that Content-Type, Content-Disposition, Cache-Control, Expires and Set-Cookie stay.
 */

struct proxy_front_order {
    struct mk_str value; /* of the field, borrowed from the answer */
    bool is_file;        /* X-Sendfile */
};

/** Does the head of the answer, x->answer, have an order that the entry obeys? Only those of 2xx are obeyed. */
bool proxy_front_find(const struct proxy_exchange *x, struct proxy_front_order *order);
/**
 * Take what is to be sent from the answer: x->file, or another path, for which hooks are asked after the current event.
 * @return NULL; a sentence: why it is refused.
 */
const char *proxy_front_obey(struct proxy_exchange *x, const struct proxy_front_order *order);
/** on_handle for a path of AccelRedirect: a file of the site for those that an order sent there, 404 for others. */
enum mk_verdict proxy_front_guard(struct mk_request *r);
/** The hook: fields that stay. */
int proxy_front_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head);

/* ---- front_path.c. Pure, but for links ---- */

/**
 * Decode a path or a file's name (RFC 3986 section 2.1).
 * @param dst  room for text.len + 1, terminated
 * @return bytes; MK_E_BAD: invalid escapes, controls, empty segments, or `.` and `..`.
 */
ssize_t proxy_front_decode(char *dst, struct mk_str text);
/**
 * The name of a file beneath a folder.
 * @param text  as in X-Sendfile: percent-encoded; with a slash in front it begins with the folder
 * @param dst   room for text.len + 2
 * @return it, decoded, terminated, with a slash in front; p NULL: it is not beneath it, or no name.
 */
struct mk_str proxy_front_beneath(char *dst, struct mk_str text, const char *root);
/**
 * Where symbolic links lead.
 * @param path  of proxy_front_beneath; in, out: without links
 * @param dst   PATH_MAX bytes
 * @return NULL; a sentence: why it is refused.
 */
const char *proxy_front_follow(char *dst, const char *root, struct mk_str *path);

#endif
