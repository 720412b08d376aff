/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_TEMPLATE_H
#define DIRLISTING_TEMPLATE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/*
 * A text with tags `%_name_%`, cut into pieces once, when the configuration is read.
 */

/* name, where it may stand. JSON is for the listing as JSON, which no theme makes. */
#define DIRLISTING_TAGS(X)                                                                         \
    X(HTML_TITLE, html_title, PAGE)                                                                \
    X(THEME_PATH, theme_path, PAGE)                                                                \
    X(PATH_LINKS, path_links, PAGE)                                                                \
    X(PARENT_STATE, parent_state, PAGE)                                                            \
    X(NAME_LINK, name_link, PAGE)                                                                  \
    X(NAME_ORDER, name_order, PAGE)                                                                \
    X(TIME_LINK, time_link, PAGE)                                                                  \
    X(TIME_ORDER, time_order, PAGE)                                                                \
    X(SIZE_LINK, size_link, PAGE)                                                                  \
    X(SIZE_ORDER, size_order, PAGE)                                                                \
    X(NOTE, note, PAGE)                                                                            \
    X(SUMMARY, summary, PAGE)                                                                      \
    X(TARGET_TITLE, target_title, ENTRY)                                                           \
    X(TARGET_URL, target_url, ENTRY)                                                               \
    X(TARGET_NAME, target_name, ENTRY)                                                             \
    X(TARGET_TIME, target_time, ENTRY)                                                             \
    X(TARGET_SIZE, target_size, ENTRY)                                                             \
    X(TARGET_BYTES, target_bytes, ENTRY)                                                           \
    X(TARGET_TYPE, target_type, ENTRY)                                                             \
    X(JSON_PATH, json_path, JSON)                                                                  \
    X(JSON_SORT, json_sort, JSON)                                                                  \
    X(JSON_ORDER, json_order, JSON)                                                                \
    X(JSON_SORTED, json_sorted, JSON)                                                              \
    X(JSON_COMMA, json_comma, JSON)                                                                \
    X(JSON_NAME, json_name, JSON)                                                                  \
    X(JSON_SIZE, json_size, JSON)                                                                  \
    X(JSON_TIME, json_time, JSON)

enum dirlisting_tag {
    DIRLISTING_TEXT,    /* no tag: the text itself */
    DIRLISTING_UNKNOWN, /* looks like one */
#define DIRLISTING_TAG_ENUM(id, name, place) DIRLISTING_##id,
    DIRLISTING_TAGS(DIRLISTING_TAG_ENUM)
#undef DIRLISTING_TAG_ENUM
};

/** Which tags a text may have. */
enum dirlisting_place {
    DIRLISTING_PAGE = 1,  /* above and below the entries */
    DIRLISTING_ENTRY = 2, /* one entry */
    DIRLISTING_JSON = 4,
};

struct dirlisting_piece {
    struct mk_str text; /* borrowed from what was cut; of a tag the tag itself */
    enum dirlisting_tag tag;
};

struct dirlisting_template {
    struct dirlisting_piece *pieces;
    size_t count;
};

/** What is wrong with a text. */
struct dirlisting_fault {
    struct mk_str tag; /* borrowed from the text */
    unsigned line, column;
    struct mk_str line_text;
    bool known; /* there is such a tag, but not here */
};

/**
 * Find the next piece: text up to a tag, or a tag. `%_` that no word of small letters, digits and underlines
 * with `_%` follows is text.
 * @param at  in: 0 at first; out: for the next call
 * @return false behind the last.
 */
bool dirlisting_template_next(struct mk_str text, size_t *at, struct dirlisting_piece *piece);

/**
 * How many pieces has it, and are they allowed there?
 * @param places  enum dirlisting_place bits
 * @return the count, or MK_E_INVALID with *fault filled in.
 */
ssize_t dirlisting_template_check(struct mk_str text, unsigned places,
                                  struct dirlisting_fault *fault) MK_MUST_USE;

/** Does the text say this tag? */
bool dirlisting_template_has(const struct dirlisting_template *t, enum dirlisting_tag tag);

/**
 * Cut a text that was checked.
 * @param pieces  room for as many as the check counted; kept
 */
void dirlisting_template_cut(struct dirlisting_template *t, struct mk_str text,
                             struct dirlisting_piece *pieces);

#endif
