/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_H1_FIELD_ID_INT_H
#define MK_HTTP_H1_FIELD_ID_INT_H

#include "http/h1_head.h"

/*
 * Known field names are found by their third and fourth letter, then compared: the bytes are
 * looked at once, and need not be checked to be a token. Inline, as it runs for every field.
 */

struct mk_field_name {
    uint8_t len;
    char text[20];
};

extern const struct mk_field_name mk_field_names[MK_FIELD_COUNT];
/** The known field to try first, by mk_field_slot; 0, which is Host, in the free slots too. */
extern const uint8_t mk_field_slots[32];
/** The one to try after it, of those that share a slot; 0: none. */
extern const uint8_t mk_field_others[MK_FIELD_COUNT];

static inline unsigned mk_field_slot(const char *name)
{
    unsigned c = (unsigned char)name[2] | 0x20, d = (unsigned char)name[3];

    return (c + 4 * d) / 2 % 32; /* the case of d falls out */
}

/* Equal but for the case of letters; a letter is what has bit 6 set in the lower-case name. */

static inline bool mk_field_same_four(const char *a, const char *lower)
{
    uint32_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, lower, sizeof(y));
    return (x | (y & UINT32_MAX / 255 * 0x40) >> 1) == y;
}

static inline bool mk_field_same_eight(const char *a, const char *lower)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, lower, sizeof(y));
    return (x | (y & UINT64_MAX / 255 * 0x40) >> 1) == y;
}

/** The same for len >= 4 bytes, in pieces of which the last may overlap the one before. */
static inline bool mk_field_same(const char *name, const char *lower, size_t len)
{
    if (len < 8)
        return mk_field_same_four(name, lower) &&
               mk_field_same_four(name + len - 4, lower + len - 4);
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (!mk_field_same_eight(name + i, lower + i))
            return false;
    }
    return mk_field_same_eight(name + len - 8, lower + len - 8);
}

/**
 * Is the name of a known field at p, with the colon behind it? In any case; no blank between.
 * @param end  of what may be read
 * @param len  out: its length
 * @return MK_FIELD_COUNT when it is none, or not all of it has come.
 */
static inline enum mk_field_id mk_field_id_at(const char *p, const char *end, size_t *len)
{
    unsigned id;

    if (end - p < 5)
        return MK_FIELD_COUNT;
    id = mk_field_slots[mk_field_slot(p)];
    do {
        size_t n = mk_field_names[id].len;

        if ((size_t)(end - p) > n && p[n] == ':' && mk_field_same(p, mk_field_names[id].text, n)) {
            *len = n;
            return (enum mk_field_id)id;
        }
        id = mk_field_others[id];
    } while (id != 0);
    return MK_FIELD_COUNT;
}

#endif
