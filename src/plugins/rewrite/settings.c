/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "kit/text/words.h"

#include <string.h>

static struct rule *new_rule(struct mk_setup *setup, const struct mk_setting *s,
                             enum rule_kind kind)
{
    struct rule *rule = mk_setup_alloc(setup, sizeof(*rule));
    struct mk_str file = mk_setup_copy(setup, mk_str_from(s->value_at.file));

    if (!rule || !file.p)
        return NULL;
    rule->kind = kind;
    rule->at = s->value_at;
    rule->at.file = file.p;
    return rule;
}

static int append(struct mk_setup *setup, struct rule *rule)
{
    struct rewrite_settings *settings = mk_setup_settings(setup);

    if (settings->last)
        settings->last->next = rule;
    else
        settings->first = rule;
    settings->last = rule;
    return 0;
}

/* ---- regular expressions ---- */

/* Their memory is the configuration's. */
static void *allocate(size_t size, void *setup)
{
    return mk_setup_alloc(setup, size);
}

static void leave(void *p, void *setup)
{
    (void)p, (void)setup;
}

static const pcre2_code *compile(struct mk_setup *setup, struct mk_str text, int *error,
                                 PCRE2_SIZE *where)
{
    pcre2_general_context *memory = pcre2_general_context_create(allocate, leave, setup);
    pcre2_compile_context *limits = memory ? pcre2_compile_context_create(memory) : NULL;

    *error = PCRE2_ERROR_HEAP_FAILED;
    if (!limits)
        return NULL;
    (void)pcre2_set_max_pattern_length(limits, RULES_PATTERN_MAX);
    (void)pcre2_set_parens_nest_limit(limits, RULES_NESTING_MAX);
    return pcre2_compile((PCRE2_SPTR)text.p, text.len,
                         PCRE2_CASELESS | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF |
                             PCRE2_NEVER_BACKSLASH_C,
                         error, where, limits);
}

