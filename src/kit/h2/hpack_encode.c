/* SPDX-License-Identifier: Apache-2.0 */
#include "hpack_int.h"

enum {
    /* How a field is represented (RFC 7541 section 6), and the bits that are left for a number. */
    INDEXED = 0x80,
    INDEXED_BITS = 7,
    ENTERED = 0x40,
    ENTERED_BITS = 6,
    RESIZED = 0x20,
    RESIZED_BITS = 5,
    NEVER = 0x10,
    PLAIN = 0x00,
    PLAIN_BITS = 4,
    HUFFMAN = 0x80,
    LENGTH_BITS = 7,
    STATUS = 8, /* of the static table */
    LOWER_MAX = 128,
    NO_PLACE = UINT8_MAX,
    GAIN_MIN = 6, /* bytes of a text, for the code of a shorter one saves one byte at most */
    SHORT = 20    /* bytes of a cookie that might be found by trial */
};

void hpack_encoder_init(struct hpack_encoder *e)
{
    *e = (struct hpack_encoder){.table = {.max = HPACK_TABLE_SIZE},
                                .wanted = HPACK_TABLE_SIZE,
                                .smallest = HPACK_TABLE_SIZE};
}

void hpack_encoder_fini(struct hpack_encoder *e)
{
    hpack_table_fini(&e->table);
}

void hpack_encoder_resize(struct hpack_encoder *e, uint32_t size)
{
    e->wanted = size < HPACK_TABLE_SIZE ? size : HPACK_TABLE_SIZE;
    if (e->wanted < e->smallest)
        e->smallest = e->wanted;
    e->is_changed = e->smallest < e->table.max || e->wanted != e->table.max;
}

static uint8_t *put_integer(uint8_t *dst, uint8_t first, unsigned bits, size_t number)
{
    const unsigned most = (1U << bits) - 1;

    if (number < most) {
        *dst++ = (uint8_t)(first | number);
        return dst;
    }
    *dst++ = (uint8_t)(first | most);
    for (number -= most; number >= 0x80; number >>= 7)
        *dst++ = (uint8_t)(0x80 | number);
    *dst++ = (uint8_t)number;
    return dst;
}

/* Bytes of a text's length. */
static size_t length_len(size_t len)
{
    uint8_t bytes[10];

    return (size_t)(put_integer(bytes, 0, LENGTH_BITS, len) - bytes);
}

static uint8_t *put_raw(uint8_t *dst, struct mk_str text)
{
    dst = put_integer(dst, 0, LENGTH_BITS, text.len);
    if (text.len > 0)
        memcpy(dst, text.p, text.len);
    return dst + text.len;
}

/* The code is written behind a length as long as the text's, and seldom moved. */
static uint8_t *put_text(uint8_t *dst, struct mk_str text)
{
    const size_t before = text.len < 0x7f ? 1 : length_len(text.len);
    uint8_t *const code = dst + before;
    uint8_t *const end =
        text.len >= GAIN_MIN ? huffman_encode_shorter(code, text.p, text.len) : NULL;
    const size_t len = (size_t)(end - code);

    if (!end)
        return put_raw(dst, text);
    dst = put_integer(dst, HUFFMAN, LENGTH_BITS, len);
    if (dst < code)
        memmove(dst, code, len);
    return dst + len;
}

uint8_t *hpack_encode_begin(struct hpack_encoder *e, uint8_t *dst)
{
    e->place = NO_PLACE;
    if (!e->is_changed)
        return dst;
    if (e->smallest < e->table.max && e->smallest < e->wanted)
        dst = put_integer(dst, RESIZED, RESIZED_BITS, e->smallest);
    dst = put_integer(dst, RESIZED, RESIZED_BITS, e->wanted);
    e->code.len = 0;
    hpack_table_shrink(&e->table, e->smallest);
    e->table.max = e->smallest = e->wanted;
    e->is_changed = false;
    return dst;
}

uint8_t *hpack_encode_status(struct hpack_encoder *e, uint8_t *dst, unsigned status)
{
    static const uint16_t statuses[] = {200, 204, 206, 304, 400, 404, 500};

    (void)e;
    for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i] == status) {
            *dst++ = (uint8_t)(INDEXED | (STATUS + i));
            return dst;
        }
    }
    *dst++ = PLAIN | STATUS;
    *dst++ = 3;
    *dst++ = (uint8_t)('0' + status / 100);
    *dst++ = (uint8_t)('0' + status / 10 % 10);
    *dst++ = (uint8_t)('0' + status % 10);
    return dst;
}

static char *put_lower(char *dst, struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.p[i];

        *dst++ = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    return dst;
}

