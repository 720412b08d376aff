/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_PATHS_H
#define MK_BIN_PATHS_H

#include <monkey/server.h>

/* Where the configuration is. Names become absolute early, because a daemon leaves its directory. */

/** path seen from the root. @return owned by the caller (free), or NULL with errno. */
char *mk_path_absolute(const char *path);

/** The configuration directory without options: see mk_files_settle. @return owned by the caller (free), or NULL with errno. */
char *mk_path_default_config(void);

/** The folder plugins/ beside this executable, when that is in a tree where it was built; NULL: it is not. */
char *mk_path_built_plugins(void);

/**
 * Settle where the configuration is read from: what the command line says; else, when the
 * executable is DIR/buildNAME/monkey and DIR/conf/monkey.conf exists, DIR/conf; else the installed
 * directory. Relative names that are not in the configuration directory become absolute.
 * @return 0 or MK_E_NOMEM; the names made live as long as the process.
 */
int mk_files_settle(struct mk_config_files *files) MK_MUST_USE;

#endif
