/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_CONF_H
#define MK_CONF_CONF_H

#include "settings/fault.h"
#include "settings/tree.h"

/*
 * The indented text format, "for human beings":
 *
 *     [SECTION]
 *         Key value to the end of the line
 *
 * Section heads in column 0, settings indented by what the first indented line of the file uses,
 * # comments in column 0 or after the indentation, CRLF accepted, @INCLUDE path-or-glob relative
 * to the including file.
 */

/** How files are opened, so that a keeper with more rights can do it. */
struct mk_conf_host {
    /** @return a descriptor open for reading, owned by the caller, or an enum mk_error. */
    int (*open)(void *arg, const char *path);
    void *arg;
};

/**
 * Read a file and what it includes.
 * @param tree   gets the sections at its end
 * @param faults gets every fault of form: unreadable file, section head or indentation wrong, key
 *               before any section, NUL or control byte, line or file too long, include cycle or depth
 * @param host   NULL: plain open(2)
 * @param seen   files read so far in this configuration, counted against MK_LIMIT_CONF_FILES; may be NULL
 * @return 0 (faults may have been noted), or MK_E_NOMEM.
 */
int mk_conf_read_file(struct mk_tree *tree, struct mk_faults *faults, const char *path,
                      const struct mk_conf_host *host, size_t *seen) MK_MUST_USE;

/**
 * The same for text in memory; `@INCLUDE` is a fault in it unless dir is given.
 * @param name  what to call it in messages; @param dir where includes start, or NULL
 */
int mk_conf_read_text(struct mk_tree *tree, struct mk_faults *faults, struct mk_str text,
                      const char *name, const char *dir,
                      const struct mk_conf_host *host) MK_MUST_USE;

/**
 * The files of a directory that count as configuration, sorted by name: not those beginning with
 * `.` or ending in `~`, and only regular files or links to them. A link that leads nowhere counts,
 * so that reading it says what is wrong.
 * @param suffix  only names ending so, e.g. ".conf"; NULL: all
 * @param paths   out: NULL-terminated array of "dir/name" in the arena
 * @return number of files, or MK_E_NOENT (no such directory), MK_E_ACCESS, MK_E_NOFD, MK_E_NOMEM,
 *         MK_E_SYS.
 */
int mk_conf_list_dir(struct mk_arena *arena, const char *dir, const char *suffix,
                     const char *const **paths) MK_MUST_USE;

#endif
