/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_RENDER_H
#define DIRLISTING_RENDER_H

#include "list.h"
#include "template.h"

#include <sys/types.h>

/*
 * A listing as text, piece by piece into whatever room there is: nothing of its size is ever in memory
 * but the entries themselves.
 */

struct dirlisting_theme {
    struct dirlisting_template header, entry, footer;
    struct mk_str path; /* what %_theme_path_% stands for, escaped for HTML */
};

/** What is said of the directory itself. Memory of the caller, as long as the page. */
struct dirlisting_subject {
    struct mk_str html_path;  /* text_html of the path */
    struct mk_str path_links; /* dirlisting_path_links of the path */
    struct mk_str json_path;  /* text_json of the path */
    bool has_parent;
};

enum dirlisting_part {
    DIRLISTING_HEADER,
    DIRLISTING_ENTRIES,
    DIRLISTING_FOOTER,
    DIRLISTING_END,
};

struct dirlisting_page {
    const struct dirlisting_theme *theme;
    struct dirlisting_subject subject;
    struct dirlisting_ask ask;
    struct dirlisting_list *list; /* what is shown; read as far as it was when the page begins */

    /* its own, zeroed at first */
    enum dirlisting_part part;
    bool sorted;        /* as it was when the header began */
    bool in_template;   /* a template is under way: */
    size_t piece;       /* which piece of it comes next, */
    struct mk_str rest; /* and what is left of the piece before */
    struct dirlisting_entry entry;
    uint64_t directories, files, bytes;       /* shown so far */
    char value[DIRLISTING_NAME_MAX * 6 + 64]; /* of a tag */
};

/**
 * Write the next bytes of a page.
 * @return > 0: bytes written, at most len; 0: its end; MK_E_AGAIN: every entry that was read is written, and the
 *         list has more: refill it, read on and call again.
 */
ssize_t dirlisting_render(struct dirlisting_page *p, char *dst, size_t len) MK_MUST_USE;

/**
 * The path with a link on each directory above, as HTML. Those more than 32 levels up are text.
 * @param path  begins and ends with a slash
 * @param dst   room for dirlisting_path_links_room(path)
 * @return bytes written.
 */
size_t dirlisting_path_links(char *dst, struct mk_str path);
size_t dirlisting_path_links_room(struct mk_str path);

#endif
