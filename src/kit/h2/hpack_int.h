/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_HPACK_INT_H
#define KIT_H2_HPACK_INT_H

#include "hpack.h"

/* What the files of HPACK share: the static table, the dynamic one, and the choice between plain text and Huffman code. */

/* What the encoder does with a field that no table has. */
enum hpack_policy {
    HPACK_ADD,       /* the dynamic table gets it */
    HPACK_AGAIN,     /* from the second time on */
    HPACK_PLAIN,     /* it changes with each message, and would only drive others out */
    HPACK_NEVER,     /* nor do tables of proxies get it (RFC 7541 section 7.1.3) */
    HPACK_COOKIE,    /* HPACK_ADD, but never when it is short */
    HPACK_SET_COOKIE /* HPACK_PLAIN, but never when it is short */
};

/** An entry of the static table; its texts are terminated. */
struct hpack_static {
    uint16_t at; /* of hpack_static_texts: the name, then the value */
    uint8_t name_len, value_len;
    uint8_t first;  /* entry of the same name */
    uint8_t policy; /* enum hpack_policy */
};

extern const struct hpack_static hpack_statics[HPACK_STATIC + 1]; /* [0] is none */
extern const char hpack_static_texts[];

static inline struct mk_str hpack_static_name(unsigned id)
{
    return (struct mk_str){hpack_static_texts + hpack_statics[id].at, hpack_statics[id].name_len};
}

static inline struct mk_str hpack_static_value(unsigned id)
{
    const struct hpack_static *s = &hpack_statics[id];

    return (struct mk_str){hpack_static_texts + s->at + s->name_len + 1, s->value_len};
}

/** @return the first entry of the name, in any case; 0: none. */
unsigned hpack_static_find(struct mk_str name);

/* ---- texts ---- */

static inline uint64_t hpack_load_64(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof(bytes));
    return bytes;
}

static inline uint32_t hpack_load_32(const char *p)
{
    uint32_t bytes;

    memcpy(&bytes, p, sizeof(bytes));
    return bytes;
}

/*
 * A difference of this bit is one of case: no other two characters that names of the static table and tokens have differ in
 * it alone.
 */
enum { HPACK_CASE = 0x20 };

/* The bits in which 4, 8 or 16 bytes differ. */

static inline uint64_t hpack_differ_4(const char *a, const char *b)
{
    return hpack_load_32(a) ^ hpack_load_32(b);
}

static inline uint64_t hpack_differ_8(const char *a, const char *b)
{
    return hpack_load_64(a) ^ hpack_load_64(b);
}

static inline uint64_t hpack_differ_16(const char *a, const char *b)
{
    return hpack_differ_8(a, b) | hpack_differ_8(a + 8, b + 8);
}

static inline bool hpack_are_same_few(const char *a, const char *b, size_t len, uint8_t ignored)
{
    for (size_t i = 0; i < len; i++)
        if ((a[i] ^ b[i]) & ~ignored)
            return false;
    return true;
}

/** Whether two texts differ in no bit but those of ignored, in each byte. Most are too short for a call of memcmp. */
static inline bool hpack_are_same(const char *a, const char *b, size_t len, uint8_t ignored)
{
    const uint64_t mask = ~(UINT64_C(0x0101010101010101) * ignored);

    if (len > 16) {
        for (size_t i = 0; i < len - 16; i += 16)
            if (hpack_differ_16(a + i, b + i) & mask)
                return false;
        return (hpack_differ_16(a + len - 16, b + len - 16) & mask) == 0;
    }
    if (len >= 8)
        return ((hpack_differ_8(a, b) | hpack_differ_8(a + len - 8, b + len - 8)) & mask) == 0;
    if (len >= 4)
        return ((hpack_differ_4(a, b) | hpack_differ_4(a + len - 4, b + len - 4)) & mask) == 0;
    return hpack_are_same_few(a, b, len, ignored);
}

/** @return the entry of this value among those with the name of entry id, their first; 0: none. */
static inline unsigned hpack_static_match(unsigned id, struct mk_str value)
{
    for (unsigned i = id; i <= HPACK_STATIC && hpack_statics[i].first == id; i++) {
        if (hpack_statics[i].value_len == value.len &&
            hpack_are_same(hpack_static_value(i).p, value.p, value.len, 0))
            return i;
    }
    return 0;
}

/* ---- dynamic table ---- */

enum {
    HPACK_ENTRY_SIZE = 32
}; /* each counts so many bytes besides its texts (RFC 7541 section 4.1) */

static inline size_t hpack_field_size(const struct hpack_field *f)
{
    return f->name.len + f->value.len + HPACK_ENTRY_SIZE;
}

/** @param age  1: the newest, to t->count */
static inline struct hpack_entry *hpack_table_at(const struct hpack_table *t, unsigned age)
{
    return &t->entries[(t->inserted - age) & (t->ring - 1U)];
}

/** The field of an entry; its texts are borrowed until the table changes. */
static inline void hpack_table_read(const struct hpack_table *t, const struct hpack_entry *entry,
                                    struct hpack_field *f)
{
    const char *text = t->text + entry->at;

    f->id = entry->id;
    f->name = entry->id ? hpack_static_name(entry->id) : (struct mk_str){text, entry->name_len};
    f->value = (struct mk_str){entry->id ? text : text + entry->name_len, entry->value_len};
}

/** Evict the oldest entries until the others take no more than size. */
void hpack_table_shrink(struct hpack_table *t, uint32_t size);
/**
 * Enter a field, for which the oldest entries go.
 * @param f  texts are not of this table, size at most t->max
 * @return the entry; NULL without memory: the table is as it was
 */
struct hpack_entry *hpack_table_add(struct hpack_table *t, const struct hpack_field *f);
void hpack_table_fini(struct hpack_table *t);

/* ---- Huffman code ---- */

/** Encode a text into less than its own length. @return the end of what was written at dst; NULL: it is not shorter. */
uint8_t *huffman_encode_shorter(uint8_t *dst, const char *text, size_t len);

#endif
