/* SPDX-License-Identifier: Apache-2.0 */
#include "views/place.h"

#include "kit/text/words.h"

#include <stdio.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_letter(char c)
{
    c = text_lower(c);
    return c >= 'a' && c <= 'z';
}

static void add(char name[MK_DUDA_PLACE_BYTES], char c)
{
    const size_t len = strlen(name);

    if (len + 1 < MK_DUDA_PLACE_BYTES) {
        name[len] = text_lower(c);
        name[len + 1] = '\0';
    }
}

/* Keep the last bytes. */
static void shift(char last[MK_DUDA_PLACE_BYTES], char c)
{
    if (strlen(last) + 1 == MK_DUDA_PLACE_BYTES)
        memmove(last, last + 1, MK_DUDA_PLACE_BYTES - 1);
    add(last, c == '\0' ? ' ' : c);
}

static bool ends(const char *text, const char *end)
{
    const size_t len = strlen(text), more = strlen(end);

    return len >= more && strcmp(text + len - more, end) == 0;
}

static bool is_raw(const char *tag)
{
    static const char *const tags[] = {"script",   "style", "iframe",   "noembed",
                                       "noframes", "xmp",   "plaintext"};

    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (strcmp(tag, tags[i]) == 0)
            return true;
    }
    return false;
}

static void close_tag(struct mk_duda_place *place)
{
    place->last[0] = '\0';
    place->kind = !place->is_end && is_raw(place->tag) ? MK_DUDA_PLACE_RAW : MK_DUDA_PLACE_TEXT;
}

static void open_tag(struct mk_duda_place *place, char c)
{
    if (c == '/') {
        place->is_end = true;
    } else if (c == '!' || c == '?') {
        place->last[0] = '\0';
        place->kind = MK_DUDA_PLACE_BANG;
    } else if (is_letter(c)) {
        place->tag[0] = '\0';
        add(place->tag, c);
        place->kind = MK_DUDA_PLACE_NAME;
    } else {
        place->kind = place->is_end ? MK_DUDA_PLACE_BANG : MK_DUDA_PLACE_TEXT;
    }
}

/* A name and its = may have blanks between them. */
static void begin_value(struct mk_duda_place *place)
{
    place->has_path = false;
    place->kind = place->attribute[0] ? MK_DUDA_PLACE_EQUALS : MK_DUDA_PLACE_BARE;
}

static void in_tag(struct mk_duda_place *place, char c)
{
    if (c == '>') {
        close_tag(place);
    } else if (is_space(c) || c == '/') {
        if (place->kind == MK_DUDA_PLACE_NAME || c == '/')
            place->attribute[0] = '\0';
        place->kind = MK_DUDA_PLACE_TAG;
    } else if (c == '=' && place->kind == MK_DUDA_PLACE_TAG) {
        begin_value(place);
    } else if (place->kind == MK_DUDA_PLACE_TAG) {
        place->attribute[0] = '\0';
        add(place->attribute, c);
        place->kind = MK_DUDA_PLACE_ATTRIBUTE;
    }
}

static void in_attribute(struct mk_duda_place *place, char c)
{
    if (c == '=')
        begin_value(place);
    else if (c == '>' || c == '/' || is_space(c))
        in_tag(place, c);
    else
        add(place->attribute, c);
}

static void behind_equals(struct mk_duda_place *place, char c)
{
    if (c == '"' || c == '\'')
        place->kind = c == '"' ? MK_DUDA_PLACE_DOUBLE : MK_DUDA_PLACE_SINGLE;
    else if (c == '>')
        close_tag(place);
    else if (!is_space(c))
        place->kind = MK_DUDA_PLACE_BARE;
}

static void in_value(struct mk_duda_place *place, char c)
{
    const char quote = place->kind == MK_DUDA_PLACE_DOUBLE ? '"' : '\'';

    place->has_path = place->has_path || c == '/' || c == '?' || c == '#';
    if (c != quote)
        return;
    place->attribute[0] = '\0';
    place->kind = MK_DUDA_PLACE_TAG;
}

/* "<!DOCTYPE html>", or a comment */
static void in_bang(struct mk_duda_place *place, char c)
{
    shift(place->last, c);
    if (place->kind == MK_DUDA_PLACE_BANG && strcmp(place->last, "--") == 0) {
        place->kind = MK_DUDA_PLACE_COMMENT;
        place->last[0] = '\0';
    } else if (c == '>' && (place->kind == MK_DUDA_PLACE_BANG || ends(place->last, "-->"))) {
        place->kind = MK_DUDA_PLACE_TEXT;
    }
}

/* Ends with its own end tag. */
static void in_raw(struct mk_duda_place *place, char c)
{
    char end[MK_DUDA_PLACE_BYTES + 2];

    (void)snprintf(end, sizeof(end), "</%s", place->tag);
    if ((is_space(c) || c == '/' || c == '>') && ends(place->last, end)) {
        place->is_end = true;
        place->kind = MK_DUDA_PLACE_NAME;
        in_tag(place, c);
    } else {
        shift(place->last, c);
    }
}

