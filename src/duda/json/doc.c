/* SPDX-License-Identifier: Apache-2.0 */
#include "json/doc.h"

#include <sys/mman.h>

enum {
    BYTES_PER_ITEM = 12, /* of usual texts: the first piece suffices for most */
    FIRST_MAX = 1 << 20, /* items */
    PIECE_MAX = 8192,
    HUGE_PAGE = 1 << 21,
};

static size_t piece_size(size_t items)
{
    return sizeof(struct json_piece) + items * sizeof(struct json_node);
}

bool json_build_grow(struct json_build *b)
{
    const size_t items = b->count / 4 < PIECE_MAX ? b->count / 4 + 1 : PIECE_MAX;
    struct json_piece *piece = json_memory->alloc(piece_size(items));

    if (!piece)
        return false;
    piece->next = b->doc->pieces;
    b->doc->pieces = piece;
    b->count += items;
    b->next = piece->nodes;
    b->end = piece->nodes + items;
    return true;
}

static size_t first_items(size_t text_len)
{
    const size_t items = text_len / BYTES_PER_ITEM + 4;

    return items < FIRST_MAX ? items : FIRST_MAX;
}

/* The kernel makes pages when they are written to; for large texts in large ones, which costs a third less in all. */
static void use_huge_pages(char *memory, size_t size)
{
    const size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;

    if (size >= before + 8 * (size_t)HUGE_PAGE)
        (void)madvise(memory + before, (size - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
}

/* The document, its first piece and the strings are one allocation. */
bool json_build_begin(struct json_build *b, size_t text_len)
{
    const size_t items = first_items(text_len);
    const size_t head = (sizeof(struct json_doc) + _Alignof(struct json_piece) - 1) /
                        _Alignof(struct json_piece) * _Alignof(struct json_piece);
    const size_t room = text_len + 2, size = head + piece_size(items) + room;
    struct json_doc *doc = size > text_len ? json_memory->alloc(size) : NULL;
    struct json_piece *first = (struct json_piece *)(void *)((char *)doc + head);

    if (!doc)
        return false;
    use_huge_pages((char *)doc, size);
    *doc = (struct json_doc){.text = (char *)first + piece_size(items)};
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
        struct json_piece *piece = doc->pieces;

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

/* Two threads may have items of one text. */
void json_doc_drop(struct json_doc *doc, size_t count)
{
    if (__atomic_sub_fetch(&doc->items, count, __ATOMIC_ACQ_REL) == 0)
        free_doc(doc);
}