static int refuse_regex(struct mk_setup *setup, const struct mk_setting *s, int error,
                        PCRE2_SIZE where)
{
    char why[160] = "";

    if (error == PCRE2_ERROR_HEAP_FAILED)
        return MK_E_NOMEM;
    (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
    mk_setup_fault(setup, &s->value_at, "%s: the regular expression is wrong at its byte %zu: %s",
                   s->key.p, where + 1, why);
    return MK_E_INVALID;
}

/* ---- both sides of a rule ---- */

static int take_regex(struct mk_setup *setup, const struct mk_setting *s, struct rule *rule,
                      struct mk_str from)
{
    PCRE2_SIZE where = 0;
    uint32_t ngroups = 0;
    int error;

    rule->from = FROM_REGEX;
    rule->regex = compile(setup, from, &error, &where);
    if (!rule->regex)
        return refuse_regex(setup, s, error, where);
    (void)pcre2_pattern_info(rule->regex, PCRE2_INFO_CAPTURECOUNT, &ngroups);
    if (rule->target.ncaptures > ngroups + 1) {
        mk_setup_fault(setup, &s->value_at, "%s: $%u has no group: the expression has %u", s->key.p,
                       rule->target.ncaptures - 1, (unsigned)ngroups);
        return MK_E_INVALID;
    }
    return 0;
}

/* "/old" and "/old/?*". */
static int take_path(struct mk_setup *setup, const struct mk_setting *s, struct rule *rule,
                     struct mk_str from)
{
    const char *star = memchr(from.p, '*', from.len);
    const struct mk_pattern *unused; /* `*` is a group here */
    int err;

    rule->from = star ? FROM_BELOW : FROM_PATH;
    if (star && star != from.p + from.len - 1)
        return mk_setup_refuse(
            setup, s,
            "a path with `*` at its end alone, or a regular expression that begins with ^");
    err = mk_setup_pattern(setup, &s->value_at, s->key.p, from, &unused);
    if (err < 0)
        return err;
    rule->path = mk_setup_copy(setup, (struct mk_str){from.p, from.len - (star ? 1 : 0)});
    if (!rule->path.p)
        return MK_E_NOMEM;
    if (rule->target.ncaptures > (star ? 2U : 1U)) {
        mk_setup_fault(setup, &s->value_at, "%s: $%u has no group: $1 is what `*` stands for",
                       s->key.p, rule->target.ncaptures - 1);
        return MK_E_INVALID;
    }
    return 0;
}

static int take_target(struct mk_setup *setup, const struct mk_setting *s, struct rule *rule,
                       struct mk_str to)
{
    struct mk_template from;
    const char *why;
    int err = mk_setup_template(setup, s, to, MK_TEMPLATE_GROUPS, &from);

    if (err < 0)
        return err;
    if (rewrite_target_parse(&rule->target, &from, &why) < 0) {
        mk_setup_fault(setup, &s->value_at, "%s: \"%.*s\": %s", s->key.p, (int)to.len, to.p, why);
        return MK_E_INVALID;
    }
    if (rule->target.is_host_chosen)
        mk_setup_warn(setup, &s->value_at,
                      "%s: whoever makes a link to this site chooses the host of \"%.*s\"",
                      s->key.p, (int)to.len, to.p);
    return 0;
}

/* @param text  p NULL: none. */
static int take_status(struct mk_setup *setup, const struct mk_setting *s, struct rule *rule,
                       struct mk_str text)
{
    rule->status = text.p ? rewrite_target_status(text) : TARGET_STATUS;
    return rule->status ? 0
                        : mk_setup_refuse(setup, s, "one of 301 302 303 307 308 after the target");
}

/* ---- keys ---- */

#define REWRITE_EXPECTED                                                                           \
    "a regular expression and a path of this site, such as ^/tag/(.*)$ /index.php?tag=$1"

static int parse_rewrite(struct mk_setup *setup, const struct mk_setting *s)
{
    struct rule *rule = new_rule(setup, s, RULE_REWRITE);
    struct mk_str rest = s->value, from = text_next_word(&rest), to = text_next_word(&rest);
    int err;

    if (!rule)
        return MK_E_NOMEM;
    if (to.len == 0 || !memchr("/$", to.p[0], 2) || text_trim(rest).len > 0)
        return mk_setup_refuse(setup, s, REWRITE_EXPECTED);
    err = take_target(setup, s, rule, to);
    if (err == 0 && !rule->target.is_local)
        return mk_setup_refuse(setup, s, REWRITE_EXPECTED);
    if (err == 0)
        err = take_regex(setup, s, rule, from);
    return err < 0 ? err : append(setup, rule);
}

static int parse_redirect(struct mk_setup *setup, const struct mk_setting *s)
{
    struct rule *rule = new_rule(setup, s, RULE_REDIRECT);
    struct mk_str rest = s->value, from = text_next_word(&rest), to = text_next_word(&rest);
    int err;

    if (!rule)
        return MK_E_NOMEM;
    err = to.len > 0 ? take_status(setup, s, rule, text_next_word(&rest)) : MK_E_INVALID;
    if (to.len == 0 || text_trim(rest).len > 0)
        return mk_setup_refuse(setup, s,
                               "a path or a regular expression, a target, and perhaps a "
                               "status, such as /old/* /new/$1 302");
    if (err == 0)
        err = take_target(setup, s, rule, to);
    if (err == 0)
        err = memchr("/\"'", from.p[0], 3) ? take_path(setup, s, rule, from)
                                           : take_regex(setup, s, rule, from);
    return err < 0 ? err : append(setup, rule);
}

static const struct mk_field fields[] = {
    {.name = "Rewrite", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_rewrite},
    {.name = "Redirect",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_redirect},
    {.name = "RedirectMap",
     .type = MK_FIELD_PATH,
     .flags = MK_FIELD_REPEAT,
     .offset = offsetof(struct rewrite_settings, maps)},
};

const struct mk_section_spec rewrite_section =
    MK_SECTION("REWRITE", MK_SECTION_SITE, struct rewrite_settings, fields);