void mk_duda_place_move(struct mk_duda_place *place, char c)
{
    switch (place->kind) {
    case MK_DUDA_PLACE_TEXT:
        place->is_end = false;
        if (c == '<')
            place->kind = MK_DUDA_PLACE_OPEN;
        break;
    case MK_DUDA_PLACE_OPEN:
        open_tag(place, c);
        break;
    case MK_DUDA_PLACE_NAME:
        if (is_space(c) || c == '/' || c == '>')
            in_tag(place, c);
        else
            add(place->tag, c);
        break;
    case MK_DUDA_PLACE_TAG:
        in_tag(place, c);
        break;
    case MK_DUDA_PLACE_ATTRIBUTE:
        in_attribute(place, c);
        break;
    case MK_DUDA_PLACE_EQUALS:
        behind_equals(place, c);
        break;
    case MK_DUDA_PLACE_DOUBLE:
    case MK_DUDA_PLACE_SINGLE:
        in_value(place, c);
        break;
    case MK_DUDA_PLACE_BARE:
        if (is_space(c) || c == '>')
            in_tag(place, c);
        break;
    case MK_DUDA_PLACE_BANG:
    case MK_DUDA_PLACE_COMMENT:
        in_bang(place, c);
        break;
    case MK_DUDA_PLACE_RAW:
        in_raw(place, c);
        break;
    }
}

static bool is_one_of(const char *name, const char *words)
{
    struct mk_str rest = mk_str_from(words), word;

    while ((word = text_next_word(&rest)).p) {
        if (text_is(word, mk_str_from(name)))
            return true;
    }
    return false;
}

/* Of an attribute in quotes. */
static enum mk_duda_fit fit_value(const struct mk_duda_place *place)
{
    const char *name = place->attribute;

    if (strncmp(name, "on", 2) == 0 || name[0] == '\0' || is_one_of(name, "style srcdoc srcset"))
        return MK_DUDA_FIT_NONE;
    if (!place->has_path &&
        is_one_of(name, "href src action formaction poster data cite background "
                        "xlink:href ping manifest codebase"))
        return MK_DUDA_FIT_URL;
    return MK_DUDA_FIT_TEXT;
}

enum mk_duda_fit mk_duda_place_fit(const struct mk_duda_place *place, const char **why)
{
    static const char *const names[] = {
#define MK_DUDA_PLACE_TEXT_OF(name, text) text,
        MK_DUDA_PLACES(MK_DUDA_PLACE_TEXT_OF)
#undef MK_DUDA_PLACE_TEXT_OF
    };
    enum mk_duda_fit fit = MK_DUDA_FIT_NONE;

    *why = names[place->kind];
    if (place->kind == MK_DUDA_PLACE_TEXT)
        return MK_DUDA_FIT_TEXT;
    if (place->kind == MK_DUDA_PLACE_DOUBLE || place->kind == MK_DUDA_PLACE_SINGLE)
        fit = fit_value(place);
    if (fit == MK_DUDA_FIT_NONE && place->kind <= MK_DUDA_PLACE_SINGLE &&
        place->kind >= MK_DUDA_PLACE_DOUBLE)
        *why = "an attribute that is a script or style";
    return fit;
}

/* Between attributes, or in the name of one, a section may have some, as in <input {{#on}}checked{{/on}}>. */
static bool is_between(const struct mk_duda_place *place)
{
    return place->kind == MK_DUDA_PLACE_TAG || place->kind == MK_DUDA_PLACE_ATTRIBUTE;
}

/* What follows may be the end of a name that begins with anything: no value stands in such an attribute. */
static void forget_name(const struct mk_duda_place *begin, struct mk_duda_place *end)
{
    if (begin->kind == MK_DUDA_PLACE_ATTRIBUTE)
        end->kind = MK_DUDA_PLACE_ATTRIBUTE;
    (void)snprintf(end->attribute, sizeof(end->attribute), "%s",
                   end->kind == MK_DUDA_PLACE_ATTRIBUTE ? "on" : "");
}

bool mk_duda_place_join(const struct mk_duda_place *begin, struct mk_duda_place *end)
{
    const bool is_same_tag = strcmp(begin->tag, end->tag) == 0 && begin->is_end == end->is_end;

    if (is_same_tag && is_between(begin) && is_between(end)) {
        forget_name(begin, end);
        return true;
    }
    if (begin->kind != end->kind)
        return false;
    return begin->kind == MK_DUDA_PLACE_TEXT ||
           (is_same_tag && strcmp(begin->attribute, end->attribute) == 0 &&
            begin->has_path == end->has_path);
}