/* A name that is longer than any in use is no one's to find again. */
static uint8_t *put_long_name(uint8_t *dst, const struct hpack_field *f)
{
    *dst++ = PLAIN;
    dst = put_integer(dst, 0, LENGTH_BITS, f->name.len);
    dst = (uint8_t *)put_lower((char *)dst, f->name);
    return put_text(dst, f->value);
}

/* Of both ends of a text and its length: enough, for a tag that two fields share costs a comparison and no more. */
static inline uint64_t mix(uint64_t start, struct mk_str text)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

    start = (start << 16 ^ text.len) * factor;
    if (text.len >= 8)
        return ((start ^ hpack_load_64(text.p)) * factor ^ hpack_load_64(text.p + text.len - 8)) *
               factor;
    if (text.len >= 4)
        return (start ^ hpack_load_32(text.p) ^
                (uint64_t)hpack_load_32(text.p + text.len - 4) << 32) *
               factor;
    for (size_t i = 0; i < text.len; i++)
        start = (start ^ (uint8_t)text.p[i]) * factor;
    return start;
}

static uint16_t tag_of(const struct hpack_field *f)
{
    return (uint16_t)(mix(f->id ? f->id : mix(0, f->name), f->value) >> 48);
}

static bool is_entry(const struct hpack_table *t, const struct hpack_entry *entry,
                     const struct hpack_field *f)
{
    const char *text = t->text + entry->at;

    if (entry->id != f->id || entry->value_len != f->value.len)
        return false;
    if (f->id)
        return hpack_are_same(text, f->value.p, f->value.len, 0);
    return entry->name_len == f->name.len && hpack_are_same(text, f->name.p, f->name.len, 0) &&
           hpack_are_same(text + f->name.len, f->value.p, f->value.len, 0);
}

/*
 * The age of the entry of a field; 0: none. A chain ends where its next entry is gone: its number is then that of none, or of
 * one that is newer or of another chain, since numbers begin again after 256.
 */
static unsigned find(const struct hpack_encoder *e, const struct hpack_field *f, uint16_t tag)
{
    const struct hpack_table *t = &e->table;
    uint8_t number = e->newest[tag % HPACK_CHAINS];

    for (unsigned last = 0;;) {
        const unsigned age = (uint8_t)(t->inserted - number);
        const struct hpack_entry *entry;

        if (age <= last || age > t->count)
            return 0;
        entry = hpack_table_at(t, age);
        if (entry->tag == tag && is_entry(t, entry, f))
            return age;
        last = age;
        number = entry->older;
    }
}

/* The index of an entry with the name of a field; 0: none. */
static unsigned find_name(const struct hpack_table *t, const struct hpack_field *f)
{
    if (f->id)
        return f->id;
    for (unsigned age = 1; age <= t->count; age++) {
        const struct hpack_entry *entry = hpack_table_at(t, age);

        if (!entry->id && entry->name_len == f->name.len &&
            hpack_are_same(t->text + entry->at, f->name.p, f->name.len, 0))
            return HPACK_STATIC + age;
    }
    return 0;
}

/* Most blocks are like the one before. */
static inline uint8_t *place_of(struct hpack_encoder *e)
{
    return &e->used[e->place % HPACK_PLACES];
}

static bool enter(struct hpack_encoder *e, const struct hpack_field *f, uint16_t tag)
{
    uint8_t *const newest = &e->newest[tag % HPACK_CHAINS];
    struct hpack_entry *entry = hpack_table_add(&e->table, f);

    if (!entry)
        return false;
    e->code.len = 0;
    *place_of(e) = (uint8_t)(e->table.inserted - 1);
    entry->tag = tag;
    entry->older = *newest;
    *newest = (uint8_t)(e->table.inserted - 1);
    return true;
}

/* The oldest tag makes room, so fields of a block never drive each other out. */
static bool came_before(struct hpack_encoder *e, uint16_t tag)
{
    for (unsigned i = 0; i < HPACK_SEEN; i++) {
        if (e->seen[i] == tag)
            return true;
    }
    e->seen[e->nseen++ % HPACK_SEEN] = tag;
    return false;
}

/* One large field would drive out most of the others. */
static bool is_large(const struct hpack_table *t, const struct hpack_field *f)
{
    return hpack_field_size(f) > t->max / 4 * 3;
}

static uint8_t *put_literal(uint8_t *dst, uint8_t first, unsigned bits, unsigned index,
                            const struct hpack_field *f)
{
    dst = put_integer(dst, first, bits, index);
    if (index == 0)
        dst = put_text(dst, f->name);
    return put_text(dst, f->value);
}

/* A name that came with another value changes: its values are entered when they come again. */
static uint8_t *put_indexed(struct hpack_encoder *e, uint8_t *dst, const struct hpack_field *f,
                            enum hpack_policy policy)
{
    const uint16_t tag = tag_of(f);
    const unsigned age = find(e, f, tag);
    unsigned index;
    bool is_entered;

