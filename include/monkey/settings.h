/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_SETTINGS_H
#define MONKEY_SETTINGS_H

/*
 * Settings as tables. A row names a key, its type, its range and the member of a struct that it
 * fills. Parsing, errors with line and column, the nearest name in `--test`, `--dump` and the check of the
 * manual all use this row. The rest of the code never parses text.
 *
 *     struct hello_settings {
 *         const char *greeting;
 *         int64_t times;
 *     };
 *
 *     static const struct mk_field hello_fields[] = {
 *         {.name = "Greeting", .type = MK_FIELD_STRING,
 *          .offset = offsetof(struct hello_settings, greeting), .fallback = "Hello"},
 *         {.name = "Times", .type = MK_FIELD_INT,
 *          .offset = offsetof(struct hello_settings, times), .min = 1, .max = 10, .fallback = "1"},
 *     };
 *     static const struct mk_section_spec hello_section =
 *         MK_SECTION("HELLO", MK_SECTION_SITE, struct hello_settings, hello_fields);
 */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A configuration while it is read and checked: its memory, and the errors found so far. */
struct mk_setup;

/** The place of a text. For values that do not come from a file, file is a phrase such as "command line" and line is 0. */
struct mk_origin {
    const char *file;   /* terminated; lives as long as the configuration is checked */
    unsigned line;      /* from 1; 0: no line */
    unsigned column;    /* from 1, in bytes; 0: no column */
    struct mk_str text; /* the line itself, for messages */
};

/** One line `Key value`. The texts live until the check has ended; copy those that are kept. */
struct mk_setting {
    struct mk_setting *next;  /* of the same section */
    struct mk_str key, value; /* value trimmed; both terminated by a NUL after len */
    struct mk_origin key_at, value_at;
};

enum mk_field_type {
    MK_FIELD_BOOL, /* bool: on off yes no true false, any case */
    MK_FIELD_INT,  /* int64_t in [min, max] */
    MK_FIELD_SIZE, /* int64_t, bytes: a number with optional B K M G (times 1024); see MK_FIELD_KB */
    MK_FIELD_TIME, /* int64_t, milliseconds: a number with optional ms s m h d; bare: seconds */
    MK_FIELD_ENUM, /* int: index into names; any case */
    /* const char *: the value, terminated, never empty; NULL: unset and without default */
    MK_FIELD_STRING,
    MK_FIELD_WORDS,  /* struct mk_words: blank-separated list; a repeated key appends */
    MK_FIELD_CUSTOM, /* parse decides; called for each occurrence */
    /* const char *, as STRING. A relative path from a file begins at the configuration directory, unless it is one
     * of names. With MK_FIELD_REPEAT: struct mk_words, one path a line */
    MK_FIELD_PATH,
};

enum mk_field_flags {
    MK_FIELD_REPEAT = 1,  /* WORDS, PATH, CUSTOM: repeatable in a section; otherwise an error */
    MK_FIELD_RESTART = 2, /* a reload cannot change it, and reports a change */
    MK_FIELD_ANY_KEY = 4, /* CUSTOM: takes every key of the section that no other row names */
    MK_FIELD_KB = 8,      /* SIZE: a number without a unit counts KB, not bytes */
};

/** A list of words; items are terminated copies that live as long as the settings. */
struct mk_words {
    struct mk_str *items;
    size_t count;
};

struct mk_field {
    const char *name;     /* the canonical spelling */
    const char *alias;    /* another accepted spelling, or NULL */
    uint8_t type;         /* enum mk_field_type */
    uint8_t flags;        /* enum mk_field_flags */
    uint16_t offset;      /* of the member in the settings struct */
    uint32_t min;         /* INT, SIZE (bytes), TIME (ms) */
    int64_t max;          /* likewise; 0: no bound but the type's (never negative) */
    const char *fallback; /* default as it would be written in a file; NULL: zero or unset */
    __extension__ union {
        /* ENUM: NULL-terminated words; PATH: words that are not paths, or NULL */
        const char *const *names;
        /** CUSTOM: @return 0, or MK_E_INVALID after noting an error, or MK_E_NOMEM. */
        int (*parse)(struct mk_setup *setup, const struct mk_setting *s);
    };
};

