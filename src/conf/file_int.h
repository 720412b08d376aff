/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CONF_FILE_INT_H
#define MK_CONF_FILE_INT_H

#include "conf/conf.h"

#include <sys/types.h>

/* One file as bytes. Both functions @return 0; MK_E_NOMEM; or another error with *why the end of a
 * sentence that begins "cannot read PATH: " (static text). */

struct mk_conf_file {
    int fd;    /* -1 when closed */
    dev_t dev; /* which file it is, whatever path led to it */
    ino_t ino;
};

/** Open through host (NULL: open(2)). The caller closes f->fd. */
int mk_conf_file_open(const struct mk_conf_host *host, const char *path, struct mk_conf_file *f,
                      const char **why) MK_MUST_USE;

/** @param text  out: all of it, in the arena. */
int mk_conf_file_load(const struct mk_conf_file *f, struct mk_arena *arena, struct mk_str *text,
                      const char **why) MK_MUST_USE;

#endif
