/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_TREE_H
#define MK_DUDA_JSON_TREE_H

/*
 * JSON texts and trees, for the package and for objects of the plugin: RFC 8259. A tree belongs to one thread at a time. Trees
 * are in memory of json_memory, which is set before the first call. Calls accept NULL for an item.
 */

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_api.h"

#include "kit/json/number.h"
#include "kit/json/character.h"
#include "packages/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    JSON_DEPTH_MAX =
        512, /* arrays and objects within each other, read or printed: RFC 8259 section 9 */
    JSON_TYPE = 0xff, /* bits of json_t.type without cJSON_IsReference */
};

extern const struct duda_api_mem *json_memory;

/** @return an item without members, owned by the caller; NULL: no memory. */
json_t *json_new(int type);
json_t *json_new_number(double number);
/** Give an item both of its numbers. */
void json_set_number(json_t *item, double number);
/** @param text  copied; NULL: none, then there is no item. */
json_t *json_new_string(const char *text);

/** Make an item, which is in no list, the last one of a list. It now belongs to the list. */
void json_add(json_t *list, json_t *item);
/** The same under a key, which is copied. Without memory for the key the item is added without. */
void json_add_member(json_t *object, const char *key, json_t *item);

/** Free an item and all below it, however deep, but not what follows it in its list. */
void json_delete(json_t *item);

/** @return how many items a list has. */
int json_size(json_t *list);
/** @return item number index of a list, from 0; NULL: there is none. */
json_t *json_item(json_t *list, int index);
/** @return the first member of this key, which ignores the case of ASCII; NULL: there is none. */
json_t *json_member(json_t *object, const char *key);

/**
 * Read a text. Refused are ill-formed UTF-8, half surrogate pairs, U+0000 in strings (they are C strings), numbers beyond a
 * double, more than JSON_DEPTH_MAX levels, and anything but blanks after the value.
 * @param text  len bytes, borrowed for this call; it needs no end mark
 * @param stop  where reading stopped: the error, or the end
 * @return the tree, owned by the caller; NULL: an error, or no memory
 */
json_t *json_parse(const char *text, size_t len, const char **stop);

/** The same with a reason. @param fault  set when NULL is returned; may be NULL */
json_t *json_parse_text(const char *text, size_t len, int options, struct json_fault *fault);

/** What a text may have at most. */
struct json_bounds {
    unsigned depth; /* arrays and objects within each other; at most JSON_DEPTH_MAX */
    size_t values;  /* of all kinds together */
};
/** The same for a text from elsewhere. @param bounds  NULL: JSON_DEPTH_MAX levels, any number of values */
json_t *json_parse_within(const char *text, size_t len, int options,
                          const struct json_bounds *bounds, struct json_fault *fault);

/** @return 1: no key is in the object twice; 0; -1: no memory. */
int json_has_unique_keys(json_t *object);

/**
 * Print a tree.
 * @param is_indented  members on lines of their own, with tabs
 * @return the text, owned by the caller; NULL: no memory, or more than JSON_DEPTH_MAX levels
 */
char *json_print(const json_t *item, bool is_indented);

/** @return whether a double may be another integer than its digits say, or they none: valuestring has them then. */
bool json_needs_digits(double number, const struct json_number *digits);
/** @return the digits of an integer of 64 bits that may not be exact as a double, borrowed from it; NULL: valuedouble says all. */
const char *json_digits(const json_t *number);
json_t *json_new_int64(int64_t value);
json_t *json_new_uint64(uint64_t value);
/** Exactly, by the digits of the text: nothing is rounded. @return 0; -1: it is no number, has a fraction, or is out of range. */
int json_int64(const json_t *item, int64_t *value);
int json_uint64(const json_t *item, uint64_t *value);

/** @return a copy of memory of json_memory; NULL without. */
char *json_copy_text(const char *text);
/** @return a copy of an item and all below it; NULL: no memory, or more than JSON_DEPTH_MAX levels. */
json_t *json_copy(const json_t *item);

json_t *json_pointer(json_t *item, const char *path);
json_t *json_merge_patch(const json_t *target, const json_t *patch);

/** The calls of the streaming writer, as packages/json/json.h has them. */
json_writer_t *json_writer_new(json_put_fn put, void *user);
void json_write_object(json_writer_t *w);
void json_write_array(json_writer_t *w);
void json_write_close(json_writer_t *w);
void json_write_key(json_writer_t *w, const char *key);
void json_write_string(json_writer_t *w, const char *text);
void json_write_number(json_writer_t *w, double number);
void json_write_int64(json_writer_t *w, int64_t number);
void json_write_bool(json_writer_t *w, int b);
void json_write_null(json_writer_t *w);
void json_write_item(json_writer_t *w, const json_t *item);
void json_write_raw(json_writer_t *w, const char *text, size_t len);
/** Have finish(user) called by json_writer_end() for a text that is whole and put; its result is that of the end. */
void json_writer_finish(json_writer_t *w, int (*finish)(void *user));
int json_writer_end(json_writer_t *w);

#endif