    if (age > 0) {
        *place_of(e) = (uint8_t)(e->table.inserted - age);
        return put_integer(dst, INDEXED, INDEXED_BITS, HPACK_STATIC + age);
    }
    e->is_steady = false;
    index = find_name(&e->table, f);
    if (index > HPACK_STATIC)
        policy = HPACK_AGAIN;
    is_entered =
        !is_large(&e->table, f) && (policy == HPACK_ADD || came_before(e, tag)) && enter(e, f, tag);
    return is_entered ? put_literal(dst, ENTERED, ENTERED_BITS, index, f)
                      : put_literal(dst, PLAIN, PLAIN_BITS, index, f);
}

/*
 * Who can make a peer send fields of his own choice sees from their lengths when one equals an entry, and so finds a short
 * secret by trial (RFC 7541 section 7.1). Credentials are in no table for that reason.
 */
static enum hpack_policy policy_of(const struct hpack_field *f)
{
    const enum hpack_policy policy = hpack_statics[f->id].policy;

    switch (policy) {
    case HPACK_COOKIE:
        return f->value.len < SHORT ? HPACK_NEVER : HPACK_ADD;
    case HPACK_SET_COOKIE:
        return f->value.len < SHORT ? HPACK_NEVER : HPACK_PLAIN;
    default:
        return policy;
    }
}

static uint8_t *put_static_name(struct hpack_encoder *e, uint8_t *dst, const struct hpack_field *f)
{
    const unsigned index = hpack_static_match(f->id, f->value);
    enum hpack_policy policy = policy_of(f);

    if (index > 0)
        return put_integer(dst, INDEXED, INDEXED_BITS, index);
    if (policy <= HPACK_AGAIN)
        return put_indexed(e, dst, f, policy);
    return put_literal(dst, policy == HPACK_NEVER ? NEVER : PLAIN, PLAIN_BITS, f->id, f);
}

__attribute__((noinline)) static uint8_t *put_field(struct hpack_encoder *e, uint8_t *dst,
                                                    struct mk_str name, struct mk_str value)
{
    struct hpack_field f = {.name = name, .value = value, .id = (uint8_t)hpack_static_find(name)};
    char lower[LOWER_MAX];

    if (f.id)
        return put_static_name(e, dst, &f);
    if (name.len > sizeof(lower))
        return put_long_name(dst, &f);
    put_lower(lower, name);
    f.name.p = lower;
    return put_indexed(e, dst, &f, HPACK_ADD);
}

/* The entry that the field at this place of the last block had. @return its age; 0: none */
static inline unsigned guess(struct hpack_encoder *e, struct hpack_field *f)
{
    const struct hpack_table *t = &e->table;
    const unsigned age = (uint8_t)(t->inserted - *place_of(e));

    if (age == 0 || age > t->count)
        return 0;
    hpack_table_read(t, hpack_table_at(t, age), f);
    return age;
}

static inline bool is_field(const struct hpack_field *f, const char *name, const char *value)
{
    return hpack_are_same(f->name.p, name, f->name.len, f->id ? HPACK_CASE : 0) &&
           hpack_are_same(f->value.p, value, f->value.len, 0);
}

static inline uint8_t *put_entry(uint8_t *dst, unsigned age)
{
    return put_integer(dst, INDEXED, INDEXED_BITS, HPACK_STATIC + age);
}

uint8_t *hpack_encode(struct hpack_encoder *e, uint8_t *dst, struct mk_str name,
                      struct mk_str value)
{
    struct hpack_field f;
    unsigned age;

    e->place++;
    age = guess(e, &f);
    if (age > 0 && f.name.len == name.len && f.value.len == value.len &&
        is_field(&f, name.p, value.p))
        return put_entry(dst, age);
    return put_field(e, dst, name, value);
}

/* Is the first of these lines `NAME: VALUE`? */
static inline bool is_line(const struct hpack_field *f, const char *line)
{
    const char *value = line + f->name.len + 2, *end = value + f->value.len;

    return value[-2] == ':' && value[-1] == ' ' && end[0] == '\r' && end[1] == '\n' &&
           is_field(f, line, value);
}

uint8_t *hpack_encode_line(struct hpack_encoder *e, uint8_t *dst, struct mk_str *lines)
{
    struct hpack_field f;
    unsigned age;

    e->place++;
    age = guess(e, &f);
    if (age > 0 && lines->len >= f.name.len + f.value.len + 4 && is_line(&f, lines->p)) {
        lines->p += f.name.len + f.value.len + 4;
        lines->len -= f.name.len + f.value.len + 4;
        return put_entry(dst, age);
    }
    e->place--;
    return NULL;
}
