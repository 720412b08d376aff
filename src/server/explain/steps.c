/* SPDX-License-Identifier: Apache-2.0 */
#include "server/explain/steps.h"

#include "base/code.h"
#include "base/str.h"
#include "setup/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1024 };

MK_AT_START const char *mk_explain_clean(struct mk_explain *e, struct mk_str text)
{
    enum { GROWTH = sizeof("\\xff") - 1 };
    char *clean = mk_arena_alloc(&e->arena, text.len * GROWTH + 1), *to = clean;

    if (!clean) {
        e->no_memory = true;
        return "";
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] >= ' ' && text.p[i] <= '~')
            *to++ = text.p[i];
        else
            to += sprintf(to, "\\x%02x", (unsigned char)text.p[i]);
    }
    *to = '\0';
    return clean;
}

static struct mk_explain_step *append(struct mk_explain *e, const char *what, const char *verdict,
                                      const struct mk_origin *at)
{
    struct mk_explain_step *step = mk_arena_zalloc(&e->arena, sizeof(*step));

    if (!step) {
        e->no_memory = true;
        return NULL;
    }
    step->what = what;
    step->verdict = verdict ? mk_explain_clean(e, mk_str_from(verdict)) : NULL;
    step->text = "";
    if (at && at->file) {
        step->file = mk_explain_clean(e, mk_str_from(at->file));
        step->line = at->line;
    }
    if (e->last)
        e->last->next = step;
    else
        e->first = step;
    e->last = step;
    return step;
}

/* Blanks that put values in columns stand for one. */
static void squeeze(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from != ' ' || from[1] != ' ')
            *to++ = *from;
    }
    *to = '\0';
}

static struct mk_explain_step *append_text(struct mk_explain *e, const char *what,
                                           const char *verdict, const struct mk_origin *at,
                                           const char *fmt, va_list args) MK_PRINTF(5, 0);

static struct mk_explain_step *append_text(struct mk_explain *e, const char *what,
                                           const char *verdict, const struct mk_origin *at,
                                           const char *fmt, va_list args)
{
    struct mk_explain_step *step = append(e, what, verdict, at);
    char text[TEXT_MAX];

    (void)vsnprintf(text, sizeof(text), fmt, args);
    squeeze(text);
    if (step)
        step->text = mk_explain_clean(e, mk_str_from(text));
    return step;
}

MK_AT_START void mk_explain_step(struct mk_explain *e, const char *what, const char *verdict,
                                 const struct mk_origin *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)append_text(e, what, verdict, at, fmt, args);
    va_end(args);
}

MK_AT_START void mk_explain_verdict(struct mk_explain *e, const char *verdict)
{
    if (!e->said)
        e->said = append(e, e->asked->plugin->name, NULL, NULL);
    if (e->said)
        e->said->verdict = mk_explain_clean(e, mk_str_from(verdict));
}

/* ---- lines of the log ---- */

/* The word of by=, without its quotes. @return p NULL: there is none */
static struct mk_str find_by(struct mk_str text)
{
    static const struct mk_str key = MK_STR_INIT(" by=");
    const char *by = memmem(text.p, text.len, key.p, key.len);
    struct mk_str word = {NULL, 0};
    bool is_quoted;

    if (!by)
        return word;
    word = mk_str_skip(text, (size_t)(by - text.p) + key.len);
    is_quoted = word.len > 0 && word.p[0] == '"';
    word = mk_str_skip(word, is_quoted);
    for (size_t i = 0; i < word.len; i++) {
        if (word.p[i] == (is_quoted ? '"' : ' '))
            word.len = i;
    }
    return word;
}

/* "FILE:LINE" @return false: it is something else. */
static bool read_place(struct mk_explain *e, struct mk_str word, struct mk_origin *at)
{
    const char *colon = word.p ? memrchr(word.p, ':', word.len) : NULL;

    if (!colon)
        return false;
    at->file = mk_arena_strdup(&e->arena, (struct mk_str){word.p, (size_t)(colon - word.p)});
    at->line = (unsigned)strtoul(colon + 1, NULL, 10);
    return at->file;
}

/* "request refused by=FILE:LINE conn=1 peer=::1", or by="no such line". */
MK_AT_START void mk_explain_take_line(void *arg, enum mk_log_level level, const char *component,
                                      const char *message)
{
    struct mk_explain *e = arg;
    const char *what = e->asked ? e->asked->plugin->name : "log", *end = strstr(message, " conn=");
    struct mk_str text = {message, end ? (size_t)(end - message) : strlen(message)};
    struct mk_str by = find_by(text);
    struct mk_origin at = {0};
    const bool has_place = read_place(e, by, &at);

    (void)level, (void)component;
    if (by.p)
        text.len = (size_t)(strstr(message, " by=") - message);
    mk_explain_step(e, what, NULL, has_place ? &at : NULL, "%.*s%s%.*s", (int)text.len, text.p,
                    by.p && !has_place ? ", " : "", by.p && !has_place ? (int)by.len : 0,
                    by.p ? by.p : "");
    if (e->asked)
        e->said = e->last;
}

/* ---- what plugins call ---- */

MK_AT_START enum mk_explain_stage mk_explain_stage(const struct mk_explain *e)
{
    return e->stage;
}

MK_AT_START void *mk_explain_data(const struct mk_explain *e)
{
    return e->data;
}

MK_AT_START const struct mk_origin *mk_explain_place(const struct mk_explain *e, const char *key,
                                                     struct mk_str word)
{
    return e->asked ? mk_place_of_plugin(e->asked, e->site, key, word) : NULL;
}

MK_AT_START void mk_explain_say(struct mk_explain *e, const struct mk_origin *at, const char *fmt,
                                ...)
{
    struct mk_explain_step *step;
    va_list args;

    va_start(args, fmt);
    step = append_text(e, e->asked ? e->asked->plugin->name : "server", NULL, at, fmt, args);
    va_end(args);
    if (step)
        e->said = step;
}
