/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "kit/text/words.h"

#include <string.h>

int rewrite_rules_scratch_init(struct rules_scratch *s)
{
    s->limits = pcre2_match_context_create(NULL);
    s->found = pcre2_match_data_create(TARGET_CAPTURES, NULL);
    if (!s->limits || !s->found) {
        rewrite_rules_scratch_free(s);
        return MK_E_NOMEM;
    }
    (void)pcre2_set_match_limit(s->limits, RULES_STEPS_MAX);
    (void)pcre2_set_heap_limit(s->limits, RULES_HEAP_MAX_KB);
    return 0;
}

void rewrite_rules_scratch_free(struct rules_scratch *s)
{
    pcre2_match_context_free(s->limits);
    pcre2_match_data_free(s->found);
    *s = (struct rules_scratch){NULL, NULL};
}

static bool begins(struct mk_str path, struct mk_str beginning)
{
    return path.len >= beginning.len && memcmp(path.p, beginning.p, beginning.len) == 0;
}

static enum rules_result compare_regex(const struct rule *rule, struct mk_str path,
                                       const struct rules_scratch *s, struct mk_str *captures)
{
    const int n = pcre2_match(rule->regex, (PCRE2_SPTR)path.p, path.len, 0, 0, s->found, s->limits);
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(s->found);

    if (n < 0)
        return n == PCRE2_ERROR_NOMATCH ? RULES_PASS : RULES_TOO_LONG;
    for (unsigned i = 0; i < (n > 0 ? (unsigned)n : TARGET_CAPTURES); i++) {
        if (ends[2 * i] != PCRE2_UNSET)
            captures[i] = (struct mk_str){path.p + ends[2 * i], ends[2 * i + 1] - ends[2 * i]};
    }
    return RULES_MATCH;
}

enum rules_result rewrite_rules_compare(const struct rule *rule, struct mk_str path,
                                        const struct rules_scratch *s,
                                        struct mk_str captures[TARGET_CAPTURES])
{
    memset(captures, 0, TARGET_CAPTURES * sizeof(*captures));
    switch (rule->from) {
    case FROM_REGEX:
        return compare_regex(rule, path, s, captures);
    case FROM_BELOW:
        if (!begins(path, rule->path))
            return RULES_PASS;
        captures[0] = path;
        captures[1] = (struct mk_str){path.p + rule->path.len, path.len - rule->path.len};
        return RULES_MATCH;
    default:
        captures[0] = path;
        return text_is(path, rule->path) ? RULES_MATCH : RULES_PASS;
    }
}

static bool leads_all_to_https(const struct rule *rule, const struct rules_scratch *s)
{
    struct mk_str captures[TARGET_CAPTURES];

    return rule->kind == RULE_REDIRECT && !rule->target.is_local &&
           text_begins(rule->target.parts[0].text, MK_STR("https://")) &&
           rewrite_rules_compare(rule, MK_STR("/"), s, captures) == RULES_MATCH &&
           rewrite_rules_compare(rule, MK_STR("/x/y.z"), s, captures) == RULES_MATCH;
}

int rewrite_rules_check_order(struct mk_setup *setup, const struct rule *first)
{
    const struct rule *rewrite = NULL;
    struct rules_scratch s;

    if (rewrite_rules_scratch_init(&s) < 0)
        return MK_E_NOMEM;
    for (const struct rule *rule = first; rule; rule = rule->next) {
        if (rule->kind == RULE_REWRITE && !rewrite)
            rewrite = rule;
        else if (rewrite && leads_all_to_https(rule, &s))
            mk_setup_warn(setup, &rule->at,
                          "Redirect: paths of the Rewrite in line %u are not led to https: write "
                          "this line before it",
                          rewrite->at.line);
    }
    rewrite_rules_scratch_free(&s);
    return 0;
}
