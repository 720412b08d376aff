/* SPDX-License-Identifier: Apache-2.0 */
#include "hpack_int.h"

/* The functions return > 0: it is there; 0: not all of it; an error. Nothing is done before all of a field is there. */

enum {
    CHANGES_MAX = 2
}; /* of the table's size in a block: to its smallest, to the last (RFC 7541 section 4.2) */

/* The rest of a block. */
struct input {
    const uint8_t *at, *end;
};

/* A text as it came. */
struct code {
    const uint8_t *bytes;
    uint32_t len;
    bool is_huffman;
};

void hpack_decoder_init(struct hpack_decoder *d)
{
    *d = (struct hpack_decoder){.table = {.max = HPACK_TABLE_SIZE}};
}

void hpack_decoder_fini(struct hpack_decoder *d)
{
    hpack_table_fini(&d->table);
}

/* Zeros may lead as long as the number is not longer than the largest. */
__attribute__((noinline)) static int read_more(struct input *in, uint32_t *number)
{
    for (unsigned shift = 0; in->at < in->end; shift += 7) {
        const uint8_t byte = *in->at++;

        if (shift > 21)
            return MK_E_BAD;
        *number += (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return *number <= HPACK_INTEGER_MAX ? 1 : MK_E_BAD;
    }
    return 0;
}

/* RFC 7541 section 5.1, in the low bits of the first byte. */
static inline int read_integer(struct input *in, unsigned bits, uint32_t *number)
{
    const uint32_t most = (1U << bits) - 1;

    if (in->at == in->end)
        return 0;
    *number = *in->at++ & most;
    return *number < most ? 1 : read_more(in, number);
}

static int read_code(struct input *in, struct code *code)
{
    int state;

    if (in->at == in->end)
        return 0;
    code->is_huffman = (*in->at & 0x80) != 0;
    state = read_integer(in, 7, &code->len);
    if (state <= 0)
        return state;
    if (code->len > HPACK_FIELD_MAX)
        return MK_E_LIMIT;
    if (code->len > (size_t)(in->end - in->at))
        return 0;
    code->bytes = in->at;
    in->at += code->len;
    return 1;
}

static int decode_text(const struct code *code, char *room, size_t left, struct mk_str *text)
{
    ssize_t len;

    *text = (struct mk_str){(const char *)code->bytes, code->len};
    if (!code->is_huffman)
        return code->len <= left ? 1 : MK_E_LIMIT;
    len = huffman_decode(room, left, code->bytes, code->len);
    if (len < 0)
        return (int)len;
    *text = (struct mk_str){room, (size_t)len};
    return 1;
}

static inline int find_entry(const struct hpack_table *t, uint32_t index, struct hpack_field *field)
{
    if (index == 0 || index > HPACK_STATIC + (uint32_t)t->count)
        return MK_E_BAD;
    if (index > HPACK_STATIC) {
        struct hpack_entry *entry = hpack_table_at(t, index - HPACK_STATIC);

        hpack_table_read(t, entry, field);
        field->note = &entry->note;
    } else {
        field->id = hpack_statics[index].first;
        field->name = hpack_static_name(index);
        field->value = hpack_static_value(index);
        field->is_static = true;
    }
    return 1;
}

static int decode_indexed(const struct hpack_table *t, struct input *in, struct hpack_field *field)
{
    uint32_t index;
    int state = read_integer(in, 7, &index);

    return state > 0 ? find_entry(t, index, field) : state;
}

/* RFC 7541 section 4.4: a field that is larger than the table empties it. */
static int enter(struct hpack_table *t, const struct hpack_field *field)
{
    if (hpack_field_size(field) > t->max) {
        hpack_table_shrink(t, 0);
        return 1;
    }
    return hpack_table_add(t, field) ? 1 : MK_E_NOMEM;
}

/* The text of an entry that this field may drive out or move. */
static void keep_name(struct hpack_field *field, char *room)
{
    memcpy(room, field->name.p, field->name.len);
    field->name.p = room;
}

static int decode_texts(const struct code *name, const struct code *value, char *room,
                        struct hpack_field *field)
{
    size_t left = HPACK_FIELD_MAX;
    int state = name->bytes ? decode_text(name, room, left, &field->name) : 1;

    if (state <= 0)
        return state;
    left -= field->name.len;
    return decode_text(value, room + field->name.len, left, &field->value);
}

static int decode_literal(struct hpack_table *t, struct input *in, bool is_entry, char *room,
                          struct hpack_field *field)
{
    struct code name = {.bytes = NULL}, value;
    uint32_t index;
    int state = read_integer(in, is_entry ? 6 : 4, &index);

    if (state > 0)
        state = index > 0 ? find_entry(t, index, field) : read_code(in, &name);
    if (state > 0)
        state = read_code(in, &value);
    if (state <= 0)
        return state;
    field->note = NULL;
    field->is_static = false;
    if (is_entry && index > HPACK_STATIC && !field->id)
        keep_name(field, room);
    state = decode_texts(&name, &value, room, field);
    return state > 0 && is_entry ? enter(t, field) : state;
}

/* RFC 7541 section 6.3. */
static int change_size(struct hpack_decoder *d, struct input *in)
{
    uint32_t size;
    int state;

    if (d->has_field || d->nchanges == CHANGES_MAX)
        return MK_E_BAD;
    state = read_integer(in, 5, &size);
    if (state <= 0)
        return state;
    if (size > HPACK_TABLE_SIZE)
        return MK_E_BAD;
    d->nchanges++;
    d->table.max = size;
    hpack_table_shrink(&d->table, size);
    return 1;
}

ssize_t hpack_decode(struct hpack_decoder *d, const uint8_t *bytes, size_t len, char *room,
                     struct hpack_field *field)
{
    struct input in = {bytes, bytes + len};
    int state;

    *field = (struct hpack_field){.id = 0};
    if (len == 0)
        return 0;
    if ((*bytes & 0xe0) == 0x20) {
        state = change_size(d, &in);
        return state > 0 ? in.at - bytes : state;
    }
    if (*bytes & 0x80) {
        state = decode_indexed(&d->table, &in, field);
    } else {
        field->is_never = (*bytes & 0xf0) == 0x10;
        state = decode_literal(&d->table, &in, (*bytes & 0x40) != 0, room, field);
    }
    if (state <= 0)
        return state;
    d->has_field = true;
    return in.at - bytes;
}
