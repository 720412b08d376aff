/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_HOOKS_H
#define MK_SETUP_HOOKS_H

#include <monkey/plugin.h>

/*
 * Where plugins meet the server. Lists are made once for each configuration, for each site only of
 * the hooks that act there, so that what does not act costs a comparison with zero.
 */

/** One plugin in a list of hooks. */
struct mk_hooked {
    const struct mk_plugin *plugin;
    unsigned index;  /* among the snapshot's plugins: of its context in a view */
    bool is_limited; /* to the paths that the site's Match lines for it name */
};

struct mk_hooks {
    const struct mk_hooked *items; /* in the order of loading */
    size_t count;
};

struct mk_draft;

/** A plugin of a configuration. */
struct mk_loaded {
    const struct mk_plugin
        *plugin; /* all members, also of one that was built with an older header */
    const struct mk_plugin *given; /* as it is in the plugin */
    const char *file;              /* NULL: built in */
    const char *load;              /* what the Load line says; NULL: there is none */
    bool is_of_program;            /* it came by mk_config_plugin, with the argument */
    void *argument;
    struct mk_context context; /* off the workers and sites */
    void **sites;              /* what check_site kept, by the site's index */
    bool started;
    struct mk_draft *draft; /* only while the configuration is checked */
};

#endif
