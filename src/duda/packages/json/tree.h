/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_TREE_H
#define MK_DUDA_JSON_TREE_H

/*
 * JSON texts and trees: RFC 8259. A tree belongs to one thread at a time. Trees are in memory of json_memory, which is set
 * before the first call. Calls accept NULL for an item.
 */

#include "duda_api.h"

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

/** Read a number by its grammar in any locale. @return its end; NULL: there is none, it is too large, or no memory. */
const char *json_read_number(const char *p, const char *end, double *number);
/** Read a string behind its opening quote. @return its text; NULL: an error at *at, or no memory; else *at is behind it. */
char *json_read_string(const char **at, const char *end);

/**
 * Print a tree.
 * @param is_indented  members on lines of their own, with tabs
 * @return the text, owned by the caller; NULL: no memory, or more than JSON_DEPTH_MAX levels
 */
char *json_print(const json_t *item, bool is_indented);

enum { JSON_NUMBER_ROOM = 40 };
/** Print the shortest digits that read back as the same number, in any locale; "null" if it is none. */
void json_print_number(char text[JSON_NUMBER_ROOM], double number);

#endif
