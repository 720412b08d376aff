/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_HOOKS_H
#define MK_SERVER_HOOKS_H

#include <monkey/plugin.h>

/*
 * Where plugins meet the server. Lists are made once for each configuration, for each site only of
 * the hooks that act there, so that what does not act costs a comparison with zero.
 */

/** One plugin in a list of hooks. */
struct mk_hooked {
    const struct mk_plugin *plugin;
    unsigned index; /* among the snapshot's plugins: of its context in a view */
};

struct mk_hooks {
    const struct mk_hooked *items; /* in the order of loading */
    size_t count;
};

/** A plugin of a configuration. */
struct mk_loaded {
    const struct mk_plugin *plugin;
    const char *file;  /* NULL: built in */
    void *config;      /* what check kept */
    void **sites;      /* what check_site kept, by the site's index */
    bool started;
};

/** The built-in ones. */
extern const struct mk_plugin mk_plugin_liana, mk_plugin_echo;

#endif
