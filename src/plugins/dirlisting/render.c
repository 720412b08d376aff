/* SPDX-License-Identifier: Apache-2.0 */
#include "render.h"

#include "text.h"

#include "kit/text/escape.h"
#include "kit/pure/percent.h"
#include "kit/text/utc.h"

#include <stdio.h>

enum { LINKED_LEVELS = 32 };

_Static_assert(sizeof(((struct dirlisting_page *)0)->value) >=
                   DIRLISTING_NAME_MAX * TEXT_HTML_GROWTH + 1,
               "any name fits, with a slash");

/* ---- the path as links ---- */

size_t dirlisting_path_links_room(struct mk_str path)
{
    static const char markup[] = "<a href=\"\"></a><span aria-current=\"page\"></span>";

    return path.len * TEXT_HTML_GROWTH + (LINKED_LEVELS + 1) * (sizeof(markup) + 3 * LINKED_LEVELS);
}

static size_t put(char *dst, const char *text)
{
    size_t len = strlen(text);

    memcpy(dst, text, len);
    return len;
}

static size_t put_level(char *dst, struct mk_str name, unsigned up)
{
    size_t at = 0;

    if (up > LINKED_LEVELS)
        return text_html(dst, name);
    at += put(dst, up > 0 ? "<a href=\"" : "<span aria-current=\"page\"");
    for (unsigned i = 0; i < up; i++)
        at += put(dst + at, "../");
    at += put(dst + at, up > 0 ? "\">" : ">");
    at += text_html(dst + at, name);
    at += put(dst + at, up > 0 ? "</a>" : "</span>");
    return at;
}

size_t dirlisting_path_links(char *dst, struct mk_str path)
{
    unsigned up = 0;
    size_t at = 0, start = 0;

    for (size_t i = 1; i < path.len; i++)
        up += path.p[i] == '/';
    for (size_t i = 0; i < path.len; i++) {
        if (path.p[i] != '/')
            continue;
        at += put_level(dst + at, (struct mk_str){path.p + start, i + 1 - start}, up);
        start = i + 1;
        up--;
    }
    return at;
}

/* ---- values ---- */

static struct mk_str print(struct dirlisting_page *p, int len)
{
    return (struct mk_str){p->value, len > 0 ? (size_t)len : 0};
}

static struct mk_str value_len(struct dirlisting_page *p, size_t len)
{
    return (struct mk_str){p->value, len};
}

static bool is_shown_by(const struct dirlisting_page *p, enum dirlisting_sort sort)
{
    return p->ask.sort == sort && p->sorted;
}

/* What a click on a column's head asks for: the other direction, or what people want first of that column. */
static struct mk_str link_of(struct dirlisting_page *p, enum dirlisting_sort sort)
{
    bool descending = is_shown_by(p, sort) ? !p->ask.descending : sort != DIRLISTING_BY_NAME;

    return print(p, snprintf(p->value, sizeof(p->value), "?sort=%s&amp;order=%s",
                             dirlisting_sort_name(sort).p, descending ? "desc" : "asc"));
}

static struct mk_str order_of(const struct dirlisting_page *p, enum dirlisting_sort sort)
{
    if (!is_shown_by(p, sort))
        return MK_STR("none");
    return p->ask.descending ? MK_STR("descending") : MK_STR("ascending");
}

static struct mk_str note(const struct dirlisting_page *p)
{
    if (p->sorted)
        return MK_STR("");
    return MK_STR("Too many entries to sort: they are in the order of the file system.");
}

static struct mk_str summary(struct dirlisting_page *p)
{
    char size[DIRLISTING_SIZE_MAX];
    int len = 0;

    if (p->directories == 0 && p->files == 0)
        return MK_STR("Empty");
    if (p->directories > 0)
        len = snprintf(p->value, sizeof(p->value), "%llu %s%s", (unsigned long long)p->directories,
                       p->directories == 1 ? "directory" : "directories", p->files > 0 ? ", " : "");
    if (p->files > 0) {
        (void)dirlisting_size(size, (int64_t)p->bytes);
        len += snprintf(p->value + len, sizeof(p->value) - (size_t)len, "%llu %s, %s",
                        (unsigned long long)p->files, p->files == 1 ? "file" : "files", size);
    }
    return print(p, len);
}

static struct mk_str page_value(struct dirlisting_page *p, enum dirlisting_tag tag)
{
    switch (tag) {
    case DIRLISTING_HTML_TITLE:
        return p->subject.html_path;
    case DIRLISTING_THEME_PATH:
        return p->theme->path;
    case DIRLISTING_PATH_LINKS:
        return p->subject.path_links;
    case DIRLISTING_PARENT_STATE:
        return p->subject.has_parent ? MK_STR("") : MK_STR("hidden");
    case DIRLISTING_NAME_LINK:
        return link_of(p, DIRLISTING_BY_NAME);
    case DIRLISTING_NAME_ORDER:
        return order_of(p, DIRLISTING_BY_NAME);
    case DIRLISTING_TIME_LINK:
        return link_of(p, DIRLISTING_BY_TIME);
    case DIRLISTING_TIME_ORDER:
        return order_of(p, DIRLISTING_BY_TIME);
    case DIRLISTING_SIZE_LINK:
        return link_of(p, DIRLISTING_BY_SIZE);
    case DIRLISTING_SIZE_ORDER:
        return order_of(p, DIRLISTING_BY_SIZE);
    case DIRLISTING_NOTE:
        return note(p);
    case DIRLISTING_SUMMARY:
        return summary(p);
    default:
        return (struct mk_str){NULL, 0};
    }
}

