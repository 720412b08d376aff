/* SPDX-License-Identifier: Apache-2.0 */
#include "hpack_int.h"

#include <stdlib.h>

enum {
    TEXT_FIRST = 256,
    RING_FIRST = 8,
    RING_MAX = HPACK_TABLE_SIZE / HPACK_ENTRY_SIZE /* entries without any text */
};

size_t hpack_table_held(const struct hpack_table *t)
{
    return t->cap + t->ring * sizeof(*t->entries);
}

static uint32_t text_len(const struct hpack_entry *entry)
{
    return (entry->id ? 0U : entry->name_len) + entry->value_len;
}

static void evict_oldest(struct hpack_table *t)
{
    const struct hpack_entry *oldest = hpack_table_at(t, t->count);

    t->begin += text_len(oldest);
    t->size -= oldest->name_len + oldest->value_len + HPACK_ENTRY_SIZE;
    t->count--;
}

void hpack_table_shrink(struct hpack_table *t, uint32_t size)
{
    while (t->count > 0 && t->size > size)
        evict_oldest(t);
    if (t->count == 0)
        t->begin = t->end = 0;
}

static bool grow_ring(struct hpack_table *t)
{
    const unsigned ring = t->ring ? t->ring * 2U : RING_FIRST;
    struct hpack_entry *entries = malloc(ring * sizeof(*entries));

    if (!entries)
        return false;
    for (unsigned age = 1; age <= t->count; age++)
        entries[(t->inserted - age) & (ring - 1)] = *hpack_table_at(t, age);
    free(t->entries);
    t->entries = entries;
    t->ring = (uint16_t)ring;
    return true;
}

static bool grow_text(struct hpack_table *t, uint32_t need)
{
    uint32_t cap = t->cap ? t->cap : TEXT_FIRST;
    char *text;

    while (cap < need && cap < HPACK_TABLE_SIZE)
        cap *= 2;
    text = realloc(t->text, cap);
    if (!text)
        return false;
    t->text = text;
    t->cap = cap;
    return true;
}

/* Before any entry goes, for a table that lacks both the old and the new is not the peer's. */
static bool reserve(struct hpack_table *t, uint32_t len)
{
    const uint32_t need = t->end - t->begin + len;

    if (t->count == t->ring && t->ring < RING_MAX && !grow_ring(t))
        return false;
    return (t->text && need <= t->cap) || t->cap == HPACK_TABLE_SIZE || grow_text(t, need);
}

static void close_gap(struct hpack_table *t)
{
    memmove(t->text, t->text + t->begin, t->end - t->begin);
    for (unsigned age = 1; age <= t->count; age++) {
        struct hpack_entry *entry = hpack_table_at(t, age);

        entry->at = (uint16_t)(entry->at - t->begin);
    }
    t->end -= t->begin;
    t->begin = 0;
}

static void append(struct hpack_table *t, struct mk_str text)
{
    if (text.len > 0)
        memcpy(t->text + t->end, text.p, text.len);
    t->end += (uint32_t)text.len;
}

struct hpack_entry *hpack_table_add(struct hpack_table *t, const struct hpack_field *f)
{
    const uint32_t len = (uint32_t)((f->id ? 0 : f->name.len) + f->value.len);
    const uint32_t size = (uint32_t)hpack_field_size(f);
    struct hpack_entry *entry;

    if (!reserve(t, len))
        return NULL;
    hpack_table_shrink(t, t->max - size);
    if (len > t->cap - t->end)
        close_gap(t);
    entry = hpack_table_at(t, 0);
    *entry = (struct hpack_entry){.at = (uint16_t)t->end,
                                  .name_len = (uint16_t)f->name.len,
                                  .value_len = (uint16_t)f->value.len,
                                  .id = f->id};
    if (!f->id)
        append(t, f->name);
    append(t, f->value);
    t->inserted++;
    t->count++;
    t->size += size;
    return entry;
}

void hpack_table_fini(struct hpack_table *t)
{
    free(t->text);
    free(t->entries);
    *t = (struct hpack_table){.max = t->max};
}
