/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_SNAPSHOT_H
#define MK_SETUP_SNAPSHOT_H

#include "base/pattern.h"
#include "http/mime.h"
#include "setup/hooks.h"
#include "setup/settings.h"

#include <stdatomic.h>

/*
 * A configuration that was checked whole and never changes again. Workers read it without locks; a
 * reload builds another one.
 */

struct mk_places;
struct mk_snapshot;
struct mk_want;

/** One line of [HANDLERS]. */
struct mk_route {
    struct mk_str pattern; /* as written; "@name": for TryFiles, which calls it by that name */
    struct mk_pattern match;
    struct mk_hooked who;
    void *data;                 /* for its on_handle */
    const struct mk_origin *at; /* while the configuration is checked; NULL: nowhere */
};

/** A site, or what it is in a place that a [LOCATION] names: a variant, with settings and hooks of its own. */
struct mk_site {
    struct mk_site_settings set;
    const struct mk_snapshot *snapshot;
    const struct mk_places *places; /* of the site, for its variants too; NULL: it has none */
    struct mk_site *parent;         /* what a variant inherits from; NULL: of a site */
    struct mk_section *section;     /* of a variant, while the configuration is checked */
    unsigned index;
    struct mk_str extra_lines;  /* what Header adds, as field lines */
    struct mk_str secure_lines; /* what it adds over TLS alone */
    bool has_late_lines;        /* it has such, or lines with variables */
    struct mk_route *routes;
    size_t nroutes;
    const struct mk_route *named; /* that the last item of TryFiles names; NULL: it names none */
    struct mk_route *limits;      /* Match lines of plugins that answer nothing: where they act */
    size_t nlimits;
    struct mk_words slashless; /* "/dav" for a route ^/dav/, where SlashRedirect is on */
    struct mk_hooks on_request, on_directory, on_head, on_finish;
};

struct mk_host_name {
    struct mk_str name; /* lower case; of a wildcard the part behind the `*`, with its dot */
    const struct mk_site *site;
};

struct mk_snapshot {
    atomic_uint refs;   /* the server's one, and one for each worker's view */
    atomic_uint *alive; /* counts those in use; NULL: nobody's yet */
    void (*on_unused)(struct mk_snapshot *s, void *arg);
    void *arg;
    struct mk_server_settings set;
    struct mk_site *sites; /* behind the sites their variants */
    size_t nsites, nvariants;
    unsigned usual;  /* the default site: the first that has no addresses of its own */
    bool is_divided; /* a request has a choice of sites or variants */
    struct mk_host_name *names, *wildcards; /* sorted by name */
    size_t nnames, nwildcards;
    struct mk_mime mime;
    struct mk_loaded *plugins; /* in the order of loading */
    size_t nplugins;
    struct mk_hooks on_accept, on_close, on_conn_event;
    struct mk_restart_value {
        const char *key, *value;
    } * restart_values; /* of plugins' fields that a reload cannot change, in the order of the files */
    size_t nrestart_values;
    bool loads_differ;         /* plugins.load lists others than those that are loaded */
    struct mk_str server_name; /* "Monkey/2.0.0", or without the version */
};

/** A plugin that the surrounding program has in itself. */
struct mk_program_plugin {
    struct mk_program_plugin *next; /* in the order of the calls */
    const struct mk_plugin *plugin;
    void *argument;
};

/** One configuration as written; what a snapshot is built from. */
struct mk_snapshot_source {
    struct mk_tree server, mimes, plugins; /* may be empty */
    struct mk_tree common;                 /* plugins' sections for all sites */
    struct mk_tree *sites;
    size_t nsites;
    bool need_roots;              /* a site without DocumentRoot is a fault */
    struct mk_tree *plugin_files; /* of each plugin of the snapshot; NULL: there are none */
    const char *plugin_dir;       /* where plugins are that are loaded by name */
    const char *optional;         /* a plugin to load if it is there; NULL: none */
    struct mk_want *wants;        /* plugins that are named without a Load line */
    size_t nwants;
    const struct mk_program_plugin *programs;
    const struct mk_loaded *kept; /* the plugins of the server that runs already */
    size_t nkept;
    /** Open a file for reading; NULL: plainly. @return a descriptor or an enum mk_error. */
    int (*open)(void *arg, const char *path);
    void *open_arg;
    struct mk_need {
        enum mk_resource kind;
        const char *name;
    } * needs; /* out: files that plugins will open by name */
    size_t nneeds;
};

/**
 * Build and check. Faults of meaning go to ctx->faults; with any of them the snapshot must not be used.
 * @param ctx  arena and faults; the snapshot lives in the arena
 * @return 0 or MK_E_NOMEM.
 */
int mk_snapshot_build(struct mk_snapshot *s, struct mk_snapshot_source *source,
                      struct mk_setup *ctx) MK_MUST_USE;

static inline size_t mk_snapshot_places(const struct mk_snapshot *s)
{
    return s->nsites + s->nvariants;
}

/** The site for a host name (without port, any case); the default site for unknown ones. */
const struct mk_site *mk_snapshot_site(const struct mk_snapshot *s, struct mk_str host);

/** The variant of a site (or of another variant of it) for a decoded path; the site itself where no location is. */
const struct mk_site *mk_site_at(const struct mk_site *site, struct mk_str path);

/** The site's page for a status; NULL: none. */
const struct mk_error_page *mk_site_error_page(const struct mk_site *site, unsigned status);

/** Does the site's Header list name this field, so that the server's own one must not be sent? */
bool mk_site_overrides(const struct mk_site *site, struct mk_str field);

/**
 * Does a path match one of the site's Match lines for a plugin that is limited to them? A request that was refused before
 * its path was known (p NULL) always does: a log without the refused ones would not be one.
 */
bool mk_site_is_within(const struct mk_site *site, const struct mk_hooked *who, struct mk_str path);

/**
 * Is a path what one of the site's handlers is asked for? Then a file there is source, and must not be sent in another's
 * place. Those that answer from elsewhere (MK_TRAIT_ELSEWHERE) have no source here.
 */
bool mk_site_is_handled(const struct mk_site *site, struct mk_str path);

/** Do clients get ranges of its files? Filters without MK_TRAIT_PARTS are given the whole. */
bool mk_site_gives_parts(const struct mk_site *site);

static inline void mk_snapshot_get(struct mk_snapshot *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

/** Stop of each plugin that has started, the last one first. Any thread. */
void mk_plugins_stop(struct mk_snapshot *s);

/** The last one stops the plugins and calls on_unused. Any thread. */
void mk_snapshot_put(struct mk_snapshot *s);

#endif
