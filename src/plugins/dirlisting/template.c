/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

enum { TAG_NAME_MAX = 32 };

static const struct {
    struct mk_str name;
    enum dirlisting_tag tag;
    unsigned place;
} tags[] = {
#define TAG_ROW(id, name, place)                                                                   \
    {MK_STR_INIT("%_" #name "_%"), DIRLISTING_##id, DIRLISTING_##place},
    DIRLISTING_TAGS(TAG_ROW)
#undef TAG_ROW
};

enum { NTAGS = sizeof(tags) / sizeof(tags[0]) };

static bool is_tag_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Bytes of the tag that s begins with, by its form alone; 0: it begins with none. */
static size_t tag_length(struct mk_str s)
{
    size_t i = 2;

    if (s.len < 5 || s.p[0] != '%' || s.p[1] != '_')
        return 0;
    while (i < s.len && i < TAG_NAME_MAX && is_tag_char(s.p[i]))
        i++;
    return i > 3 && i < s.len && s.p[i] == '%' && s.p[i - 1] == '_' ? i + 1 : 0;
}

static int index_of(struct mk_str name)
{
    for (int i = 0; i < NTAGS; i++) {
        if (tags[i].name.len == name.len && memcmp(tags[i].name.p, name.p, name.len) == 0)
            return i;
    }
    return -1;
}

bool dirlisting_template_next(struct mk_str text, size_t *at, struct dirlisting_piece *piece)
{
    size_t start = *at, end = start, tag_len = 0;

    if (start >= text.len)
        return false;
    while (end < text.len) {
        tag_len = tag_length((struct mk_str){text.p + end, text.len - end});
        if (tag_len > 0)
            break;
        end++;
    }
    *piece = (struct dirlisting_piece){.text = {text.p + start, end - start}};
    if (end == start) {
        piece->text.len = tag_len;
        piece->tag = DIRLISTING_UNKNOWN;
        if (index_of(piece->text) >= 0)
            piece->tag = tags[index_of(piece->text)].tag;
    }
    *at = start + piece->text.len;
    return true;
}

static void locate(struct mk_str text, struct dirlisting_fault *fault)
{
    const char *start = text.p, *end = text.p + text.len;

    fault->line = 1;
    for (const char *p = text.p; p < fault->tag.p; p++) {
        if (*p == '\n') {
            fault->line++;
            start = p + 1;
        }
    }
    fault->column = (unsigned)(fault->tag.p - start) + 1;
    fault->line_text.p = start;
    while (start < end && *start != '\n' && *start != '\r')
        start++;
    fault->line_text.len = (size_t)(start - fault->line_text.p);
}

ssize_t dirlisting_template_check(struct mk_str text, unsigned places,
                                  struct dirlisting_fault *fault)
{
    struct dirlisting_piece piece;
    ssize_t count = 0;
    size_t at = 0;

    while (dirlisting_template_next(text, &at, &piece)) {
        int i = piece.tag == DIRLISTING_TEXT ? 0 : index_of(piece.text);

        count++;
        if (piece.tag == DIRLISTING_TEXT || (i >= 0 && (tags[i].place & places)))
            continue;
        fault->tag = piece.text;
        fault->known = i >= 0 && tags[i].place != DIRLISTING_JSON;
        locate(text, fault);
        return MK_E_INVALID;
    }
    return count;
}

bool dirlisting_template_has(const struct dirlisting_template *t, enum dirlisting_tag tag)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->pieces[i].tag == tag)
            return true;
    }
    return false;
}

void dirlisting_template_cut(struct dirlisting_template *t, struct mk_str text,
                             struct dirlisting_piece *pieces)
{
    size_t at = 0;

    t->pieces = pieces;
    t->count = 0;
    while (dirlisting_template_next(text, &at, &pieces[t->count]))
        t->count++;
}
