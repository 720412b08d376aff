/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_JSON_READ_H
#define MONKEY_WEB_JSON_READ_H

/*
 * JSON read (RFC 8259), as a tree or token by token. The body of a request as a tree:
 *
 *     const struct mk_json_bounds bounds = {.size = sizeof(bounds)};
 *     const struct mk_json_value *order;
 *     int64_t count;
 *     int err = mk_request_json(r, &bounds, &order, NULL);
 *
 *     if (err < 0)
 *         return mk_reply_refusal(r, err);
 *     if (mk_json_int64(mk_json_member(order, MK_STR("count")), &count) < 0)
 *         return mk_reply_refusal(r, MK_E_BAD);
 *
 * Both refuse what RFC 8259 does not have: a byte order mark (section 8.1), ill-formed UTF-8 (8.1), halves of surrogate pairs
 * (8.2), control characters in strings (7), leading zeros (6), extra commas, and anything but blanks after the value (2).
 * Trees refuse an object that has a name twice (4), as readers differ in which one counts.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MK_JSON_READ_DEPTH = 512 }; /* arrays and objects in each other, whatever the bounds say */

/** Bounds of a text; 0 stands for the value in brackets. */
struct mk_json_bounds {
    size_t size;    /* sizeof(struct mk_json_bounds) */
    unsigned depth; /* arrays and objects in each other [64] */
    size_t values;  /* of all kinds, without names [20,000]; each takes 100 bytes of a tree */
    size_t bytes;   /* of the text [1 MB] */
};

/** Where a text was refused, and why. */
struct mk_json_fault {
    size_t size;           /* sizeof(struct mk_json_fault), set by the caller */
    size_t offset;         /* bytes before it */
    unsigned line, column; /* from 1; a column is a character */
    const char *reason;    /* static; NULL: it is not the text that was refused */
};

enum mk_json_kind {
    MK_JSON_END, /* of the text */
    MK_JSON_NULL,
    MK_JSON_FALSE,
    MK_JSON_TRUE,
    MK_JSON_NUMBER,
    MK_JSON_STRING,
    MK_JSON_ARRAY,
    MK_JSON_OBJECT,
    MK_JSON_KEY,   /* a token: the name of the value that follows */
    MK_JSON_CLOSE, /* a token: the end of the innermost array or object */
};

/* ---- trees ---- */

/** A value of a tree; never changed. */
struct mk_json_value {
    enum mk_json_kind kind;
    struct mk_str name; /* of a member of an object; p NULL: it is none */
    struct mk_str
        text; /* of a string: its characters, perhaps U+0000 too; of a number: as written */
    const struct mk_json_value *first, *next,
        *parent;  /* member or item, in the order of the text */
    size_t count; /* of members or items */
};

/**
 * Read a text as a tree.
 * @param text    borrowed for this call
 * @param bounds  borrowed; NULL: as if all were 0
 * @param root    out: the caller's, for mk_json_free
 * @param fault   out; NULL: of no interest
 * @return 0; MK_E_BAD: no JSON, or an object has a name twice; MK_E_LIMIT: above a bound; MK_E_NOMEM. Any thread.
 */
MK_API int mk_json_read(struct mk_str text, const struct mk_json_bounds *bounds,
                        const struct mk_json_value **root, struct mk_json_fault *fault) MK_MUST_USE;
/** Free a whole tree of mk_json_read. NULL is allowed. */
MK_API void mk_json_free(const struct mk_json_value *root);

/**
 * Read the body of a request as a tree. Call it again when the hook is called again after MK_VERDICT_LATER; after the end it
 * gives the same tree. Body and tree count for MaxMemory.
 * @param bounds  borrowed; those of the first call hold. MaxBodySize of the site holds beside them
 * @param root    out: the request's, freed with it
 * @param fault   out; NULL: of no interest
 * @return 0; MK_E_AGAIN: return MK_VERDICT_LATER; MK_E_UNSUPPORTED: Content-Type is not JSON, or there is a Content-Encoding;
 *         MK_E_BAD: no body, or as mk_json_read; MK_E_LIMIT; MK_E_NOMEM; or as mk_request_read. mk_reply_refusal answers.
 */
MK_API int mk_request_json(struct mk_request *r, const struct mk_json_bounds *bounds,
                           const struct mk_json_value **root,
                           struct mk_json_fault *fault) MK_MUST_USE;

/** @return the member of that name of an object, in exact case; NULL: there is none, or it is no object. */
MK_API const struct mk_json_value *mk_json_member(const struct mk_json_value *object,
                                                  struct mk_str name);
/**
 * The double nearest to a number (RFC 8259 section 6), which is 0 for one too small for others, as 1e-999.
 * @return 0; MK_E_BAD: it is none; MK_E_LIMIT: beyond the largest, as 1e999
 */
MK_API int mk_json_double(const struct mk_json_value *value, double *number) MK_MUST_USE;
/**
 * An integer by its digits, exactly: 1000, 1e3 and 1000.0 are one. Nothing is rounded.
 * @return 0; MK_E_BAD: it is none, or has a fraction, as 1e-999; MK_E_LIMIT: it does not fit
 */
MK_API int mk_json_int64(const struct mk_json_value *value, int64_t *number) MK_MUST_USE;

struct mk_json;
/** Write a tree as the next value, its numbers as they were. NULL is null. */
MK_API void mk_json_tree(struct mk_json *j, const struct mk_json_value *value);

/* ---- tokens ---- */

/** A text that is read token by token, in pieces of any size. */
struct mk_json_reader {
    struct mk_str text; /* of a string, key or number, as in a tree; until the next call */
    int error;          /* the first; 0: none */
    uint64_t offset;    /* bytes that were read */
    const char *reason; /* of the error; static */
    uint64_t own[48];   /* the library's own */
};

/**
 * Begin a text. Nothing is allocated, so there is no end. Names that an object has twice are not found.
 * @param r     the caller's; it stays where it is
 * @param room  for one string, key or number, which is MK_E_LIMIT if it is longer. Borrowed
 */
MK_API void mk_json_reader_begin(struct mk_json_reader *r, const struct mk_json_bounds *bounds,
                                 char *room, size_t size);
/**
 * Give the next piece of the text, first and whenever mk_json_reader_next gives MK_E_AGAIN.
 * @param piece    borrowed until then
 * @param is_last  nothing follows; the piece may be empty
 */
MK_API void mk_json_reader_feed(struct mk_json_reader *r, struct mk_str piece, bool is_last);
/** @return the mk_json_kind of the next token; MK_JSON_END, which is 0; MK_E_AGAIN; or an error, then always the same. */
MK_API int mk_json_reader_next(struct mk_json_reader *r) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
