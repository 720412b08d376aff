/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETTINGS_FIELD_H
#define MK_SETTINGS_FIELD_H

#include "settings/fault.h"

#include <monkey/settings.h>

/*
 * Tables of typed fields. One row gives parsing, the range check, the default, the dump and the
 * manual; behaviour never parses text.
 */

/** Add a copy of a word to a list. @return 0 or MK_E_NOMEM. */
int mk_words_append(struct mk_words *words, struct mk_arena *arena, struct mk_str word) MK_MUST_USE;

/** What a CUSTOM parser gets besides the setting. */
struct mk_setup {
    struct mk_arena *arena; /* for what must live as long as the settings */
    struct mk_faults *faults;
    const char *section; /* name, for messages; set by defaults and apply */
    void *settings;      /* the struct being filled; set by defaults and apply */
    const char *dir; /* where relative paths begin that were read from a file; NULL: they stay */
    void *arg;       /* the caller's */
};

/** Fill a settings struct with the defaults of its table. @return 0 or MK_E_NOMEM. */
int mk_fields_defaults(const struct mk_section_spec *spec, void *settings,
                       struct mk_setup *ctx) MK_MUST_USE;

/**
 * Read all settings of one section into a struct that already has defaults. Every fault goes to
 * ctx->faults: unknown key with the nearest name, a second occurrence (naming the line of the
 * first), a value of the wrong type or out of range (saying what was expected).
 * @return 0 (look at ctx->faults->count), or MK_E_NOMEM.
 */
int mk_fields_apply(const struct mk_section_spec *spec, const struct mk_section *section,
                    void *settings, struct mk_setup *ctx) MK_MUST_USE;

/**
 * What a site's section says together with what it leaves unsaid and the file's section says; by the
 * keys that are written, not by their values. Apply it in place of either. Keys that a table for [LOCATION] does not have
 * are those of others.
 * @param section, file  NULL: nothing was written there
 * @param arena          for the settings of merged, which are copies
 * @param merged         zeroed by the caller
 * @return 0 or MK_E_NOMEM.
 */
int mk_fields_inherit(const struct mk_section_spec *spec, const struct mk_section *section,
                      const struct mk_section *file, struct mk_arena *arena,
                      struct mk_section *merged) MK_MUST_USE;

/** Does a table have a row for this key? */
bool mk_fields_have(const struct mk_section_spec *spec, struct mk_str key);

/**
 * A table with rows of our size, whatever header it was built with: members that it lacks are zero.
 * @return given itself when nothing differs; NULL without memory.
 */
const struct mk_section_spec *mk_section_spec_ours(const struct mk_section_spec *given,
                                                   struct mk_arena *arena) MK_MUST_USE;

/**
 * Note a fault for each section of the tree whose name is none of specs, with the nearest name.
 * A section that is not repeatable but appears again continues the first: its settings move to the
 * end of the first one's and the section leaves the tree. Call it before mk_fields_apply.
 */
void mk_sections_check(struct mk_tree *t, const struct mk_section_spec *const *specs, size_t nspecs,
                       struct mk_faults *faults);

/** The setting of a section (NULL allowed) that gives this field its value (for repeated ones the first); NULL: default. */
const struct mk_setting *mk_field_source(const struct mk_field *f,
                                         const struct mk_section *section);

/**
 * The value of a field as it would be written in a file; it reads back to the same. "" when unset and
 * for CUSTOM, whose settings come from the section as written. NULL without memory.
 */
char *mk_field_format(const struct mk_field *f, const void *settings, struct mk_arena *arena);

/* The single readers, for CUSTOM parsers and the command line. Each @return 0, MK_E_BAD (not of that form) or MK_E_LIMIT (overflow). */
int mk_read_bool(struct mk_str s, bool *value) MK_MUST_USE;
int mk_read_size(struct mk_str s, int64_t unit, int64_t *bytes) MK_MUST_USE;
int mk_read_time(struct mk_str s, int64_t *ms) MK_MUST_USE;

/** What a value that was refused may have come from, to go behind a sentence: a comment or quotes; "" for neither. */
const char *mk_value_hint(struct mk_str value);

/**
 * The name nearest to a misspelt one: at most a third of its letters differ, transpositions count once.
 * @param names  NULL-terminated
 * @return one of names, or NULL when none is near.
 */
const char *mk_nearest_name(struct mk_str wrong, const char *const *names);

#endif
