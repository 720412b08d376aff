/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_CONFIG_H
#define MK_SETUP_CONFIG_H

#include "base/arena.h"
#include "conf/conf.h"
#include "setup/snapshot.h"

#include <monkey/server.h>

/* A configuration from its first setting to the end of the last request that was served with it. */

struct mk_site_file {
    const char *path;
    struct mk_tree tree;
};

struct mk_config {
    struct mk_arena arena; /* what a server needs as long as it serves: the snapshot */
    struct mk_arena text;  /* what was written, where, and what is wrong with it */
    const struct mk_host *host;
    struct mk_conf_host conf_host;
    struct mk_faults faults;
    const char *dir;          /* where relative paths begin; NULL: the working directory */
    const char *plugins_conf; /* the directory of the plugins' own files; NULL: none */
    const char *plugin_dir;   /* where plugins are loaded from by name; NULL: the compiled-in one */
    const char *optional;     /* a plugin to load if it is there */
    struct mk_program_plugin *programs;
    const struct mk_config *before; /* whose plugins are kept; NULL: this is the first */
    struct mk_tree server, mimes, plugins;
    struct mk_tree common; /* sections of plugins in monkey.conf that are for all sites */
    struct mk_tree
        hosts; /* sites of monkey.conf, not among sites yet; neither is added to, so they need no arena */
    size_t nhosts;
    struct mk_site_file *sites; /* the default site first */
    size_t nsites;
    struct mk_site_file *more_sites; /* of mk_config_set_site, not among sites yet */
    size_t nmore_sites;
    struct mk_tree overrides; /* of mk_config_set */
    bool have_sites;          /* they were read from files, so each needs a root */
    size_t files_read;
    struct mk_words read_paths; /* every file that was opened */
    struct mk_snapshot_source source;
    struct mk_snapshot snapshot;
    bool checked;
    bool is_taken; /* by a server: nothing changes or frees it but the end of its last request */
    int check_result;
};

/** May the program change it, or give it to a server? */
static inline bool mk_config_is_free(const struct mk_config *config)
{
    return config && !config->is_taken;
}

/** As mk_config_free, taken or not. */
void mk_config_end(struct mk_config *config);

/** Where plugins are that are loaded by name. */
const char *mk_config_plugins_from(const struct mk_config *config);

/** Overrides into the trees, then the snapshot. @return as mk_config_check. */
int mk_config_build(struct mk_config *config) MK_MUST_USE;

/** Read the files of a plugin below plugins/NAME, if there is such a directory. @return 0 (faults may have been noted) or MK_E_NOMEM. */
int mk_config_read_plugin(struct mk_config *config, const char *name,
                          struct mk_tree *tree) MK_MUST_USE;

/** A server has it now: give back what only checking, faults and the dump needed. */
void mk_config_drop_text(struct mk_config *config);

#endif
