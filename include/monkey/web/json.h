/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_JSON_H
#define MONKEY_WEB_JSON_H

/*
 * JSON written piece by piece, without a tree (RFC 8259).
 *
 *     struct mk_json j;
 *
 *     mk_json_begin_reply(&j, r, 65536);
 *     mk_json_object(&j);
 *     mk_json_key(&j, MK_STR("name"));
 *     mk_json_text(&j, name);
 *     mk_json_close(&j);
 *     return mk_reply_json(r, 200, &j);
 *
 * Commas and colons are the library's. The first call that fails is remembered, and later ones do nothing: check once, at the
 * end. What would not be one JSON text is MK_E_INVALID: a value without a key in an object, a key elsewhere, a second text, an
 * end without a beginning. Any thread, one at a time.
 */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MK_JSON_DEPTH = 64 }; /* objects and arrays in each other; more: MK_E_LIMIT */

struct mk_json;

/**
 * Make room when the buffer is full: write p[0..len) elsewhere and set len to 0, or set p and size to a larger copy.
 * @param needed  bytes that p must have room for behind len
 * @return 0, or an error, which mk_json_end returns.
 */
typedef int (*mk_json_room_fn)(struct mk_json *j, size_t needed, void *arg);

/** A text that is being written. */
struct mk_json {
    char *p; /* the bytes so far, or those since the last mk_json_room_fn */
    size_t len, size;
    int error; /* the first; 0: none */
    /* the library's own */
    mk_json_room_fn room;
    void *arg;
    size_t max;
    uint64_t arrays; /* a bit for each open one, the innermost lowest: array, not object */
    uint16_t depth;
    uint8_t place, after;
    uint64_t
        *outer; /* of arrays, what is more than 64 levels out; NULL: there are no more levels */
    uintptr_t reserved[1];
};

/**
 * Begin a text in a buffer of the caller's.
 * @param room  NULL: a text that is too long is MK_E_LIMIT. It is asked for at most 4 KB at a time
 */
MK_API void mk_json_begin(struct mk_json *j, char *p, size_t size, mk_json_room_fn room, void *arg);

/** Begin a text of at most max bytes in memory that lives until the request ends. On the request's worker. */
MK_API void mk_json_begin_reply(struct mk_json *j, struct mk_request *r, size_t max);

/** Begin an object, or an array, as the next value. */
MK_API void mk_json_object(struct mk_json *j);
MK_API void mk_json_array(struct mk_json *j);
/** End the innermost object or array. */
MK_API void mk_json_close(struct mk_json *j);

/** The name of the next value of an object. Whether it was there before is not checked. */
MK_API void mk_json_key(struct mk_json *j, struct mk_str name);

/** A string. Each byte that is not part of valid UTF-8 becomes U+FFFD. An absent one (p NULL) is null. */
MK_API void mk_json_text(struct mk_json *j, struct mk_str text);
MK_API void mk_json_int(struct mk_json *j, int64_t n);
MK_API void mk_json_uint(struct mk_json *j, uint64_t n);
/** The shortest of 15, 16 or 17 digits that reads back as the same number, whatever the locale; null for infinities and NaN. */
MK_API void mk_json_number(struct mk_json *j, double n);
MK_API void mk_json_bool(struct mk_json *j, bool b);
MK_API void mk_json_null(struct mk_json *j);
/** A value that is JSON already, copied unseen. Not empty. */
MK_API void mk_json_raw(struct mk_json *j, struct mk_str json);

/** @return 0: p[0..len) is the text, or its last part; an error: the first that happened, MK_E_INVALID for an incomplete text. */
MK_API int mk_json_end(struct mk_json *j) MK_MUST_USE;

/** End a text of mk_json_begin_reply and answer with it as application/json; with 500, and a line in the error log, if it has an error. */
MK_API enum mk_verdict mk_reply_json(struct mk_request *r, unsigned status, struct mk_json *j);

#ifdef __cplusplus
}
#endif

#endif
