/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_head_int.h"

static const struct {
    uint8_t len;
    char text[20];
} names[MK_FIELD_COUNT] = {
#define MK_FIELD_ROW(name, text) {sizeof(text) - 1, text},
    MK_FIELDS(MK_FIELD_ROW)
#undef MK_FIELD_ROW
};

/** The only known field that a name of this length and first letter can be. */
static enum mk_field_id candidate(size_t len, char first)
{
    switch (len) {
    case 4:
        return MK_FIELD_HOST;
    case 5:
        return MK_FIELD_RANGE;
    case 6:
        return first == 'a' ? MK_FIELD_ACCEPT : first == 'c' ? MK_FIELD_COOKIE : MK_FIELD_EXPECT;
    case 7:
        return first == 'r' ? MK_FIELD_REFERER : MK_FIELD_UPGRADE;
    case 10:
        return first == 'c' ? MK_FIELD_CONNECTION : MK_FIELD_USER_AGENT;
    case 12:
        return MK_FIELD_CONTENT_TYPE;
    case 13:
        return first == 'a' ? MK_FIELD_AUTHORIZATION : MK_FIELD_IF_NONE_MATCH;
    case 14:
        return MK_FIELD_CONTENT_LENGTH;
    case 15:
        return MK_FIELD_ACCEPT_ENCODING;
    case 17:
        return first == 't' ? MK_FIELD_TRANSFER_ENCODING : MK_FIELD_IF_MODIFIED_SINCE;
    case 19:
        return MK_FIELD_IF_UNMODIFIED_SINCE;
    default:
        return MK_FIELD_COUNT;
    }
}

/** Equal but for bit 5, which among token characters is the case of a letter. */
static bool same_four(const char *a, const char *lower)
{
    uint32_t x, y;

    memcpy(&x, a, 4);
    memcpy(&y, lower, 4);
    return (x | 0x20202020) == y;
}

/** The same for len >= 4 bytes: fours, and the last four again where they overlap. */
static bool same(const char *name, const char *lower, size_t len)
{
    for (size_t i = 0; i + 4 <= len; i += 4) {
        if (!same_four(name + i, lower + i))
            return false;
    }
    return same_four(name + len - 4, lower + len - 4);
}

enum mk_field_id mk_field_id_of(const char *name, size_t len)
{
    enum mk_field_id id;

    if (len == 8) { /* the one length where the first letter does not tell: if-match, if-range */
        id = (name[3] | 0x20) == 'r' ? MK_FIELD_IF_RANGE : MK_FIELD_IF_MATCH;
    } else {
        id = candidate(len, (char)(name[0] | 0x20));
    }
    if (id == MK_FIELD_COUNT || len != names[id].len || !same(name, names[id].text, len))
        return MK_FIELD_COUNT;
    return id;
}
