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

static bool is_capture(struct mk_str text)
{
    return text.len > 1 && text.p[0] == '$' && text.p[1] >= '0' && text.p[1] <= '9';
}

/* @param rest  in and out. @return false: there is no such variable. */
static bool take_piece(struct mk_str *rest, struct target_part *part)
{
    int which;

    if (is_capture(*rest)) {
        part->kind = TARGET_CAPTURE;
        part->number = (unsigned)(rest->p[1] - '0');
        *rest = (struct mk_str){rest->p + 2, rest->len - 2};
        return true;
    }
    which = mk_variable_next(rest, &part->text);
    if (which < 0)
        return false;
    part->kind = which == MK_VARIABLE_TEXT ? TARGET_TEXT : TARGET_VARIABLE;
    part->number = (unsigned)which;
    return true;
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

/* RFC 3986 section 3.1: "https://", which `$scheme` may stand for. @return whether it is none. */
static bool has_no_scheme(struct mk_str text)
{
    const char *colon = memmem(text.p, text.len, "://", 3);
    size_t len = colon ? (size_t)(colon - text.p) : 0;

    if (text_is((struct mk_str){text.p, len}, MK_STR("$scheme")))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_letter(text.p[i]))
            return true;
    }
    return len == 0;
}

static bool has_blank_or_control(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.p[i] <= ' ' || (unsigned char)text.p[i] >= 0x7f)
            return true;
    }
    return false;
}

static bool is_variable(const struct target_part *part, enum mk_variable which)
{
    return part->kind == TARGET_VARIABLE && part->number == which;
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

static bool take_part(struct target *t, struct mk_str *rest, enum target_place *place,
                      unsigned *slashes)
{
    struct target_part *part = &t->parts[t->nparts++];
    struct mk_str left = *rest, text;

    *part = (struct target_part){.place = *place};
    if (!take_piece(rest, part))
        return false;
    if (part->kind != TARGET_TEXT) {
        if ((is_variable(part, MK_VARIABLE_PATH) || is_variable(part, MK_VARIABLE_TARGET)) &&
            *place == TARGET_IN_AUTHORITY)
            part->place = *place = TARGET_IN_PATH; /* it begins with a slash */
        note_variable(t, part);
        return true;
    }
    text = part->text;
    part->text = take_text_of_place(&text, place, slashes);
    if (text.len > 0) /* the other places' */
        *rest = (struct mk_str){left.p + part->text.len, left.len - part->text.len};
    note_text(t, part);
    return true;
}

int rewrite_target_parse(struct target *t, struct mk_str text, const char **why)
{
    enum target_place place = TARGET_AT_START;
    unsigned slashes = 0;

    *t = (struct target){.is_constant = true, .is_local = text.len > 0 && text.p[0] == '/'};
    *why = "a target begins with a slash or a scheme such as https://";
    if (t->is_local ? text.len > 1 && text.p[1] == '/' : has_no_scheme(text))
        return MK_E_INVALID;
    *why = "a target has no blanks and no bytes that a URL cannot have: write them as %20";
    if (has_blank_or_control(text))
        return MK_E_INVALID;
    if (t->is_local)
        place = TARGET_IN_PATH;
    while (text.len > 0) {
        *why = "a target has at most 32 variables and texts between them";
        if (t->nparts == TARGET_PARTS)
            return MK_E_INVALID;
        *why = "an unknown variable: there are $1 to $9, " MK_VARIABLES_TEXT;
        if (!take_part(t, &text, &place, &slashes))
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