static struct mk_str with_slash(struct dirlisting_page *p, size_t len)
{
    if (p->entry.directory)
        p->value[len++] = '/';
    return value_len(p, len);
}

static struct mk_str bytes_of(struct dirlisting_page *p)
{
    long long size = p->entry.size;

    if (p->entry.directory)
        return MK_STR("directory");
    return print(p,
                 snprintf(p->value, sizeof(p->value), "%lld byte%s", size, size == 1 ? "" : "s"));
}

static struct mk_str entry_value(struct dirlisting_page *p, enum dirlisting_tag tag)
{
    size_t len;

    switch (tag) {
    case DIRLISTING_TARGET_TITLE:
        return value_len(p, text_html(p->value, p->entry.name));
    case DIRLISTING_TARGET_URL: /* `:` is encoded too, so that no name looks like a scheme */
        return with_slash(p, percent_encode(p->value, p->entry.name, ""));
    case DIRLISTING_TARGET_NAME:
        return with_slash(p, text_html(p->value, p->entry.name));
    case DIRLISTING_TARGET_TIME:
        len = text_utc(p->value, p->entry.time, ' ');
        return len > 0 ? value_len(p, len) : MK_STR("-");
    case DIRLISTING_TARGET_SIZE:
        return p->entry.directory ? MK_STR("-")
                                  : value_len(p, dirlisting_size(p->value, p->entry.size));
    case DIRLISTING_TARGET_BYTES:
        return bytes_of(p);
    case DIRLISTING_TARGET_TYPE:
        return p->entry.directory ? MK_STR("directory") : MK_STR("file");
    default:
        return page_value(p, tag);
    }
}

static struct mk_str json_time(struct dirlisting_page *p)
{
    size_t len = text_utc(p->value + 1, p->entry.time, 'T');

    if (len == 0)
        return MK_STR("null");
    p->value[0] = p->value[len + 1] = '"';
    return value_len(p, len + 2);
}

static struct mk_str value_of(struct dirlisting_page *p, enum dirlisting_tag tag)
{
    switch (tag) {
    case DIRLISTING_JSON_PATH:
        return p->subject.json_path;
    case DIRLISTING_JSON_SORT:
        return dirlisting_sort_name(p->ask.sort);
    case DIRLISTING_JSON_ORDER:
        return p->ask.descending ? MK_STR("desc") : MK_STR("asc");
    case DIRLISTING_JSON_SORTED:
        return p->sorted ? MK_STR("true") : MK_STR("false");
    case DIRLISTING_JSON_COMMA:
        return p->directories + p->files > 1 ? MK_STR(",") : MK_STR("");
    case DIRLISTING_JSON_NAME:
        return value_len(p, text_json(p->value, p->entry.name));
    case DIRLISTING_JSON_SIZE:
        return p->entry.directory ? MK_STR("null")
                                  : print(p, snprintf(p->value, sizeof(p->value), "%lld",
                                                      (long long)p->entry.size));
    case DIRLISTING_JSON_TIME:
        return json_time(p);
    default:
        return entry_value(p, tag);
    }
}

/* ---- walking ---- */

static const struct dirlisting_template *template_of(const struct dirlisting_page *p)
{
    switch (p->part) {
    case DIRLISTING_HEADER:
        return &p->theme->header;
    case DIRLISTING_ENTRIES:
        return &p->theme->entry;
    default:
        return &p->theme->footer;
    }
}

static void count(struct dirlisting_page *p)
{
    if (p->entry.directory)
        p->directories++;
    else
        p->files++;
    p->bytes += (uint64_t)p->entry.size;
}

/* Begin the next template. @return 1; 0: there is none; MK_E_AGAIN: no entry for it yet. */
static int begin_template(struct dirlisting_page *p)
{
    if (p->part == DIRLISTING_END)
        return 0;
    if (p->part == DIRLISTING_HEADER)
        p->sorted = dirlisting_list_is_all(p->list) && dirlisting_list_is_sorted(p->list);
    if (p->part == DIRLISTING_ENTRIES) {
        if (dirlisting_list_next(p->list, &p->entry))
            count(p);
        else if (!dirlisting_list_is_all(p->list))
            return MK_E_AGAIN;
        else
            p->part = DIRLISTING_FOOTER;
    }
    p->piece = 0;
    p->in_template = true;
    return 1;
}

static void end_template(struct dirlisting_page *p)
{
    p->in_template = false;
    if (p->part != DIRLISTING_ENTRIES)
        p->part++;
}

/* Have bytes in p->rest. @return as begin_template. */
static int next_piece(struct dirlisting_page *p)
{
    while (p->rest.len == 0) {
        const struct dirlisting_template *t = template_of(p);

        if (!p->in_template) {
            int err = begin_template(p);

            if (err <= 0)
                return err;
        } else if (p->piece == t->count) {
            end_template(p);
        } else {
            const struct dirlisting_piece *piece = &t->pieces[p->piece++];

            p->rest = piece->tag == DIRLISTING_TEXT ? piece->text : value_of(p, piece->tag);
        }
    }
    return 1;
}

ssize_t dirlisting_render(struct dirlisting_page *p, char *dst, size_t len)
{
    size_t at = 0;
    int err = 1;

    while (at < len && (err = next_piece(p)) > 0) {
        size_t n = p->rest.len < len - at ? p->rest.len : len - at;

        memcpy(dst + at, p->rest.p, n);
        p->rest.p += n;
        p->rest.len -= n;
        at += n;
    }
    return at > 0 ? (ssize_t)at : err;
}
