/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_DOC_H
#define MK_DUDA_JSON_DOC_H

/*
 * The memory of the tree of one text: items are in few large pieces, all strings in one. Services change trees as they like, so
 * each item says where it is from; the memory goes with the last item, wherever that is then.
 */

#include "json/tree.h"

struct json_piece;

struct json_doc {
    size_t items; /* that are not deleted; only with atomic operations */
    struct json_piece *pieces;
    char *text, *end; /* strings */
};

/** Each item is within one of these. */
struct json_node {
    struct json_doc *home; /* NULL: it has memory of its own, as its strings have */
    json_t item;
};

struct json_piece {
    struct json_piece *next;
    struct json_node nodes[];
};

static inline struct json_node *json_node_of(json_t *item)
{
    return (struct json_node *)(void *)((char *)item - offsetof(struct json_node, item));
}

/** A document while its text is read; the strings never need more than the text. */
struct json_build {
    struct json_doc *doc;
    struct json_node *next, *end; /* items that are free */
    char *to;                     /* the next string */
    size_t count;                 /* items for which there is memory */
};

/** @return false: no memory */
bool json_build_begin(struct json_build *b, size_t text_len);
/** Room for items. @return false: no memory */
bool json_build_grow(struct json_build *b);
/** The items count from here on. @param is_kept  false: the memory is freed with all of them */
void json_build_end(struct json_build *b, bool is_kept);

/** @return whether the document has this text, which is freed with it */
static inline bool json_doc_has(const struct json_doc *doc, const char *text)
{
    return text >= doc->text && text < doc->end;
}

/** So many items are deleted; any thread. */
void json_doc_drop(struct json_doc *doc, size_t count);

/** @return an item without members; NULL: no memory */
static inline json_t *json_build_item(struct json_build *b, int type)
{
    struct json_node *node;

    if (b->next == b->end && !json_build_grow(b))
        return NULL;
    node = b->next++;
    *node = (struct json_node){.home = b->doc, .item.type = type};
    return &node->item;
}

#endif
