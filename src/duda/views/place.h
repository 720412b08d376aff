/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_VIEWS_PLACE_H
#define MK_DUDA_VIEWS_PLACE_H

/*
 * Where a text of HTML is, byte by byte: escaping for HTML makes a value safe in text and in quoted attributes, and nowhere else.
 * No parser: what it is not sure of is no place for values.
 */

#include <stdbool.h>

#define MK_DUDA_PLACES(X)                                                                          \
    X(TEXT, "text")                                                                                \
    X(OPEN, "a tag")                                                                               \
    X(NAME, "the name of a tag")                                                                   \
    X(TAG, "a tag")                                                                                \
    X(ATTRIBUTE, "the name of an attribute")                                                       \
    X(EQUALS, "an attribute without quotes")                                                       \
    X(DOUBLE, "an attribute")                                                                      \
    X(SINGLE, "an attribute")                                                                      \
    X(BARE, "an attribute without quotes")                                                         \
    X(BANG, "a comment")                                                                           \
    X(COMMENT, "a comment")                                                                        \
    X(RAW, "a script or style")

enum mk_duda_place_kind {
#define MK_DUDA_PLACE_ENUM(name, text) MK_DUDA_PLACE_##name,
    MK_DUDA_PLACES(MK_DUDA_PLACE_ENUM)
#undef MK_DUDA_PLACE_ENUM
};

enum { MK_DUDA_PLACE_BYTES = 16 };

struct mk_duda_place {
    enum mk_duda_place_kind kind;
    char tag[MK_DUDA_PLACE_BYTES],
        attribute[MK_DUDA_PLACE_BYTES]; /* the beginnings, in lower case */
    char last[MK_DUDA_PLACE_BYTES];     /* bytes of RAW and of comments */
    bool has_path;                      /* the value of an attribute has one of / ? # already */
    bool is_end;                        /* of an end tag */
};

/** Go on behind one byte. */
void mk_duda_place_move(struct mk_duda_place *place, char c);

enum mk_duda_fit { MK_DUDA_FIT_TEXT, MK_DUDA_FIT_URL, MK_DUDA_FIT_NONE };

/** What may a value be here? URL: the beginning of one, so its scheme matters. @param why  out: the name of the place */
enum mk_duda_fit mk_duda_place_fit(const struct mk_duda_place *place, const char **why);

/** A section has been from begin to end, or was left out: go on where both may be. @return false: they are too different */
bool mk_duda_place_join(const struct mk_duda_place *begin, struct mk_duda_place *end);

#endif
