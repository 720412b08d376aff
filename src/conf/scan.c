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

static bool begins_word(struct mk_str value, size_t i)
{
    return i == 0 || value.p[i - 1] == ' ' || value.p[i - 1] == '\t';
}

size_t mk_scan_comment(struct mk_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        const char c = value.p[i];
        const char *quote =
            c == '"' || c == '\'' ? memchr(value.p + i + 1, c, value.len - i - 1) : NULL;

        if (quote)
            i = (size_t)(quote - value.p);
        else if (c == '#' && begins_word(value, i))
            return i;
    }
    return value.len;
}

struct mk_str mk_scan_unescape(struct mk_str value, struct mk_arena *arena)
{
    struct mk_str copy;
    char *to;

    if (!memmem(value.p, value.len, "\\#", 2))
        return value;
    to = mk_arena_strdup(arena, value);
    copy = (struct mk_str){to, 0};
    for (size_t i = 0; to && i < value.len; i++) {
        if (value.p[i] == '\\' && begins_word(value, i) && i + 1 < value.len &&
            value.p[i + 1] == '#')
            i++;
        to[copy.len++] = value.p[i];
    }
    return copy;
}

const char *mk_scan_foreign(struct mk_str text)
{
    struct mk_scan scan;
    struct mk_str line;
    bool has_brace = false;

    mk_scan_init(&scan, text);
    while (mk_scan_line(&scan, &line)) {
        line = mk_str_trim(line);
        if (line.len == 0 || line.p[0] == '#')
            continue;
        if (line.p[0] == '[' || line.p[0] == '@')
            break;
        if (line.p[0] == '<' && line.p[line.len - 1] == '>')
            return "Apache: see docs/from-apache.md";
        if (line.p[line.len - 1] == ';')
            return "nginx: see docs/from-nginx.md";
        has_brace |= line.p[line.len - 1] == '{';
    }
    return has_brace ? "Caddy: see monkey.conf(5)" : NULL;
}
