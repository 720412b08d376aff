/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_FORMAT_H
#define LOGGER_FORMAT_H

#include "text.h"

#include <monkey/notes.h>
#include <monkey/variables.h>

/*
 * Formats of a line: a table of pieces, made once from common, combined, json with or without names of members, or
 * the text of a custom one, and run for each request. The letters are those of Apache's mod_log_config.
 */

enum {
    LOGGER_PIECES_MAX = 64,
    LOGGER_HEADERS_MAX = 16,  /* different %{NAME}i of one format */
    LOGGER_NOTES_MAX = 16,    /* different %{NAME}n of one format */
    LOGGER_FORMAT_MAX = 1024, /* bytes of its text */
    LOGGER_LONG_MAX = 1024,   /* of one field in a line: targets, paths and header fields */
    LOGGER_SHORT_MAX = 128,   /* method, user, names of hosts */
};

/** What one line tells; texts are borrowed for the call that writes it. */
struct logger_entry {
    const struct mk_request_facts *facts;
    struct mk_str peer;                             /* its address */
    struct mk_str user;                             /* p NULL: nobody */
    struct mk_str subject, tls_version, tls_cipher; /* p NULL: none */
    struct mk_str time;                             /* ready text of the format's style */
    int64_t wall_ms;                                /* since 1970; 0 unless has_ms of the format */
    struct mk_str day, zone;                        /* 2026-11-21T10:00:00 and +00:00; likewise */
    uint64_t duration_ms;
    struct mk_str headers[LOGGER_HEADERS_MAX];     /* values, in the order of the format's names */
    const struct mk_note *notes[LOGGER_NOTES_MAX]; /* likewise; NULL: there is none */
    struct mk_str variables[MK_VARIABLE_COUNT];    /* likewise */
};

struct logger_piece;
typedef void (*logger_piece_fn)(struct logger_text *t, const struct logger_entry *e,
                                const struct logger_piece *piece);

struct logger_piece {
    struct mk_str lead;  /* copied as it is before the field */
    logger_piece_fn put; /* NULL: no field */
    uint8_t style;       /* enum logger_style */
    uint8_t index;       /* of %{NAME}i, %{NAME}n and $NAME: of the name */
};

struct logger_format {
    enum logger_style style;
    bool has_ms;   /* a time with milliseconds */
    bool has_more; /* that, notes or variables */
    size_t npieces, nheaders, nnotes, nvariables;
    struct logger_piece pieces[LOGGER_PIECES_MAX];
    struct mk_str headers[LOGGER_HEADERS_MAX];
    struct mk_str notes[LOGGER_NOTES_MAX]; /* terminated */
    uint8_t variables[MK_VARIABLE_COUNT];  /* enum mk_variable */
    char texts[LOGGER_FORMAT_MAX];         /* of leads and names */
};

/**
 * Make a format.
 * @param from  common, combined, json (any case), json and names of members, or a custom one in ' or " quotes
 * @param why   out, with MK_E_INVALID: what is wrong, static
 * @return 0 or MK_E_INVALID.
 */
int logger_format_compile(struct logger_format *f, const struct mk_template *from,
                          const char **why) MK_MUST_USE;

/** Write one line with its line end. When t->full is set afterwards, what fitted stands before t->at. */
void logger_format_line(const struct logger_format *f, const struct logger_entry *e,
                        struct logger_text *t);

#endif
