/* SPDX-License-Identifier: Apache-2.0 */
#include "views/template.h"

#include "kit/text/words.h"
#include "views/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being read, and those that have it as a partial. */
struct file {
    const struct file *outer;
    const char *name;
    const char *p, *end;
    unsigned line, depth;
};

struct open_section {
    unsigned step;
    unsigned line;
    struct mk_duda_place place; /* where its content begins */
};

struct reader {
    struct mk_duda_template_room *room;
    struct mk_duda_step *steps; /* malloc; copied at the end */
    unsigned count, size;
    size_t bytes;
    struct mk_duda_place place;
    struct open_section open[MK_DUDA_VIEW_SECTIONS];
    unsigned depth;
};

/* @return false */
MK_PRINTF(3, 4) static bool fail(struct reader *r, const struct file *f, const char *fmt, ...)
{
    int len = snprintf(r->room->why, sizeof(r->room->why), "%.80s:%u: ", f->name, f->line);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(r->room->why + len, sizeof(r->room->why) - (size_t)len, fmt, ap);
    va_end(ap);
    return false;
}

static bool add_step(struct reader *r, const struct file *f, enum mk_duda_step_kind kind,
                     struct mk_str text)
{
    const unsigned size = r->size > 0 ? r->size * 2 : 64;
    struct mk_duda_step *more;

    if (r->count == MK_DUDA_VIEW_STEPS)
        return fail(r, f, "the page has more than 20,000 parts");
    if (r->count == r->size) {
        more = realloc(r->steps, size * sizeof(*more));
        if (!more)
            return fail(r, f, "no memory");
        r->steps = more;
        r->size = size;
    }
    r->steps[r->count++] = (struct mk_duda_step){.kind = kind, .text = text};
    return true;
}

static bool add_text(struct reader *r, struct file *f, const char *end)
{
    const struct mk_str text = {f->p, (size_t)(end - f->p)};

    for (; f->p < end; f->p++) {
        mk_duda_place_move(&r->place, *f->p);
        f->line += *f->p == '\n';
    }
    return text.len == 0 || add_step(r, f, MK_DUDA_STEP_TEXT, text);
}

/* ---- tags ---- */

static bool is_name(struct mk_str name)
{
    if (text_is(name, MK_STR(".")))
        return true;
    for (size_t i = 0; i < name.len; i++) {
        const char c = text_lower(name.p[i]);

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
              (c == '.' && i > 0 && i + 1 < name.len && name.p[i - 1] != '.')))
            return false;
    }
    return name.len > 0 && name.len <= MK_DUDA_VIEW_NAME;
}

static bool add_value(struct reader *r, const struct file *f, struct mk_str name)
{
    const char *why;
    const enum mk_duda_fit fit = mk_duda_place_fit(&r->place, &why);

    if (fit == MK_DUDA_FIT_NONE)
        return fail(r, f, "{{%.*s}} is in %s, where escaping does not protect", (int)name.len,
                    name.p, why);
    return add_step(r, f, fit == MK_DUDA_FIT_URL ? MK_DUDA_STEP_URL : MK_DUDA_STEP_VALUE, name);
}

static bool add_raw(struct reader *r, const struct file *f, struct mk_str name)
{
    if (r->place.kind != MK_DUDA_PLACE_TEXT)
        return fail(r, f, "{{raw %.*s}} stands between tags alone", (int)name.len, name.p);
    return add_step(r, f, MK_DUDA_STEP_RAW, name);
}

static bool open_section(struct reader *r, const struct file *f, enum mk_duda_step_kind kind,
                         struct mk_str name)
{
    if (r->depth == MK_DUDA_VIEW_SECTIONS)
        return fail(r, f, "more than 16 sections are in each other");
    r->open[r->depth++] = (struct open_section){r->count, f->line, r->place};
    return add_step(r, f, kind, name);
}

static bool close_section(struct reader *r, const struct file *f, struct mk_str name)
{
    const struct open_section *open = r->depth > 0 ? &r->open[r->depth - 1] : NULL;

    if (!open || !text_is(r->steps[open->step].text, name))
        return fail(r, f, "{{/%.*s}} ends no section", (int)name.len, name.p);
    if (!mk_duda_place_join(&open->place, &r->place))
        return fail(r, f, "the section %.*s of line %u begins and ends in different tags",
                    (int)name.len, name.p, open->line);
    r->steps[open->step].other = r->count;
    r->depth--;
    if (!add_step(r, f, MK_DUDA_STEP_END, name))
        return false;
    r->steps[r->count - 1].other = open->step;
    return true;
}

static bool read_file(struct reader *r, const struct file *outer, const char *name);

