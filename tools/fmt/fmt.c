/* SPDX-License-Identifier: Apache-2.0 */
#include "fmt.h"

#include <stdbool.h>
#include <strings.h>

enum { INDENT = 4 };

/* What the last line was. */
enum kind { KIND_NOTHING, KIND_COMMENT, KIND_HEAD, KIND_SETTING };

struct formatter {
    char *at;
    const char *why;      /* the first fault; NULL: none */
    struct mk_str indent; /* of the first key; empty before it */
    struct mk_str rest;   /* the lines after this one */
    size_t column; /* of values after their keys in this block of lines; 0: one space before each */
    enum kind last;
    bool has_blank;   /* empty lines came after the last one */
    bool has_section; /* keys may follow */
};

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct mk_str trim(struct mk_str s)
{
    while (s.len > 0 && is_blank(s.p[0]))
        s = (struct mk_str){s.p + 1, s.len - 1};
    while (s.len > 0 && is_blank(s.p[s.len - 1]))
        s.len--;
    return s;
}

/* Cut the word at the beginning off; what is left is trimmed. */
static struct mk_str take_word(struct mk_str *rest)
{
    struct mk_str word = {rest->p, 0};

    while (word.len < rest->len && !is_blank(word.p[word.len]))
        word.len++;
    *rest = trim((struct mk_str){word.p + word.len, rest->len - word.len});
    return word;
}

/* Cut the next line off, without its LF or CRLF. @return false: there is none. */
static bool take_line(struct mk_str *rest, struct mk_str *line)
{
    const char *end = rest->len > 0 ? memchr(rest->p, '\n', rest->len) : NULL;
    const size_t len = end ? (size_t)(end - rest->p) : rest->len;

    if (rest->len == 0)
        return false;
    *line = (struct mk_str){rest->p, len};
    *rest = (struct mk_str){rest->p + len + (end ? 1 : 0), rest->len - len - (end ? 1 : 0)};
    if (end && len > 0 && line->p[len - 1] == '\r')
        line->len--;
    return true;
}

static bool is_text(struct mk_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        const unsigned char c = (unsigned char)line.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* ---- writing ---- */

static void refuse(struct formatter *f, const char *why)
{
    if (!f->why)
        f->why = why;
}

static void put(struct formatter *f, struct mk_str s)
{
    if (s.len > 0)
        memcpy(f->at, s.p, s.len);
    f->at += s.len;
}

/* Of an empty line, if there is to be one, and of a line's indentation. */
static void begin_line(struct formatter *f, enum kind kind, bool is_indented)
{
    if (f->last != KIND_NOTHING && (f->has_blank || (kind == KIND_HEAD && f->last == KIND_SETTING)))
        put(f, MK_STR("\n"));
    if (is_indented)
        put(f, (struct mk_str){"    ", INDENT});
    f->has_blank = false;
    f->last = kind;
}

/* ---- lines ---- */

static void put_comment(struct formatter *f, struct mk_str text, bool is_indented)
{
    begin_line(f, KIND_COMMENT, is_indented);
    put(f, text);
}

static void put_head(struct formatter *f, struct mk_str text, bool is_indented)
{
    const char *close = memchr(text.p, ']', text.len);
    struct mk_str name = {text.p + 1, close ? (size_t)(close - text.p) - 1 : 0};

    name = trim(name);
    if (is_indented)
        refuse(f, "an indented section head; expected it in the first column");
    else if (!close || close != text.p + text.len - 1)
        refuse(f, "a section head such as [SERVER] ends its line with ]");
    else if (name.len == 0)
        refuse(f, "a section head without a name");
    f->has_section = true;
    begin_line(f, KIND_HEAD, false);
    put(f, MK_STR("["));
    put(f, name);
    put(f, MK_STR("]"));
}

static void check_indent(struct formatter *f, struct mk_str indent)
{
    if (f->indent.len == 0)
        f->indent = indent;
    else if (indent.len != f->indent.len || memcmp(indent.p, f->indent.p, indent.len) != 0)
        refuse(f, "an indentation other than that of the first key");
}

static bool is_include(struct mk_str key)
{
    const struct mk_str name = MK_STR("@INCLUDE");

    return key.len == name.len && strncasecmp(key.p, name.p, name.len) == 0;
}

/* As the server judges: a # that begins a word which no quotes are around. */
static bool has_comment(struct mk_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        const char c = value.p[i];
        const bool begins_word = i == 0 || value.p[i - 1] == ' ' || value.p[i - 1] == '\t';
        const char *quote =
            c == '"' || c == '\'' ? memchr(value.p + i + 1, c, value.len - i - 1) : NULL;

        if (quote)
            i = (size_t)(quote - value.p);
        else if (c == '#' && begins_word)
            return true;
    }
    return false;
}

