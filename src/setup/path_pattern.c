/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/path_pattern.h"

#include "base/code.h"
#include "base/str.h"
#include "setup/plugin.h"

#include <monkey/settings.h>

#include <string.h>

/* ---- texts that are written like something else ---- */

static bool is_letter(char c)
{
    return mk_char_lower(c) >= 'a' && mk_char_lower(c) <= 'z';
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* "\.php", "\d+", "/.*", "/[0-9]": here as in no name of a file. @param p  terminated; not its last byte */
static bool is_of_regex(const char *p, bool is_first)
{
    switch (*p) {
    case '\\':
        return (p[1] == '.' && is_letter(p[2])) ||
               (is_one_of(p[1], "dws") && !is_letter(p[2]) && p[2] != '\\');
    case '.':
        return is_one_of(p[1], "*+") && (is_first || is_one_of(p[-1], "/(]"));
    case '[':
        return p[1] == '^' || (p[1] && p[2] == '-' && p[3] && strchr(p, ']'));
    case '(':
        return strchr(p, '|') && strchr(p, ')');
    default:
        return *p == '$' && !p[1] && !is_first && (is_letter(p[-1]) || is_one_of(p[-1], "/*)"));
    }
}

static bool is_like_regex(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (is_of_regex(p, p == text))
            return true;
    }
    return false;
}

static bool is_quoted(struct mk_str text)
{
    return text.len > 2 && is_one_of(text.p[0], "\"'") && text.p[text.len - 1] == text.p[0];
}

static bool has_escape(const char *text)
{
    while ((text = strchr(text, '%'))) {
        if (strspn(++text, "0123456789abcdefABCDEF") >= 2)
            return true;
    }
    return false;
}

/* @return what is wrong with a text that is no regular expression; NULL: nothing. @param text  terminated */
static const char *fault_of(struct mk_str text, bool is_glob)
{
    if (is_quoted(text))
        return "a path or pattern has no quotes around it";
    if (is_like_regex(text.p))
        return "a regular expression begins with ^, such as ^.*\\.php$ or ^/v[0-9]+/";
    if (is_glob && memchr(text.p, '/', text.len) && !is_one_of(text.p[0], "/*?"))
        return "a glob with a slash is compared with the whole path, which begins with a slash";
    return NULL;
}

/* ---- patterns ---- */

/*
 * The expression of a glob: with a slash of the whole path, without one of its last segment. Many applications answer
 * "/b.pdf/" as "/b.pdf", so a rule for the one is for the other too. @return p NULL: no memory
 */
static struct mk_str expression_of(struct mk_str glob, struct mk_arena *arena)
{
    const bool is_whole = memchr(glob.p, '/', glob.len) != NULL;
    const char *any = is_whole ? ".*" : "[^/]*";
    char *text = mk_arena_alloc(arena, glob.len * sizeof("[^/]*") + sizeof("^/*$")), *end = text;

    if (!text)
        return (struct mk_str){NULL, 0};
    *end++ = is_whole ? '^' : '/';
    for (size_t i = 0; i < glob.len; i++) {
        const char c = glob.p[i];

        if (c == '*') {
            end = stpcpy(end, any);
        } else if (c == '?') {
            end = stpcpy(end, is_whole ? "." : "[^/]");
        } else {
            if (is_one_of(c, ".[](){}+|^$\\"))
                *end++ = '\\';
            *end++ = c;
        }
    }
    end = stpcpy(end, "/*$");
    return (struct mk_str){text, (size_t)(end - text)};
}

static int compile(struct mk_setup *ctx, const struct mk_origin *at, const char *key,
                   struct mk_str text, const struct mk_pattern **pattern)
{
    struct mk_pattern *made = mk_arena_alloc(ctx->arena, sizeof(*made));
    struct mk_str expression = text.p[0] == '^' ? text : expression_of(text, ctx->faults->arena);
    int err;

    if (!made || !expression.p)
        return MK_E_NOMEM;
    err = mk_plugin_compile(ctx, made, expression, at, key);
    *pattern = err == 0 ? made : NULL;
    return err;
}

MK_AT_START int mk_path_pattern(struct mk_setup *ctx, const struct mk_origin *at, const char *key,
                                struct mk_str text, bool is_glob, const struct mk_pattern **pattern)
{
    const char *copy = mk_arena_strdup(ctx->faults->arena, text), *why;

    *pattern = NULL;
    if (!copy)
        return MK_E_NOMEM;
    text.p = copy;
    is_glob = is_glob || memchr(copy, '*', text.len);
    if (copy[0] == '^')
        return compile(ctx, at, key, text, pattern);
    why = fault_of(text, is_glob);
    if (why) {
        mk_fault_add(ctx->faults, at, "%s: \"%s\": %s", key, copy, why);
        return MK_E_INVALID;
    }
    if (has_escape(copy) || (!is_glob && strchr(copy, '?')))
        mk_fault_warn(ctx->faults, at,
                      "%s: \"%s\": paths are compared decoded and without their query", key, copy);
    return is_glob ? compile(ctx, at, key, text, pattern) : 0;
}

MK_AT_START int mk_setup_pattern(struct mk_setup *setup, const struct mk_origin *at,
                                 const char *key, struct mk_str text,
                                 const struct mk_pattern **pattern)
{
    return mk_path_pattern(setup, at, key, text, false, pattern);
}

bool mk_pattern_is_of(const struct mk_pattern *pattern, struct mk_str path)
{
    return mk_pattern_matches(pattern, path);
}
