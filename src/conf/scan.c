/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/scan_int.h"

#include "base/str.h"

void mk_scan_init(struct mk_scan *s, struct mk_str text)
{
    const struct mk_str mark = MK_STR("\xef\xbb\xbf");

    *s = (struct mk_scan){.rest = text};
    if (mk_str_has_prefix(text, mark))
        s->rest = mk_str_skip(text, mark.len);
}

bool mk_scan_line(struct mk_scan *s, struct mk_str *line)
{
    const char *end;

    if (s->rest.len == 0)
        return false;
    end = memchr(s->rest.p, '\n', s->rest.len);
    *line = (struct mk_str){s->rest.p, end ? (size_t)(end - s->rest.p) : s->rest.len};
    s->rest = mk_str_skip(s->rest, line->len + 1);
    s->line++;
    if (end && line->len > 0 && line->p[line->len - 1] == '\r')
        line->len--;
    return true;
}

size_t mk_scan_bad_byte(struct mk_str line)
{
    size_t i = 0;

    while (i < line.len && (line.p[i] == '\t' || (unsigned char)line.p[i] >= 0x20) &&
           line.p[i] != 0x7f)
        i++;
    return i;
}

bool mk_scan_parts(struct mk_str line, struct mk_conf_line *parts)
{
    struct mk_str rest = line, key;

    if (!mk_str_next_word(&rest, &key) || key.p[0] == '#')
        return false;
    *parts = (struct mk_conf_line){
        .indent = {line.p, (size_t)(key.p - line.p)},
        .key = key,
        .value = mk_str_trim(rest),
    };
    return true;
}
