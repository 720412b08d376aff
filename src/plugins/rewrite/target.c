/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "kit/pure/percent.h"
#include "kit/text/words.h"

#include <string.h>

/* ---- reading ---- */

unsigned rewrite_target_status(struct mk_str text)
{
    static const struct {
        struct mk_str text;
        unsigned status;
    } known[] = {{MK_STR_INIT("301"), 301},
                 {MK_STR_INIT("302"), 302},
                 {MK_STR_INIT("303"), 303},
                 {MK_STR_INIT("307"), 307},
                 {MK_STR_INIT("308"), 308}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (text_is(text, known[i].text))
            return known[i].status;
    }
    return 0;
}

static bool is_letter(char c)
{
    return text_lower(c) >= 'a' && text_lower(c) <= 'z';
}

/* Where the byte after this one stands. */
static enum target_place place_after(enum target_place place, char c, unsigned *slashes)
{
    if (place == TARGET_IN_QUERY)
        return place;
    if (c == '?' || c == '#')
        return TARGET_IN_QUERY;
    if (place == TARGET_AT_START)
        return c == '/' && ++*slashes == 2 ? TARGET_IN_AUTHORITY : place;
    return c == '/' ? TARGET_IN_PATH : place;
}

static bool is_variable(const struct target_part *part, enum mk_variable which)
{
    return part->kind == TARGET_VARIABLE && part->number == which;
}

static struct target_part part_of(const struct mk_template_piece *piece, enum target_place place)
{
    struct target_part part = {.place = place, .kind = TARGET_VARIABLE};

    part.number = (unsigned)piece->which;
    part.text = piece->text;
    if (mk_template_is_text(piece)) {
        part.kind = TARGET_TEXT;
    } else if (piece->which == MK_VARIABLE_GROUP) {
        part.kind = TARGET_CAPTURE;
        part.number = (unsigned)(piece->text.p[1] - '0');
    }
    return part;
}

/* RFC 3986 section 3.1: "https://", which `$scheme` may stand for. */
static bool has_scheme(const struct mk_template *from)
{
    static const char end[] = "://";
    bool has_letters = false;
    size_t matched = 0;

    for (size_t i = 0; i < from->count; i++) {
        const struct target_part part = part_of(&from->pieces[i], TARGET_AT_START);

        if (part.kind != TARGET_TEXT) {
            if (i > 0 || !is_variable(&part, MK_VARIABLE_SCHEME))
                return false;
            has_letters = true;
            continue;
        }
        for (size_t at = 0; at < part.text.len; at++) {
            const char c = part.text.p[at];

            if (has_letters && c == end[matched])
                matched++;
            else if (matched > 0 || !is_letter(c))
                return false;
            has_letters = true;
            if (matched == sizeof(end) - 1)
                return true;
        }
    }
    return false;
}

/* Of variables, too: they are written in letters. */
static bool has_blank_or_control(const struct mk_template *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct mk_str text = from->pieces[i].text;

        for (size_t at = 0; at < text.len; at++) {
            if ((unsigned char)text.p[at] <= ' ' || (unsigned char)text.p[at] >= 0x7f)
                return true;
        }
    }
    return false;
}

static void note_variable(struct target *t, const struct target_part *part)
{
    t->is_constant = false;
    if (part->kind == TARGET_CAPTURE && part->number >= t->ncaptures)
        t->ncaptures = part->number + 1;
    t->has_query =
        t->has_query || (is_variable(part, MK_VARIABLE_TARGET) && part->place == TARGET_IN_PATH);
    if (part->place == TARGET_IN_AUTHORITY)
        t->is_host_chosen = !is_variable(part, MK_VARIABLE_HOST) &&
                            !is_variable(part, MK_VARIABLE_HTTP_HOST) &&
                            !is_variable(part, MK_VARIABLE_SERVER_PORT);
}

static void note_text(struct target *t, const struct target_part *part)
{
    if (part->place == TARGET_IN_AUTHORITY && !memchr("/?#:", part->text.p[0], 4))
        t->is_host_chosen = false;
    t->has_query = t->has_query || memchr(part->text.p, '?', part->text.len);
}

/* A text that goes on from one place to the next is a part for each. */
static struct mk_str take_text_of_place(struct mk_str *text, enum target_place *place,
                                        unsigned *slashes)
{
    const enum target_place begun = *place;
    struct mk_str taken = {text->p, 0};

    while (taken.len < text->len && *place == begun)
        *place = place_after(*place, text->p[taken.len++], slashes);
    *text = (struct mk_str){text->p + taken.len, text->len - taken.len};
    return taken;
}