static void check_setting(struct formatter *f, struct mk_str indent, struct mk_str key,
                          struct mk_str value)
{
    if (indent.len > 0)
        check_indent(f, indent);
    if (has_comment(value))
        refuse(f, "a comment behind a value; give it a line of its own, or write \\# for a # of "
                  "the value");
    if (is_include(key) && value.len > 0)
        return;
    if (key.p[0] == '@')
        refuse(f, "an unknown directive; expected @INCLUDE PATH");
    else if (indent.len == 0)
        refuse(f, "a key that is not indented");
    else if (!f->has_section)
        refuse(f, "a key before any section");
}

/* Columns that somebody has made stay, as in monkey.mime. @return that of this line's value; 0: it has none or a tab. */
static size_t column_of(struct mk_str text)
{
    struct mk_str value = text;
    const struct mk_str key = take_word(&value);
    const size_t column = (size_t)(value.p - text.p);

    if (value.len == 0 || memchr(key.p, '\t', column))
        return 0;
    return column;
}

static bool is_setting(struct mk_str text)
{
    return text.len > 0 && text.p[0] != '#' && text.p[0] != '[';
}

/* @return the column in which all values of this block of lines begin; 0: they do not, or one space would do. */
static size_t common_column(const struct formatter *f, struct mk_str text)
{
    const size_t column = column_of(text);
    struct mk_str rest = f->rest, line;
    bool is_padded = false;
    unsigned count = 0;

    for (; is_setting(text); text = trim(line)) {
        struct mk_str value = text;

        if (column == 0 || column_of(text) != column)
            return 0;
        is_padded = is_padded || take_word(&value).len + 1 < column;
        count++;
        if (!take_line(&rest, &line))
            break;
    }
    return is_padded && count > 1 ? column : 0;
}

static void put_setting(struct formatter *f, struct mk_str indent, struct mk_str text)
{
    struct mk_str value = text, key = take_word(&value);

    check_setting(f, indent, key, value);
    if (f->last != KIND_SETTING || f->has_blank)
        f->column = common_column(f, text);
    begin_line(f, KIND_SETTING, indent.len > 0);
    put(f, key);
    for (size_t at = key.len; value.len > 0 && (at == key.len || at < f->column); at++)
        put(f, MK_STR(" "));
    put(f, value);
}

static void put_line(struct formatter *f, struct mk_str line)
{
    const struct mk_str text = trim(line);
    const struct mk_str indent = {line.p, (size_t)(text.p - line.p)};
    const char *start;

    if (line.len > FMT_LINE_MAX)
        refuse(f, "a line of more than 8192 bytes");
    if (!is_text(line))
        refuse(f, "a control byte");
    if (text.len == 0) {
        f->has_blank = true;
        return;
    }
    start = f->at;
    if (text.p[0] == '#')
        put_comment(f, text, indent.len > 0);
    else if (text.p[0] == '[')
        put_head(f, text, indent.len > 0);
    else
        put_setting(f, indent, text);
    if (f->at - start > FMT_LINE_MAX)
        refuse(f, "a line of more than 8192 bytes with its new indentation");
    put(f, MK_STR("\n"));
}

/* ---- files ---- */

size_t fmt_room(struct mk_str text)
{
    size_t lines = 1;

    for (size_t i = 0; i < text.len; i++)
        lines += text.p[i] == '\n';
    return text.len + lines * (INDENT + 2); /* an empty line before each, and an end */
}

ssize_t fmt_text(char *dst, struct mk_str text, struct fmt_fault *fault)
{
    const struct mk_str mark = MK_STR("\xef\xbb\xbf");
    struct formatter f = {.at = dst};
    struct mk_str line;

    if (text.len >= mark.len && memcmp(text.p, mark.p, mark.len) == 0)
        text = (struct mk_str){text.p + mark.len, text.len - mark.len};
    f.rest = text;
    for (fault->line = 1; take_line(&f.rest, &line); fault->line++) {
        put_line(&f, line);
        fault->why = f.why;
        if (f.why)
            return -1;
    }
    return f.at - dst;
}
