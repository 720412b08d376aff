/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_INPUTS_SCHEMA_H
#define MK_DUDA_INPUTS_SCHEMA_H

/* The table of the inputs of a route, checked once, when the service is loaded. */

#include "webservice.h"

#include <monkey/types.h>

#include <regex.h>
#include <stdbool.h>

enum {
    MK_DUDA_INPUT_ROWS = 64,      /* of a table; bits of struct mk_duda_values.given */
    MK_DUDA_INPUT_NAME = 64,      /* bytes of a name */
    MK_DUDA_INPUT_PATH = 8,       /* objects in each other that a name goes through */
    MK_DUDA_INPUT_SIZE = 1 << 16, /* bytes of a struct */
    MK_DUDA_INPUT_LISTS = 3,      /* lists of objects in each other */
    MK_DUDA_INPUT_PATTERN = 256,  /* bytes of a pattern */
    MK_DUDA_INPUT_CHOICES = 64,
    MK_DUDA_TEXT_USUAL = 1000, /* characters, where the table has no max */
    MK_DUDA_TEXT_MAX = 1 << 20,
    MK_DUDA_TEXT_MATCHED = 10000, /* of one with a pattern */
    MK_DUDA_LIST_USUAL = 100,
    MK_DUDA_LIST_MAX = 10000,
};

/** A regular expression of a table. */
struct mk_duda_regex {
    struct mk_duda_regex *next;
    regex_t compiled;
};

struct mk_duda_row {
    const struct duda_input *said; /* of the service */
    enum duda_in in;
    double min, max; /* with what is usual where the table says nothing; infinite: none */
    const struct mk_duda_regex *pattern; /* NULL: none */
    const struct mk_duda_rows *items;    /* of a list; one row without a name: values */
    size_t item_size;
};

struct mk_duda_rows {
    unsigned count;
    struct mk_duda_row row[];
};

struct mk_duda_schema {
    const struct duda_inputs *said;
    const struct mk_duda_rows *rows;
    bool has_form, has_body;
};

/** What a table is checked with. */
struct mk_duda_schema_room {
    void *(*alloc)(void *arg, size_t size); /* zeroed memory that lives as long as the schema */
    void *arg;
    struct mk_duda_regex
        *regexes;  /* out: for mk_duda_schema_free, also of a table that was refused */
    char why[160]; /* out: a sentence */
};

/**
 * Check a table.
 * @param methods  of the route; NULL: all
 * @param pattern  of the route, without types
 * @return the schema, which borrows the table; NULL: room->why
 */
const struct mk_duda_schema *mk_duda_schema_new(struct mk_duda_schema_room *room,
                                                const struct duda_inputs *said, const char *methods,
                                                const char *pattern) MK_MUST_USE;

/**
 * Check a table of the members of a JSON body that is sent: there is no struct, and what says nothing of a bound has the widest.
 * @return its rows; NULL: room->why
 */
const struct mk_duda_rows *mk_duda_rows_of_answer(struct mk_duda_schema_room *room,
                                                  const struct duda_input *said) MK_MUST_USE;

/** Free what regular expressions have beside memory of alloc. */
void mk_duda_schema_free(struct mk_duda_regex *regexes);

/** Is the name of a row that of the object, or of a member of it? @param len  of the name of the object */
bool mk_duda_name_is_within(const char *name, const char *object, size_t len);

/** @return the bytes of a member of this type; 0: there is no such type. */
size_t mk_duda_type_size(enum duda_type type);

#endif