static void take_variable(struct target *t, const struct target_part *from,
                          enum target_place *place)
{
    struct target_part *part = &t->parts[t->nparts++];

    *part = *from;
    if ((is_variable(part, MK_VARIABLE_PATH) || is_variable(part, MK_VARIABLE_TARGET)) &&
        *place == TARGET_IN_AUTHORITY)
        part->place = *place = TARGET_IN_PATH; /* it begins with a slash */
    note_variable(t, part);
}

/* @return whether there was room. */
static bool take_piece(struct target *t, const struct mk_template_piece *piece,
                       enum target_place *place, unsigned *slashes)
{
    struct target_part from = part_of(piece, *place);
    struct mk_str rest = from.text;

    if (from.kind != TARGET_TEXT) {
        if (t->nparts == TARGET_PARTS)
            return false;
        take_variable(t, &from, place);
        return true;
    }
    while (rest.len > 0) {
        struct target_part *part = &t->parts[t->nparts];

        if (t->nparts++ == TARGET_PARTS)
            return false;
        *part = (struct target_part){.place = *place};
        part->text = take_text_of_place(&rest, place, slashes);
        note_text(t, part);
    }
    return true;
}

int rewrite_target_parse(struct target *t, const struct mk_template *from, const char **why)
{
    struct mk_str first = {NULL, 0};
    enum target_place place = TARGET_AT_START;
    unsigned slashes = 0;

    if (from->count > 0 && mk_template_is_text(&from->pieces[0]))
        first = from->pieces[0].text;
    *t = (struct target){.is_constant = true, .is_local = first.len > 0 && first.p[0] == '/'};
    *why = "a target begins with a slash or a scheme such as https://";
    if (t->is_local ? first.len > 1 && first.p[1] == '/' : !has_scheme(from))
        return MK_E_INVALID;
    *why = "a target has no blanks and no bytes that a URL cannot have: write them as %20";
    if (has_blank_or_control(from))
        return MK_E_INVALID;
    if (t->is_local)
        place = TARGET_IN_PATH;
    *why = "a target has at most 32 variables and texts between them";
    for (size_t i = 0; i < from->count; i++) {
        if (!take_piece(t, &from->pieces[i], &place, &slashes))
            return MK_E_INVALID;
    }
    return 0;
}

/* ---- writing ---- */

static struct mk_str value_of(const struct target_part *part, const struct target_values *values)
{
    if (part->kind == TARGET_TEXT)
        return part->text;
    return part->kind == TARGET_CAPTURE ? values->captures[part->number]
                                        : values->variables[part->number];
}

/* Texts are as they were written, and a query and a host are as they were sent and checked. */
static bool is_escaped(const struct target_part *part)
{
    if (part->kind == TARGET_TEXT || is_variable(part, MK_VARIABLE_SCHEME))
        return true;
    if (is_variable(part, MK_VARIABLE_QUERY))
        return part->place == TARGET_IN_QUERY;
    return part->place == TARGET_IN_AUTHORITY &&
           (is_variable(part, MK_VARIABLE_HOST) || is_variable(part, MK_VARIABLE_HTTP_HOST));
}

/* The target of a request is encoded already; a backslash in it would be a slash for browsers. */
static const char *kept_in(const struct target_part *part)
{
    if (part->place != TARGET_IN_PATH)
        return "";
    return is_variable(part, MK_VARIABLE_TARGET) ? PERCENT_PATH "?%[]{}|^`" : PERCENT_PATH;
}

static size_t write_part(const struct target_part *part, struct mk_str value, char *dst)
{
    if (!is_escaped(part))
        return percent_encode(dst, value, kept_in(part));
    if (value.len > 0)
        memcpy(dst, value.p, value.len);
    return value.len;
}

size_t rewrite_target_room(const struct target *t, const struct target_values *values)
{
    size_t room = 0;

    for (unsigned i = 0; i < t->nparts; i++)
        room += value_of(&t->parts[i], values).len * PERCENT_GROWTH;
    return room;
}

/* "//host" would be a URL of another host: RFC 3986 section 4.2. */
static size_t drop_slashes(char *dst, size_t len)
{
    size_t more = 0;

    while (more + 1 < len && dst[more + 1] == '/')
        more++;
    memmove(dst, dst + more, len - more);
    return len - more;
}

size_t rewrite_target_write(const struct target *t, const struct target_values *values, char *dst)
{
    size_t len = 0;

    for (unsigned i = 0; i < t->nparts; i++)
        len += write_part(&t->parts[i], value_of(&t->parts[i], values), dst + len);
    return t->is_local ? drop_slashes(dst, len) : len;
}
