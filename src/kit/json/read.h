/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_READ_H
#define KIT_JSON_READ_H

/*
 * JSON read token by token, from a text that may come in pieces: RFC 8259, and nothing that it does not have. What libmonkey-web
 * and services of Duda read passes here. No recursion and no allocation; a reader is of one thread at a time.
 */

#include <monkey/web/json_read.h>

#include "kit/json/number.h"
#include "kit/json/character.h"

enum { JSON_READ_DEPTH = MK_JSON_READ_DEPTH };

/** A text that is being read. The caller may move to, room_end and the bounds between tokens. */
struct json_read {
    /* of the last token */
    struct mk_str
        text; /* of a string or key: its characters, in the room; of a number: as written */
    struct json_number number; /* of a number: text, scanned */
    /* of the first error */
    int error;          /* MK_E_BAD, MK_E_LIMIT, MK_E_INVALID; 0: none */
    const char *reason; /* static */
    /* where strings go, and pieces of what goes on in the next piece of the text */
    char *to, *room_end;
    /* bounds */
    unsigned depth_max;
    size_t values_left;
    uint64_t bytes_left;
    bool refuses_nul; /* U+0000 in strings, for callers who end them with it */
    /* the reader's own */
    const char *p, *begin, *end; /* the piece */
    uint64_t before;             /* bytes of the pieces before it */
    const char *word;            /* null, true or false of which word_len bytes were there */
    uint64_t objects[JSON_READ_DEPTH / 64];
    uint16_t depth;
    uint8_t state, part, word_len, carried;
    bool is_last, is_key, is_in_object;
    char carry[JSON_CHARACTER_MAX]; /* of a character that goes on */
};

/** Begin a text. The bounds may be changed then. @param room  where strings go */
void json_read_begin(struct json_read *r, char *room, size_t size);

/** Give the next piece, when the one before is read: borrowed until then. @param is_last  nothing follows */
void json_read_feed(struct json_read *r, struct mk_str piece, bool is_last);

/** @return the kind of the next token; MK_JSON_END: the text is whole; MK_E_AGAIN: a piece is wanted; r->error */
int json_read_next(struct json_read *r);

/** Use the room anew, unless a token goes on in it. */
void json_read_reuse(struct json_read *r, char *room);

/** Note an error that the caller sees, unless there is one. @return it */
int json_read_fail(struct json_read *r, int error, const char *reason);

/** @return how many bytes of the text were read, up to the error if there is one. */
static inline uint64_t json_read_offset(const struct json_read *r)
{
    return r->before + (uint64_t)(r->p - r->begin);
}

/** Where in a text an offset is. @param line  from 1 @param column  characters, from 1 */
void json_read_place(struct mk_str text, size_t offset, unsigned *line, unsigned *column);

#endif
