/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

/*
 * Redirects that lead from one to another and back: a client would go round. Followed with an example, in which every
 * variable is "x"; nothing that is not a path of this site is followed.
 */

enum { CIRCLE_STEPS = 10, EXAMPLE_MAX = 1000 };

static const struct mk_str x = MK_STR_INIT("x");

static size_t example_of(const struct rule *rule, const struct mk_str captures[TARGET_CAPTURES],
                         char dst[EXAMPLE_MAX])
{
    struct target_values values;
    size_t len;
    char *end;

    memcpy(values.captures, captures, sizeof(values.captures));
    for (unsigned i = 0; i < MK_VARIABLE_COUNT; i++)
        values.variables[i] = i == MK_VARIABLE_PATH || i == MK_VARIABLE_TARGET ? captures[0] : x;
    if (rewrite_target_room(&rule->target, &values) > EXAMPLE_MAX)
        return 0;
    len = rewrite_target_write(&rule->target, &values, dst);
    end = memchr(dst, '?', len);
    return end ? (size_t)(end - dst) : len;
}

/* @return the first rule for the path; NULL: none, or one that leads elsewhere. */
static const struct rule *follow(const struct rule *first, struct mk_str path,
                                 const struct rules_scratch *s, struct mk_str *captures)
{
    for (const struct rule *rule = first; rule; rule = rule->next) {
        if (rewrite_rules_compare(rule, path, s, captures) != RULES_MATCH)
            continue;
        return rule->kind == RULE_REDIRECT && rule->target.is_local ? rule : NULL;
    }
    return NULL;
}

/* @return whether the way that begins with this rule comes back to it. @param is_sure  out: without a variable */
static bool comes_back(const struct rule *first, const struct rule *rule,
                       const struct rules_scratch *s, bool *is_sure)
{
    struct mk_str captures[TARGET_CAPTURES];
    char room[2][EXAMPLE_MAX];
    const struct rule *at = rule;

    *is_sure = true;
    for (unsigned i = 0; i < TARGET_CAPTURES; i++)
        captures[i] = x;
    for (unsigned step = 0; step < CIRCLE_STEPS; step++) {
        char *path = room[step % 2];
        const size_t len = example_of(at, captures, path);

        *is_sure = *is_sure && at->target.is_constant;
        at = len > 0 ? follow(first, (struct mk_str){path, len}, s, captures) : NULL;
        if (!at || at == rule)
            return at != NULL;
    }
    return false;
}

static void tell(struct mk_setup *setup, const struct rule *rule, bool is_sure)
{
    static const char sentence[] = "Redirect: a client that follows it comes back to it";

    if (is_sure)
        mk_setup_fault(setup, &rule->at, "%s", sentence);
    else
        mk_setup_warn(setup, &rule->at, "%s, if $1 is \"x\"", sentence);
}

int rewrite_rules_check_circles(struct mk_setup *setup, const struct rule *first)
{
    struct rules_scratch s;
    bool is_sure;

    if (rewrite_rules_scratch_init(&s) < 0)
        return MK_E_NOMEM;
    for (const struct rule *rule = first; rule; rule = rule->next) {
        if (rule->kind == RULE_REDIRECT && rule->target.is_local &&
            comes_back(first, rule, &s, &is_sure))
            tell(setup, rule, is_sure);
    }
    rewrite_rules_scratch_free(&s);
    return 0;
}
