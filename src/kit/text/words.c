/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/words.h"

bool text_is(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool text_begins(struct mk_str text, struct mk_str beginning)
{
    size_t i = 0;

    if (text.len < beginning.len)
        return false;
    while (i < beginning.len && text_lower(text.p[i]) == text_lower(beginning.p[i]))
        i++;
    return i == beginning.len;
}

bool text_is_word(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && text_begins(a, b);
}

static struct mk_str skip_blanks(struct mk_str text)
{
    while (text.len > 0 && text_is_blank(*text.p)) {
        text.p++;
        text.len--;
    }
    return text;
}

struct mk_str text_trim(struct mk_str text)
{
    text = skip_blanks(text);
    while (text.len > 0 && text_is_blank(text.p[text.len - 1]))
        text.len--;
    return text;
}

struct mk_str text_next_word(struct mk_str *rest)
{
    struct mk_str text = skip_blanks(*rest), word = {text.p, 0};

    while (word.len < text.len && !text_is_blank(word.p[word.len]))
        word.len++;
    *rest = text;
    if (word.len == 0)
        return (struct mk_str){NULL, 0};
    *rest = skip_blanks((struct mk_str){text.p + word.len, text.len - word.len});
    return word;
}

struct mk_str text_cut(struct mk_str *rest, char at)
{
    const char *end = rest->len > 0 ? memchr(rest->p, at, rest->len) : NULL;
    struct mk_str head = {rest->p, end ? (size_t)(end - rest->p) : rest->len};
    size_t used = head.len + (end ? 1 : 0);

    if (used > 0)
        *rest = (struct mk_str){rest->p + used, rest->len - used};
    return head;
}

void text_lower_copy(char *dst, struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++)
        dst[i] = text_lower(text.p[i]);
    dst[text.len] = '\0';
}

bool text_is_front_order(struct mk_str name)
{
    return name.len > 2 && text_lower(name.p[0]) == 'x' && name.p[1] == '-' &&
           (text_begins(name, MK_STR("X-Accel-")) || text_is_word(name, MK_STR("X-Sendfile")) ||
            text_is_word(name, MK_STR("X-Lighttpd-Send-File")));
}
