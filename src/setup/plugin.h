/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_PLUGIN_H
#define MK_SETUP_PLUGIN_H

#include "setup/snapshot.h"

/*
 * The host of plugins: which there are, their sections as structs, and what their checks say. All of
 * it on the control thread; workers only read what comes out, which is in hooks.h.
 */

/** A section of a plugin as a struct. */
struct mk_occurrence {
    struct mk_occurrence *next;          /* in the order written */
    const struct mk_section_spec *given; /* the plugin's own table... */
    const struct mk_section_spec *spec;  /* ...and the same with rows of our size */
    const struct mk_section *section;    /* NULL: was not written */
    const struct mk_section *inherits;   /* the file's, for what it leaves unsaid; NULL: none */
    struct mk_section effective;         /* what both say together */
    void *settings;
};

/** What is only needed while a configuration is checked and dumped; lives with the text that was read. */
struct mk_draft {
    const struct mk_want *want;                 /* what it was loaded for; NULL: a Load line */
    const struct mk_section_spec *const *given; /* NULL-terminated */
    const struct mk_section_spec **specs; /* the same with rows of our size; NULL-terminated */
    struct mk_occurrence *of_file;
    struct mk_occurrence **of_sites; /* by the site's index, variants too */
    unsigned *acts;                  /* likewise: bits of enum mk_acts */
    unsigned acts_everywhere; /* those of connections, which have no site, and of rules by path */
    bool *is_switched_on;     /* likewise: by a Match line */
    bool has_switch;          /* on any site */
    bool is_bad; /* it has faults: its further hooks would work with half of what they need */
};

/** What a plugin's hook is checking: mk_setup.arg. */
struct mk_plugin_check {
    struct mk_snapshot *snapshot;
    struct mk_snapshot_source *source;
    struct mk_loaded *plugin;
    struct mk_site *site; /* NULL in check */
    bool has_kept;
    struct mk_route_list {
        struct mk_route *items;
        size_t count;
    } of_handlers, of_site, global, limits; /* of the present site */
};

/** The name in "NAME", "monkey-NAME.so" and "/path/monkey-NAME.so". */
struct mk_str mk_plugin_name_of(struct mk_str what);

/** Whether a description is one: its size, interface and name. */
bool mk_plugin_is_usable(const struct mk_plugin *given);

/**
 * Append a plugin to s->plugins, which has room, with a draft and all members.
 * @param known  given, file, load, is_of_program and argument; copied
 * @return 0 or MK_E_NOMEM.
 */
int mk_plugin_append(struct mk_snapshot *s, const struct mk_loaded *known,
                     struct mk_setup *ctx) MK_MUST_USE;

/** A plugin that is part of the library or of the executable; NULL: there is none. */
const struct mk_plugin *mk_plugin_static(struct mk_str name);

/** Walk those that are loaded without a Load line. @param at  0 at first. @return NULL after the last. */
const struct mk_plugin *mk_plugin_always(size_t *at);

/**
 * Open a shared object and find its plugin. It stays for the life of the process.
 * @param why  out: a sentence, in the arena
 * @return it, not yet judged; NULL with *why, which is NULL without memory.
 */
const struct mk_plugin *mk_plugin_open(const char *path, struct mk_arena *arena, const char **why);

/**
 * A plugin by its name alone, built in or from a directory.
 * @param plugin  out: which it is, its file (NULL: built in), and the description with all members
 * @param why     out, for MK_E_NOENT: a sentence, in the arena of the faults
 * @return 0, MK_E_NOENT: there is none that can be used; MK_E_NOMEM.
 */
int mk_plugin_by_name(struct mk_loaded *plugin, const char *dir, const char *name,
                      struct mk_setup *ctx, const char **why) MK_MUST_USE;

/**
 * The plugins of a configuration: s->plugins, each with a draft. The built-in ones first, then those of [PLUGINS] and
 * those of source->wants that are there; or, where a server runs already, the ones it has.
 * @return 0 (faults may have been noted) or MK_E_NOMEM.
 */