enum mk_section_flags {
    MK_SECTION_FILE = 1, /* may stand in the plugin's own files, plugins/NAME/ */
    MK_SECTION_SITE = 2, /* may stand in a site's file */
    /* each such section has a struct of its own; otherwise a second section continues the first */
    MK_SECTION_REPEAT = 4,
    /* FILE and SITE: keys that a site's section does not have are taken from the file's section */
    MK_SECTION_INHERIT = 8,
    /**
     * Alone: keys of the plugin for [HOST] and [LOCATION] of sites, beside those of the server. A location inherits what
     * it leaves unsaid; check_site is called for each location, too, and sees what holds there. One such section a plugin,
     * listed before those for sites.
     */
    MK_SECTION_LOCATION = 16,
};

/** A kind of section: its name, its fields and the struct they fill. */
struct mk_section_spec {
    size_t size;       /* sizeof(struct mk_section_spec) */
    size_t field_size; /* sizeof(struct mk_field) */
    const char *name;
    const struct mk_field *fields;
    size_t nfields;
    size_t settings_size; /* of the struct, which begins zeroed with the defaults filled in */
    unsigned flags;       /* enum mk_section_flags */
    /**
     * A section of the plugin's own files with defaults for the keys of this one, as [X_DEFAULTS] for each [X]. It
     * fills the same struct, is listed before this one and has no key that this one does not have. NULL: none.
     */
    const struct mk_section_spec *base;
};

/** A section's row: a table of fields and the struct that they fill. */
#define MK_SECTION(section, section_flags, type, table)                                            \
    {                                                                                              \
        .size = sizeof(struct mk_section_spec), .field_size = sizeof(struct mk_field),             \
        .name = (section), .fields = (table), .nfields = sizeof(table) / sizeof((table)[0]),       \
        .settings_size = sizeof(type), .flags = (section_flags)                                    \
    }

/* ---- for CUSTOM parsers and for a plugin's check ---- */

/** @return the struct to fill. In a CUSTOM parser only. */
MK_API void *mk_setup_settings(const struct mk_setup *setup);

/** @return zeroed memory that lives as long as the settings, or NULL. */
MK_API void *mk_setup_alloc(struct mk_setup *setup, size_t size) MK_MUST_USE;

/** @return a terminated copy that lives as long as the settings; {NULL, 0} without memory. */
MK_API struct mk_str mk_setup_copy(struct mk_setup *setup, struct mk_str text) MK_MUST_USE;

/** Note the error "Key: expected EXPECTED, got ..." at the value. @return MK_E_INVALID. */
MK_API int mk_setup_refuse(struct mk_setup *setup, const struct mk_setting *s,
                           const char *expected);

/** @return the nearest of names (NULL-terminated) to a misspelt word, for "did you mean"; NULL: none is near. */
MK_API const char *mk_setup_nearest(struct mk_str word, const char *const *names);

/**
 * Note an error; the configuration will not be used.
 * @param at  the place to show; NULL: none
 * @param fmt one sentence without full stop
 */
MK_API void mk_setup_fault(struct mk_setup *setup, const struct mk_origin *at, const char *fmt, ...)
    MK_PRINTF(3, 4);
/** Note a warning; the configuration can be used. */
MK_API void mk_setup_warn(struct mk_setup *setup, const struct mk_origin *at, const char *fmt, ...)
    MK_PRINTF(3, 4);

/* ---- patterns of paths: monkey.conf(5) ---- */

/** Never changes, so that all threads share it; lives as long as the settings. */
struct mk_pattern;

/**
 * The pattern in a key that takes a path: a text that begins with `^` is a regular expression as in Match, a text with `*` a
 * glob, which is compared with the whole path, or without a slash in it with the last segment. Both ignore case. A text
 * that is written like neither but could only be meant so is an error.
 * @param at       where it was written, for messages; NULL: nowhere
 * @param key      the key, for messages
 * @param pattern  out: NULL: the text is a plain path, with the meaning that the key gives it
 * @return 0, MK_E_INVALID (the error is noted) or MK_E_NOMEM.
 */
MK_API int mk_setup_pattern(struct mk_setup *setup, const struct mk_origin *at, const char *key,
                            struct mk_str text, const struct mk_pattern **pattern) MK_MUST_USE;

/** Does a decoded path match? In one pass over it, whatever the pattern is. Any thread. */
MK_API bool mk_pattern_is_of(const struct mk_pattern *pattern, struct mk_str path);

#ifdef __cplusplus
}
#endif

#endif
