/* SPDX-License-Identifier: Apache-2.0 */
#include "doc.h"

enum {
    BYTES_PER_ITEM = 16, /* of usual texts: the first piece suffices for most */
    PIECE_MAX = 8192,    /* items */
};

struct piece {
    struct piece *next;
    struct json_node nodes[];
};

struct json_doc {
    size_t items; /* that are not deleted; only with atomic operations */
    struct piece *pieces;
    char *text, *end; /* strings */
    size_t last;      /* items of the last piece */
};

static size_t piece_size(size_t items)
{
    return sizeof(struct piece) + items * sizeof(struct json_node);
}

bool json_build_grow(struct json_build *b)
{
    const size_t items = b->doc->last < PIECE_MAX / 2 ? 2 * b->doc->last : PIECE_MAX;
    struct piece *piece = json_memory->alloc(piece_size(items));

    if (!piece)
        return false;
    piece->next = b->doc->pieces;
    b->doc->pieces = piece;
    b->doc->last = items;
    b->count += items;
    b->next = piece->nodes;
    b->end = piece->nodes + items;
    return true;
}

static size_t first_items(size_t text_len)
{
    const size_t items = text_len / BYTES_PER_ITEM + 4;

    return items < PIECE_MAX ? items : PIECE_MAX;
}

/* The document, its first piece and the strings are one allocation. */
bool json_build_begin(struct json_build *b, size_t text_len)
{
    const size_t items = first_items(text_len);
    const size_t head = (sizeof(struct json_doc) + _Alignof(struct piece) - 1) /
                        _Alignof(struct piece) * _Alignof(struct piece);
    const size_t room = text_len + 2, size = head + piece_size(items) + room;
    struct json_doc *doc = size > text_len ? json_memory->alloc(size) : NULL;
    struct piece *first = (struct piece *)(void *)((char *)doc + head);

    if (!doc)
        return false;
    *doc = (struct json_doc){.text = (char *)first + piece_size(items), .last = items};
    doc->end = doc->text + room;
    *b = (struct json_build){.doc = doc,
                             .next = first->nodes,
                             .end = first->nodes + items,
                             .to = doc->text,
                             .count = items};
    return true;
}

static void free_doc(struct json_doc *doc)
{
    while (doc->pieces) {
        struct piece *piece = doc->pieces;

        doc->pieces = piece->next;
        json_memory->free(piece);
    }
    json_memory->free(doc);
}

void json_build_end(struct json_build *b, bool is_kept)
{
    b->doc->items = b->count - (size_t)(b->end - b->next);
    if (!is_kept)
        free_doc(b->doc);
}

bool json_doc_has(const struct json_doc *doc, const char *text)
{
    return text >= doc->text && text < doc->end;
}

/* Two threads may have items of one text. */
void json_doc_drop(struct json_doc *doc, size_t count)
{
    if (__atomic_sub_fetch(&doc->items, count, __ATOMIC_ACQ_REL) == 0)
        free_doc(doc);
}