static bool add_partial(struct reader *r, const struct file *f, struct mk_str name)
{
    char *copy = r->room->alloc(r->room->arg, name.len + 1);

    if (!copy)
        return fail(r, f, "no memory");
    memcpy(copy, name.p, name.len);
    if (f->depth + 1 == MK_DUDA_VIEW_PARTIALS)
        return fail(r, f, "more than 8 partials are in each other");
    if (name.len == 0 || copy[0] == '/' || strstr(copy, "..") || strlen(copy) != name.len)
        return fail(r, f, "{{> %.80s}} names no file below the folder", copy);
    return read_file(r, f, copy);
}

static struct mk_str without(struct mk_str tag, size_t len)
{
    return text_trim((struct mk_str){tag.p + len, tag.len - len});
}

static bool read_tag(struct reader *r, const struct file *f, struct mk_str tag)
{
    static const struct mk_str raw = MK_STR_INIT("raw ");
    const char kind = tag.len > 0 ? tag.p[0] : '\0';
    struct mk_str name = tag;

    if (kind == '!')
        return true;
    if (kind == '>')
        return add_partial(r, f, without(tag, 1));
    if (kind == '#' || kind == '^' || kind == '/')
        name = without(tag, 1);
    else if (text_begins(tag, raw))
        name = without(tag, raw.len);
    if (!is_name(name))
        return fail(r, f, "{{%.*s}} has no name", tag.len < 40 ? (int)tag.len : 40, tag.p);
    switch (kind) {
    case '#':
        return open_section(r, f, MK_DUDA_STEP_SECTION, name);
    case '^':
        return open_section(r, f, MK_DUDA_STEP_INVERTED, name);
    case '/':
        return close_section(r, f, name);
    default:
        return name.p == tag.p ? add_value(r, f, name) : add_raw(r, f, name);
    }
}

/* ---- files ---- */

static const char *find(const char *p, const char *end, const char *what)
{
    return p < end ? memmem(p, (size_t)(end - p), what, 2) : NULL;
}

static bool read_next(struct reader *r, struct file *f)
{
    const char *open = find(f->p, f->end, "{{"), *close;

    if (!add_text(r, f, open ? open : f->end))
        return false;
    if (!open)
        return true;
    close = find(open + 2, f->end, "}}");
    if (!close)
        return fail(r, f, "{{ has no }}");
    if (!read_tag(r, f, text_trim((struct mk_str){open + 2, (size_t)(close - open - 2)})))
        return false;
    for (; f->p < close + 2; f->p++)
        f->line += *f->p == '\n';
    return true;
}

static bool read_file(struct reader *r, const struct file *outer, const char *name)
{
    const struct mk_str text = r->room->read(r->room->arg, name);
    struct file f = {outer, name, text.p, text.p + text.len, 1, outer ? outer->depth + 1 : 0};
    const unsigned depth = r->depth;

    if (!text.p)
        return fail(r, outer ? outer : &f, "%.80s cannot be read", name);
    r->bytes += text.len;
    if (r->bytes > MK_DUDA_VIEW_BYTES)
        return fail(r, &f, "the page is larger than 1 MB");
    if (text.len > 0 && memchr(text.p, '\0', text.len))
        return fail(r, &f, "it has a NUL");
    while (f.p < f.end) {
        if (!read_next(r, &f))
            return false;
        if (r->depth < depth)
            return fail(r, &f, "a section ends that began in another file");
    }
    if (r->depth > depth) {
        f.line = r->open[r->depth - 1].line;
        return fail(r, &f, "the section %.*s has no end",
                    (int)r->steps[r->open[r->depth - 1].step].text.len,
                    r->steps[r->open[r->depth - 1].step].text.p);
    }
    return true;
}

static const struct mk_duda_template *finish(struct reader *r)
{
    struct mk_duda_template *t = r->room->alloc(r->room->arg, sizeof(*t));

    if (t)
        t->steps = r->room->alloc(r->room->arg, (r->count + 1) * sizeof(*t->steps));
    if (!t || !t->steps) {
        (void)snprintf(r->room->why, sizeof(r->room->why), "no memory");
        return NULL;
    }
    if (r->count > 0)
        memcpy(t->steps, r->steps, r->count * sizeof(*t->steps));
    t->count = r->count;
    return t;
}

const struct mk_duda_template *mk_duda_template_new(struct mk_duda_template_room *room,
                                                    const char *name)
{
    struct reader r = {.room = room};
    const struct mk_duda_template *t = read_file(&r, NULL, name) ? finish(&r) : NULL;

    free(r.steps);
    return t;
}
