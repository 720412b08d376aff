/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_TYPE_H
#define KIT_TEXT_TYPE_H

#include <monkey/types.h>

#include <stdbool.h>

/* The types of names in patterns, "/books/:id<int>", those that fewer values have first. */
#define TEXT_TYPES(X)                                                                              \
    X(UUID, "uuid", "hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562 section 4)")      \
    X(UINT, "uint", "a decimal number that fits int64_t and has no minus")                         \
    X(INT, "int", "a decimal number that fits int64_t")                                            \
    X(HEX, "hex", "hexadecimal digits")                                                            \
    X(WORD, "word", "letters, digits, _ and -")

enum text_type {
#define TEXT_TYPE_ENUM(name, text, meaning) TEXT_TYPE_##name,
    TEXT_TYPES(TEXT_TYPE_ENUM)
#undef TEXT_TYPE_ENUM
        TEXT_TYPE_COUNT
};

/** @return the type of that name; TEXT_TYPE_COUNT: there is none. */
enum text_type text_type_named(struct mk_str name);

/** Is a value of that type? Of TEXT_TYPE_COUNT each is. */
bool text_type_fits(enum text_type type, struct mk_str value);

/** Read a decimal number, perhaps with a sign. @return false: it is none, or too large; *number is unchanged. */
bool text_int(struct mk_str text, int64_t *number);

#endif
