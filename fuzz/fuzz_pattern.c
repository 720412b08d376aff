/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/pattern.h"

#include <regex.h>

/*
 * A pattern and paths: what the C library says of them our automaton says, too, and of each beginning of a path in the same
 * pass. The input is either a pattern as it is, up to the first newline, or bytes that choose its parts.
 */

enum { PATTERN_MAX = 200, PATH_MAX_HERE = 64 };

static const char *const parts[] = {
    "a",     "b",      "A",      "/",     ".",          "\\.",         "^",      "$",
    "*",     "+",      "?",      "(",     ")",          "|",           "{2}",    "{1,3}",
    "{,2}",  "{0,}",   "{0}",    "[ab]",  "[^a]",       "[a-c]",       "[]a]",   "[a-]",
    "[b-Z]", "[_-]",   "\\w",    "\\W",   "\\s",        "[[:alpha:]]", "}",      "_",
    "1",     "(a|b)",  "(^|/)",  "($|/)", "a.{1,3}",    "(|a)",        "()",     "\\$",
    "\xe9",  "(.*/)*", "[1-9]+", ".{3}",  "(a|b.){,3}", "[^/]*",       "\\.php", "-",
};

/* @return its length. */
static size_t make_pattern(char *pattern, const uint8_t **data, size_t *size)
{
    size_t len = 0;

    if (take_byte(data, size) % 2 == 0) {
        while (*size > 0 && len < PATTERN_MAX) {
            char c = (char)take_byte(data, size);

            if (c == '\n')
                break;
            if (c != '\0')
                pattern[len++] = c;
        }
    } else {
        for (unsigned n = take_byte(data, size) % 12; n > 0; n--) {
            const char *part = parts[take_byte(data, size) % (sizeof(parts) / sizeof(parts[0]))];

            memcpy(pattern + len, part, strlen(part));
            len += strlen(part);
        }
    }
    pattern[len] = '\0';
    return len;
}

static size_t make_path(char *path, const uint8_t **data, size_t *size, bool any)
{
    size_t len = 0;

    while (*size > 0 && len < PATH_MAX_HERE) {
        unsigned c = take_byte(data, size);

        if (c == '\n')
            break;
        path[len++] = any && c != 0 ? (char)c : "aabbAB/.._-1$ \xe9^"[c % 16];
    }
    path[len] = '\0';
    return len;
}

/* The C library of GNU errs where a group with an anchor is repeated by number: "(^|/){2}" needs but one slash there. */
static bool is_known_to_differ(const char *pattern)
{
    return strpbrk(pattern, "^$") && strchr(pattern, '{');
}

/*
 * What is accepted here only, and what there only: nothing; and what the header names, which regcomp takes as it likes.
 * The rest may be refused for its size.
 */
static void check_refusal(const char *pattern, const char *why, size_t where, bool is_good_there)
{
    require(where <= strlen(pattern) && why && *why);
    if (is_good_there && !strstr(why, "too "))
        require(strchr(pattern, '\\') || strstr(pattern, "[.") || strstr(pattern, "[="));
}

static void check_path(const struct mk_pattern *p, const regex_t *regex, const char *path,
                       size_t len)
{
    char *exact = exact_copy(path, len);
    unsigned state = p->start;

    for (size_t i = 0; i <= len; i++) {
        bool is_match = mk_pattern_is_match(p, state);

        require(is_match == mk_pattern_matches(p, (struct mk_str){exact, i}));
        if (i == len && regex)
            require(is_match == (regexec(regex, path, 0, NULL, 0) == 0));
        if (i < len)
            state = mk_pattern_pass(p, state, (struct mk_str){exact + i, 1});
    }
    free(exact);
}

static void check(struct mk_arena *arena, const char *pattern, size_t len, const uint8_t *data,
                  size_t size)
{
    char *exact = exact_copy(pattern, len), path[PATH_MAX_HERE + 1];
    struct mk_pattern p;
    const char *why = NULL;
    size_t where = 0;
    regex_t regex;
    bool any = take_byte(&data, &size) % 2,
         is_good_there = regcomp(&regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0;
    int err = mk_pattern_init(&p, (struct mk_str){exact, len}, arena, &why, &where);

    free(exact);
    require(err == 0 || err == MK_E_INVALID);
    if (err < 0) {
        check_refusal(pattern, why, where, is_good_there);
    } else {
        require(is_good_there && arena->used <= 128 << 10);
        for (int i = 0; i < 4; i++) {
            size_t path_len = make_path(path, &data, &size, any);

            check_path(&p, is_known_to_differ(pattern) ? NULL : &regex, path, path_len);
        }
    }
    if (is_good_there)
        regfree(&regex);
}

/* regcomp() writes repetitions out without a bound of its own, and follows all ways through repeated repetitions. */
static bool is_for_regcomp(const char *pattern)
{
    unsigned product = 1, repeated = 0;

    for (bool in_braces = false; *pattern && product <= 128; pattern++) {
        bool is_digit = in_braces && *pattern >= '0' && *pattern <= '9';

        if (is_digit && pattern[1] >= '0' && pattern[1] <= '9')
            return false;
        product *= is_digit ? (unsigned)(*pattern - '0') + 1 : *pattern == '+' ? 2 : 1;
        in_braces = *pattern == '{' || (in_braces && *pattern != '}');
        repeated += strchr("*+?})", *pattern) && pattern[1] && strchr("*+?{", pattern[1]);
    }
    return product <= 128 && repeated <= 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pattern[PATTERN_MAX + 1];
    size_t len = make_pattern(pattern, &data, &size);
    struct mk_arena arena;

    if (!is_for_regcomp(pattern))
        return 0;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    check(&arena, pattern, len, data, size);
    mk_arena_fini(&arena);
    return 0;
}