int mk_plugins_load(struct mk_snapshot *s, struct mk_snapshot_source *source,
                    struct mk_setup *ctx) MK_MUST_USE;

/* ---- plugins that the surrounding program has in itself ---- */

size_t mk_plugins_count_programs(const struct mk_snapshot_source *source);

/** Load them all. @return 0 or MK_E_NOMEM. */
int mk_plugins_load_programs(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                             struct mk_setup *ctx) MK_MUST_USE;

/** Append one of the server that runs, or what this configuration has in its place. @return 0 or MK_E_NOMEM. */
int mk_plugin_keep_program(struct mk_snapshot *s, const struct mk_snapshot_source *source,
                           const struct mk_loaded *kept, struct mk_setup *ctx) MK_MUST_USE;

/** Which there are changes only with the server: each other one is a fault. */
void mk_plugins_refuse_programs(const struct mk_snapshot *s,
                                const struct mk_snapshot_source *source, struct mk_setup *ctx);

struct mk_loaded *mk_plugins_find(const struct mk_snapshot *s, struct mk_str name);

/**
 * Why a plugin that is named is not there, and the remedy.
 * @return a clause in the arena of the faults.
 */
const char *mk_plugin_absence(const struct mk_snapshot_source *source, struct mk_str name,
                              struct mk_setup *ctx);

/**
 * Look at the sections that are for all sites: unknown ones, those of plugins that are not there, and what the files of a
 * plugin have too are faults. Those for a plugin's own files are added to source->plugin_files.
 * @return 0 or MK_E_NOMEM.
 */
int mk_plugins_take_common(const struct mk_snapshot *s, struct mk_snapshot_source *source,
                           struct mk_setup *ctx) MK_MUST_USE;

/**
 * Look at the sections of a site: unknown ones, and those of plugins that are not there, are faults. What source->common
 * has for sites is added.
 * @return 0 or MK_E_NOMEM.
 */
int mk_plugins_check_sections(const struct mk_snapshot *s, const struct mk_snapshot_source *source,
                              struct mk_tree *site, struct mk_setup *ctx) MK_MUST_USE;

/** Walk the names of plugins that are known but not loaded. @param at  mk_known_sections at first. @return NULL after the last. */
const char *mk_plugins_not_loaded(const struct mk_snapshot *s, const char **at);

/** Files of such a plugin may lie ready; a section of them that sets something is a warning. */
void mk_plugins_warn_unused(const struct mk_tree *files, const char *plugin,
                            struct mk_faults *faults);

/** Sections into structs; then check, check_match and check_site, routes and hooks. @return 0 or MK_E_NOMEM. */
int mk_plugins_check(struct mk_snapshot *s, struct mk_snapshot_source *source,
                     struct mk_setup *ctx) MK_MUST_USE;

/** Fill the drafts: the first half of mk_plugins_check. */
int mk_plugins_fill(struct mk_snapshot *s, struct mk_snapshot_source *source,
                    struct mk_setup *ctx) MK_MUST_USE;

/** Is it a key of a loaded plugin in [HOST] and [LOCATION]? */
bool mk_plugins_have_key(const struct mk_snapshot *s, struct mk_str key);

/** Compile an expression. @return 0, MK_E_INVALID (noted at the place) or MK_E_NOMEM. */
int mk_plugin_compile(struct mk_setup *ctx, struct mk_pattern *match, struct mk_str pattern,
                      const struct mk_origin *at, const char *key) MK_MUST_USE;

/** Warn of an expression that is written as a glob, in quotes or as for nginx. */
void mk_plugin_warn_of_pattern(struct mk_setup *ctx, struct mk_str pattern,
                               const struct mk_origin *at, const char *key);

/** Add a route to one of the lists of a check. @return 0, MK_E_INVALID (noted at the place) or MK_E_NOMEM. */
int mk_plugin_add_route(struct mk_setup *ctx, struct mk_route_list *list, struct mk_str pattern,
                        void *data, const struct mk_origin *at, const char *key) MK_MUST_USE;

#endif
