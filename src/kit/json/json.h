/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_H
#define KIT_JSON_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * A reader of small JSON texts (RFC 8259), in place: it allocates nothing, and values are slices of the text. The text is
 * checked as a whole first, so the functions that walk it meet no error. Pure: any thread.
 */

enum { JSON_DEPTH_MAX = 16, JSON_MEMBERS_MAX = 64 };

enum json_kind {
    JSON_NONE, /* there is no such value */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/** text: as written; of strings without their quotes, of arrays and objects without their brackets. Borrowed. */
struct json {
    enum json_kind kind;
    struct mk_str text;
};

/**
 * Check that a text is one JSON value in UTF-8 with nothing after it.
 * @return it; JSON_NONE: it is not, or an object has a name twice or more than JSON_MEMBERS_MAX members, or arrays and
 *         objects lie more than JSON_DEPTH_MAX deep.
 */
struct json json_parse(struct mk_str text);

/** The member of that name of an object. Names that are written with escapes are not found. */
struct json json_member(struct json object, const char *name);

/** Cut the next item off what is left of an array. @param rest  at first the array's text. @return JSON_NONE: none is left. */
struct json json_next(struct mk_str *rest);

/**
 * The characters of a string, its escapes decoded.
 * @param dst  room for string.text.len bytes
 * @return them, in dst; {NULL, 0}: it is no string, or has U+0000 in it.
 */
struct mk_str json_string(struct json string, char *dst);

/** A number as seconds since 1970 or another count, cut to whole ones. @return false: no number, or not in [0, 2^53]. */
bool json_count(struct json number, int64_t *count);

#endif
