/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REWRITE_RULES_H
#define REWRITE_RULES_H

#include "target.h"

#include <monkey/settings.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The rules of a site, in the order written. The first that matches decides. */

enum {
    RULES_PATTERN_MAX = 2000, /* bytes of a regular expression */
    RULES_NESTING_MAX = 50,   /* of its parentheses */
    RULES_STEPS_MAX = 50000,  /* of a comparison: less than a millisecond */
    RULES_HEAP_MAX_KB = 256,  /* of memory for it, a worker */
};

enum rule_kind { RULE_REWRITE, RULE_REDIRECT };

enum rule_from {
    FROM_PATH,  /* this one */
    FROM_BELOW, /* it and what begins with it, whose rest is $1 */
    FROM_REGEX,
};

struct rule {
    struct rule *next;
    enum rule_kind kind;
    enum rule_from from;
    struct mk_str path;      /* PATH, BELOW */
    const pcre2_code *regex; /* REGEX */
    struct target target;
    unsigned status; /* REDIRECT */
    struct mk_origin at;
};

/** What comparisons need: one a worker. */
struct rules_scratch {
    pcre2_match_context *limits;
    pcre2_match_data *found;
};

int rewrite_rules_scratch_init(struct rules_scratch *s);
void rewrite_rules_scratch_free(struct rules_scratch *s);

enum rules_result { RULES_PASS, RULES_MATCH, RULES_TOO_LONG };

/**
 * Compare a path with a rule.
 * @param captures  out, with RULES_MATCH: borrowed from path
 * @return RULES_TOO_LONG: it took more than RULES_STEPS_MAX.
 */
enum rules_result rewrite_rules_compare(const struct rule *rule, struct mk_str path,
                                        const struct rules_scratch *s,
                                        struct mk_str captures[TARGET_CAPTURES]);

/** Note rules that lead in circles: an error where no variable is involved, a warning where an example is led so. */
int rewrite_rules_check_circles(struct mk_setup *setup, const struct rule *first);

/** Warn of a Redirect of all paths to https that stands after a Rewrite, whose paths it never sees. */
int rewrite_rules_check_order(struct mk_setup *setup, const struct rule *first);

#endif
