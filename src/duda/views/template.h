/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_VIEWS_TEMPLATE_H
#define MK_DUDA_VIEWS_TEMPLATE_H

/*
 * A template of a page, read once. Partials are part of it then, so nothing is looked for when a page is made.
 *
 *     {{name}}  {{#name}}...{{/name}}  {{^name}}...{{/name}}  {{> file}}  {{raw name}}  {{! comment}}
 */

#include <monkey/types.h>

#include <stddef.h>

enum {
    MK_DUDA_VIEW_BYTES = 1 << 20, /* of a template with its partials */
    MK_DUDA_VIEW_STEPS = 20000,
    MK_DUDA_VIEW_NAME = 64,
    MK_DUDA_VIEW_SECTIONS = 16, /* in each other */
    MK_DUDA_VIEW_PARTIALS = 8,  /* likewise */
    MK_DUDA_VIEW_WHY = 200,
};

enum mk_duda_step_kind {
    MK_DUDA_STEP_TEXT,
    MK_DUDA_STEP_VALUE,
    MK_DUDA_STEP_URL, /* a value that is the beginning of a URL */
    MK_DUDA_STEP_RAW,
    MK_DUDA_STEP_SECTION,
    MK_DUDA_STEP_INVERTED,
    MK_DUDA_STEP_END, /* of either */
};

struct mk_duda_step {
    enum mk_duda_step_kind kind;
    struct mk_str text; /* or a name */
    unsigned other;     /* of a section its end, of an end its section */
};

struct mk_duda_template {
    struct mk_duda_step *steps;
    unsigned count;
};

/** What a template is read with. */
struct mk_duda_template_room {
    void *(*alloc)(void *arg, size_t size); /* zeroed memory that lives as long as the template */
    /* The bytes of a file, in memory that lives as long; p NULL: it cannot be read. */
    struct mk_str (*read)(void *arg, const char *name);
    void *arg;
    char why[MK_DUDA_VIEW_WHY]; /* out: "index.html:12: the section ..." */
};

/** @return the template; NULL: room->why. */
const struct mk_duda_template *mk_duda_template_new(struct mk_duda_template_room *room,
                                                    const char *name) MK_MUST_USE;

#endif
