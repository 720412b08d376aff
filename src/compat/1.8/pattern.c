/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/1.8/mk_lib_int.h"

#include <stdio.h>
#include <stdlib.h>

/* Expressions as the older library read them: a backslash quotes in brackets too, and has classes of bytes. */

struct writer {
    const char *at; /* what is still to be read */
    FILE *out;
};

/* @return what a class has within brackets; NULL: the letter is none of them. */
static const char *class_of(char letter)
{
    switch (letter) {
    case 'd':
        return "0-9";
    case 'w':
        return "0-9A-Za-z_";
    case 's':
        return " \t\n\r";
    default:
        return NULL;
    }
}

/* POSIX knows no quotes in brackets but places: ] first, - last, ^ not first. */
struct places {
    bool has_bracket, has_dash, has_caret;
};

static void quoted_in_brackets(struct writer *w, struct places *places)
{
    const char *class = class_of(*w->at);

    if (class)
        (void)fputs(class, w->out);
    else if (*w->at == ']')
        places->has_bracket = true;
    else if (*w->at == '-')
        places->has_dash = true;
    else if (*w->at == '^')
        places->has_caret = true;
    else
        (void)fputc(*w->at, w->out);
    w->at++;
}

/* @return the end of the list, at its bracket or the end of the text. */
static const char *end_of_list(const char *at)
{
    for (at += *at == ']'; *at && *at != ']'; at++)
        at += at[0] == '\\' && at[1];
    return at;
}

static void brackets(struct writer *w)
{
    struct places places = {0};
    const char *end;

    (void)fputc('[', w->out);
    if (*w->at == '^')
        (void)fputc(*w->at++, w->out);
    end = end_of_list(w->at);
    for (const char *at = w->at; at + 1 < end; at++) { /* it must come first */
        if (at[0] == '\\' && *++at == ']')
            places.has_bracket = true;
    }
    if (places.has_bracket && *w->at != ']')
        (void)fputc(']', w->out);
    while (w->at < end) {
        if (w->at[0] == '\\' && w->at[1]) {
            w->at++;
            quoted_in_brackets(w, &places);
        } else {
            (void)fputc(*w->at++, w->out);
        }
    }
    (void)fprintf(w->out, "%s%s", places.has_caret ? "^" : "", places.has_dash ? "-" : "");
    if (*w->at)
        (void)fputc(*w->at++, w->out);
}

static void quoted(struct writer *w)
{
    const char *class = class_of(*w->at);

    if (class)
        (void)fprintf(w->out, "[%s]", class);
    else
        (void)fprintf(w->out, "\\%c", *w->at);
    w->at++;
}

char *mk_lib_pattern(const char *regex)
{
    char *text = NULL;
    size_t len = 0;
    struct writer w = {.at = regex, .out = open_memstream(&text, &len)};

    if (!w.out)
        return NULL;
    while (*w.at) {
        const char c = *w.at++;

        if (c == '[') {
            brackets(&w);
        } else if (c == '\\' && *w.at) {
            quoted(&w);
        } else {
            (void)fputc(c, w.out);
            if (c == '(' && strncmp(w.at, "?:", 2) == 0)
                w.at += 2;
        }
    }
    if (fclose(w.out) == 0)
        return text;
    free(text);
    return NULL;
}
