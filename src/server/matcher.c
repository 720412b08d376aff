/* SPDX-License-Identifier: Apache-2.0 */
#include "server/matcher.h"

#include "base/str.h"

#include <sys/types.h>

enum { REGEX_FLAGS = REG_EXTENDED | REG_ICASE | REG_NOSUB };

/* Copy a pattern that is only a literal, without its backslashes. @return its length, or -1 for a real regex. */
static ssize_t copy_literal(struct mk_str p, char *dst)
{
    size_t len = 0;

    for (size_t i = 0; i < p.len; i++) {
        if (p.p[i] == '\\') {
            if (++i == p.len || !strchr(".[](){}*+?|^$\\/-_", p.p[i]))
                return -1;
        } else if (strchr(".[](){}*+?|^$", p.p[i])) {
            return -1;
        }
        dst[len++] = mk_char_lower(p.p[i]);
    }
    return (ssize_t)len;
}

static bool init_literal(struct mk_matcher *m, struct mk_str pattern, char *dst)
{
    bool at_start = pattern.len > 0 && pattern.p[0] == '^';
    bool at_end = pattern.len > at_start && pattern.p[pattern.len - 1] == '$' &&
                  (pattern.len < 2 || pattern.p[pattern.len - 2] != '\\');
    ssize_t len =
        copy_literal((struct mk_str){pattern.p + at_start, pattern.len - at_start - at_end}, dst);

    if (len < 0)
        return false;
    m->literal = (struct mk_str){dst, (size_t)len};
    if (at_start)
        m->kind = at_end ? MK_MATCH_EXACT : MK_MATCH_PREFIX;
    else
        m->kind = at_end ? MK_MATCH_SUFFIX : MK_MATCH_CONTAINS;
    return true;
}

static bool has_back_reference(struct mk_str p)
{
    for (size_t i = 0; i + 1 < p.len; i++) {
        if (p.p[i] == '\\' && p.p[++i] >= '1' && p.p[i] <= '9')
            return true;
    }
    return false;
}

static int check_regex(const char *pattern, struct mk_arena *arena, const char **why)
{
    char text[128];
    regex_t regex;
    int err = regcomp(&regex, pattern, REGEX_FLAGS);

    if (err == 0) {
        regfree(&regex);
        return 0;
    }
    if (err == REG_ESPACE)
        return MK_E_NOMEM;
    (void)regerror(err, &regex, text, sizeof(text));
    *why = mk_arena_strdup(arena, mk_str_from(text));
    return *why ? MK_E_INVALID : MK_E_NOMEM;
}

int mk_matcher_init(struct mk_matcher *m, struct mk_str pattern, struct mk_arena *arena,
                    const char **why)
{
    char *copy = mk_arena_strdup(arena, pattern);

    if (!copy)
        return MK_E_NOMEM;
    *m = (struct mk_matcher){.kind = MK_MATCH_REGEX};
    if (init_literal(m, pattern, copy))
        return 0;
    if (has_back_reference(pattern)) {
        *why = "back-references are not allowed";
        return MK_E_INVALID;
    }
    memcpy(copy, pattern.p, pattern.len);
    m->pattern = copy;
    return check_regex(copy, arena, why);
}

int mk_matcher_compile(const struct mk_matcher *m, regex_t *regex)
{
    return regcomp(regex, m->pattern, REGEX_FLAGS) == 0 ? 0 : MK_E_NOMEM;
}

static bool contains(struct mk_str path, struct mk_str literal)
{
    for (size_t i = 0; i + literal.len <= path.len; i++) {
        if (mk_str_ieq((struct mk_str){path.p + i, literal.len}, literal))
            return true;
    }
    return false;
}

bool mk_matcher_matches(const struct mk_matcher *m, const regex_t *regex, struct mk_str path)
{
    struct mk_str lit = m->literal;

    switch (m->kind) {
    case MK_MATCH_EXACT:
        return mk_str_ieq(path, lit);
    case MK_MATCH_PREFIX:
        return path.len >= lit.len && mk_str_ieq((struct mk_str){path.p, lit.len}, lit);
    case MK_MATCH_SUFFIX:
        return path.len >= lit.len && mk_str_ieq(mk_str_skip(path, path.len - lit.len), lit);
    case MK_MATCH_CONTAINS:
        return contains(path, lit);
    case MK_MATCH_REGEX:
        return regexec(regex, path.p, 0, NULL, 0) == 0;
    }
    return false;
}
