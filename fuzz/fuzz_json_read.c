/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/web.h>

/*
 * Any bytes as a text of JSON, as a tree and in tokens of pieces of a length that the first byte says. What is accepted is
 * written, and that is read as the same tree; both ways agree on what is accepted, but for names that an object has twice.
 */

enum { ROOM = 1 << 16 };

static const struct mk_json_bounds bounds = {
    .size = sizeof(bounds), .depth = MK_JSON_DEPTH, .values = 5000, .bytes = ROOM};

static void same(const struct mk_json_value *a, const struct mk_json_value *b)
{
    require(a->kind == b->kind && a->count == b->count && a->text.len == b->text.len &&
            a->name.len == b->name.len && !a->name.p == !b->name.p);
    require(a->text.len == 0 || memcmp(a->text.p, b->text.p, a->text.len) == 0);
    require(a->name.len == 0 || memcmp(a->name.p, b->name.p, a->name.len) == 0);
    a = a->first;
    b = b->first;
    for (; a && b; a = a->next, b = b->next)
        same(a, b); /* as deep as the bounds say */
    require(!a && !b);
}

static void write_again(const struct mk_json_value *root)
{
    static char room[ROOM * 6];
    const struct mk_json_value *again;
    struct mk_json_bounds wide = bounds;
    struct mk_json j;

    wide.bytes = sizeof(room);
    mk_json_begin(&j, room, sizeof(room), NULL, NULL);
    mk_json_tree(&j, root);
    require(mk_json_end(&j) == 0);
    require(mk_json_read((struct mk_str){j.p, j.len}, &wide, &again, NULL) == 0);
    same(root, again);
    mk_json_free(again);
}

static int read_pieces(const char *text, size_t size, size_t step)
{
    static char room[ROOM];
    struct mk_json_reader r;
    size_t at = 0;
    int kind = MK_E_AGAIN;

    mk_json_reader_begin(&r, &bounds, room, sizeof(room));
    while (kind == MK_E_AGAIN) {
        const size_t len = size - at < step ? size - at : step;
        char *piece = exact_copy(text + at, len);

        at += len;
        mk_json_reader_feed(&r, (struct mk_str){piece, len}, at == size);
        while ((kind = mk_json_reader_next(&r)) > 0)
            require(r.text.len <= size);
        free(piece);
    }
    require(r.offset <= size && (kind == 0) == !r.reason);
    return kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t step = (take_byte(&data, &size) & 31U) + 1;
    char *text = exact_copy(data, size);
    struct mk_json_fault fault = {.size = sizeof(fault)};
    const struct mk_json_value *root = NULL;
    const int err = mk_json_read((struct mk_str){text, size}, &bounds, &root, &fault);
    const int pieces = read_pieces(text, size, step);

    if (err == 0) {
        require(pieces == 0);
        write_again(root);
    } else {
        require(fault.offset <= size && fault.line > 0 && fault.column > 0 && fault.reason);
        require(pieces < 0 || strstr(fault.reason, "twice"));
    }
    mk_json_free(root);
    free(text);
    return 0;
}
