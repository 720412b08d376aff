/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mime.h"

#include "base/str.h"
#include "http/chars_int.h"

/** Order of an extension in any case against a lower-case one. */
static int compare(struct mk_str ext, struct mk_str lower)
{
    for (size_t i = 0; i < ext.len && i < lower.len; i++) {
        int diff = (unsigned char)mk_char_lower(ext.p[i]) - (unsigned char)lower.p[i];

        if (diff != 0)
            return diff;
    }
    return (ext.len > lower.len) - (ext.len < lower.len);
}

/** @return the place of ext among the first count entries, where it is or should be. */
static size_t place_of(const struct mk_mime_entry *entries, size_t count, struct mk_str ext,
                       bool *found)
{
    size_t low = 0, high = count;

    *found = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int diff = compare(ext, entries[mid].ext);

        if (diff == 0) {
            *found = true;
            return mid;
        }
        if (diff < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Insertion: it needs no memory, keeps the last of equals, and a table that somebody keeps by
 * hand is short and mostly in order. */
void mk_mime_sort(struct mk_mime *m)
{
    size_t sorted = 0;

    for (size_t i = 0; i < m->count; i++) {
        struct mk_mime_entry entry = m->entries[i];
        bool found;
        size_t at = place_of(m->entries, sorted, entry.ext, &found);

        if (!found) {
            memmove(m->entries + at + 1, m->entries + at, (sorted - at) * sizeof(entry));
            sorted++;
        }
        m->entries[at] = entry;
    }
    m->count = sorted;
}

struct mk_str mk_mime_of(const struct mk_mime *m, struct mk_str name)
{
    size_t dot = name.len, at;
    bool found;

    while (dot > 0 && name.p[dot - 1] != '.' && name.p[dot - 1] != '/')
        dot--;
    if (dot == 0 || name.p[dot - 1] == '/')
        return m->fallback;
    at = place_of(m->entries, m->count, mk_str_skip(name, dot), &found);
    return found ? m->entries[at].type : m->fallback;
}

/** Type and subtype, without parameters. */
static struct mk_str essence(struct mk_str type)
{
    const char *semicolon = type.len > 0 ? memchr(type.p, ';', type.len) : NULL;

    if (semicolon)
        type.len = (size_t)(semicolon - type.p);
    return mk_str_trim(type);
}

static bool starts_with(struct mk_str s, struct mk_str prefix)
{
    return s.len >= prefix.len && mk_str_ieq((struct mk_str){s.p, prefix.len}, prefix);
}

static bool has_charset(struct mk_str parameters)
{
    while (parameters.len > 0) {
        if (starts_with(parameters, MK_STR("charset=")))
            return true;
        parameters = mk_str_skip(parameters, 1);
    }
    return false;
}

bool mk_mime_is_text(struct mk_str type)
{
    static const struct mk_str kin[] = {
        MK_STR_INIT("application/javascript"),
        MK_STR_INIT("application/json"),
        MK_STR_INIT("application/xml"),
    };
    struct mk_str name = essence(type);
    bool text = starts_with(name, MK_STR("text/")) ||
                (name.len > 4 && mk_str_ieq(mk_str_skip(name, name.len - 4), MK_STR("+xml")));

    for (size_t i = 0; !text && i < sizeof(kin) / sizeof(kin[0]); i++)
        text = mk_str_ieq(name, kin[i]);
    return text && !has_charset(mk_str_skip(type, name.len));
}

bool mk_mime_is_valid(struct mk_str type)
{
    struct mk_str name = essence(type);
    const char *end = name.p + name.len;
    const char *slash = mk_chars_skip(name.p, end, MK_CHAR_TOKEN);

    if (slash == name.p || slash == end || *slash != '/' || slash + 1 == end)
        return false;
    return mk_chars_skip(slash + 1, end, MK_CHAR_TOKEN) == end && mk_chars_all(type, MK_CHAR_TEXT);
}
