/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_REPLY_H
#define CHEETAH_REPLY_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * A reply, described once as keys and values and lists of rows, and written in one of two ways:
 *
 *   words   a line `key: value` each; a list has a line of titles and a line a row
 *   JSON    one object in one line (RFC 8259); a list is an array of objects
 *
 * Bytes outside printable ASCII become \xHH in words and \u00HH in JSON, so that nothing a peer sent can
 * reach a terminal and every byte string is valid JSON.
 *
 * What does not fit into REPLY_MAX ends the lists, at a whole row, and the reply says so. Without memory
 * the reply says that. Nothing here returns an error.
 */

enum {
    REPLY_MAX = 4 << 20,
    REPLY_RESERVE = 16 << 10, /* of it not for rows */
};

/** A column of a list, for words: its title, and how wide its cells are at least. */
struct reply_column {
    const char *title;
    unsigned width;
};

struct reply {
    char *p; /* owned: malloc; NULL while empty */
    size_t len, room;
    bool json;
    bool truncated; /* rows are missing */
    bool failed;    /* no memory */
    bool
        has_member; /* the object or list that is open has something in it, so a comma comes next */
    const struct reply_column *columns; /* of the row that is open; NULL: none is */
    unsigned column;
    size_t row_at;
};

/** Begin a reply in memory that is zeroed or was freed. */
void cheetah_reply_begin(struct reply *r, bool json);
/** Complete it: p and len are bytes to send from then on; none if there was no memory at all. */
void cheetah_reply_end(struct reply *r);
/** Put a few bytes of our own behind a complete reply. */
void cheetah_reply_add(struct reply *r, const char *text);
void cheetah_reply_free(struct reply *r);

/** A key and its value; in a row that is open, its next cell. */
void cheetah_reply_text(struct reply *r, const char *key, struct mk_str value);
/** The same for a text of our own in printable ASCII, of which words show a backslash as it is. */
void cheetah_reply_own(struct reply *r, const char *key, const char *value);
void cheetah_reply_number(struct reply *r, const char *key, uint64_t value);
/** Finite, to 15 digits. */
void cheetah_reply_real(struct reply *r, const char *key, double value);

/** @param columns  as many as its rows have cells */
void cheetah_reply_list(struct reply *r, const char *key, const struct reply_column *columns,
                        unsigned ncolumns);
/** A row ends as a whole: one that does not fit is left out, and all behind it. */
void cheetah_reply_row(struct reply *r, const struct reply_column *columns);
void cheetah_reply_row_end(struct reply *r);
void cheetah_reply_list_end(struct reply *r);

/** Begin and end a reply that is one sentence: what went wrong. What was there is dropped. */
void cheetah_reply_error(struct reply *r, bool json, const char *fmt, ...) MK_PRINTF(3, 4);

/** Bytes as they are, for words only; as a row, so that they are there whole or not at all. */
void cheetah_reply_raw(struct reply *r, const char *fmt, ...) MK_PRINTF(2, 3);

#endif
