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
    bool
        is_late; /* its value is that of the end: of a tunnel it is not known when the request ends */
};

/** A field of a line that is written later. */
struct logger_gap {
    size_t at; /* bytes of the line before it */
    logger_piece_fn put;
    uint8_t style;
};

struct logger_gaps {
    size_t count;
    struct logger_gap all[LOGGER_PIECES_MAX];
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

/**
 * Write what is known of a line when its request ends but its tunnel does not: all but times, bytes and whether it is whole.
 * @param gaps  out: the fields that are left out. When t->full is set afterwards, none behind what fitted
 */
void logger_format_early(const struct logger_format *f, const struct logger_entry *e,
                         struct logger_text *t, struct logger_gaps *gaps);

/**
 * Write the whole line.
 * @param early  what logger_format_early wrote
 * @param gaps   ngaps of them, in their order
 * @param e      facts->body_sent, body_received and whole, time, day, zone, wall_ms and duration_ms; nothing else is looked at
 */
void logger_format_late(struct mk_str early, const struct logger_gap *gaps, size_t ngaps,
                        const struct logger_entry *e, struct logger_text *t);

#endif
