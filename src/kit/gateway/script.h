/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GATEWAY_SCRIPT_H
#define KIT_GATEWAY_SCRIPT_H

#include <monkey/request.h>

/*
 * Which part of a path is the script, and which is for it to read (RFC 3875 sections 3.3, 4.1.5, 4.1.6, 4.1.13).
 */

struct gateway_script {
    struct mk_str
        name; /* SCRIPT_NAME: decoded, beginning with a slash, or empty; part of the request's path */
    struct mk_str info;   /* PATH_INFO: what follows it; empty: nothing */
    const char *filename; /* SCRIPT_FILENAME; NULL: the server knows of no file */
    const char
        *translated; /* PATH_TRANSLATED: info below the document root; NULL without info or root */
};

enum gateway_found { GATEWAY_SCRIPT, GATEWAY_DIRECTORY };

/**
 * Walk the request's path through the site's document root: the script is the first regular file on the way, opened as the
 * server itself would, by the rules for symbolic links. In on_handle.
 *
 * A part of the path counts only where the route's pattern matches it alone: of "/upload/evil.jpg/x.php" neither the picture
 * is a script, which `\.php(/|$)` does not match, nor what is not there. Names that begin with a dot are none (but below
 * /.well-known). Texts live as long as the request.
 *
 * @return GATEWAY_SCRIPT; GATEWAY_DIRECTORY: the whole path is a directory, which the server may see to (PASS): index
 *         files; MK_E_NOENT: no script; MK_E_ACCESS: no regular file, not readable, or behind a link; MK_E_NOFD, MK_E_NOMEM,
 *         MK_E_SYS. After an error the request must be answered, not passed on, or the server might send the source of what
 *         has appeared in the meantime.
 */
int gateway_script_find(struct gateway_script *s, struct mk_request *r) MK_MUST_USE;

/**
 * A script that owns all paths below a prefix, wherever its file is.
 * @param prefix    decoded, without slash at its end; empty: all paths. The request's path begins with it
 * @param filename  lives as long as the request; NULL: none
 * @return 0 or MK_E_NOMEM.
 */
int gateway_script_mount(struct gateway_script *s, struct mk_request *r, size_t prefix_len,
                         const char *filename) MK_MUST_USE;

/**
 * The same as gateway_script_find for a folder elsewhere: the first regular file on the way below it. The route's pattern is
 * not asked for parts of the path.
 * @param prefix_len  of the path, which stands for the folder
 * @param folder      absolute, without slash at its end
 * @return GATEWAY_SCRIPT; MK_E_NOENT; MK_E_ACCESS: a folder, no regular file, or behind a link; MK_E_NOFD, MK_E_NOMEM, MK_E_SYS.
 */
int gateway_script_find_in(struct gateway_script *s, struct mk_request *r, size_t prefix_len,
                           const char *folder) MK_MUST_USE;

/** The status to answer an error of gateway_script_find with: 403, 404, 500 or 503. */
unsigned gateway_script_status(int error);

#endif
