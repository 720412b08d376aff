/* SPDX-License-Identifier: Apache-2.0 */
#include "access.h"
#include "kit/nets/nets.h"
#include "kit/text/set.h"
#include "kit/text/words.h"
#include "referer.h"

#include <monkey/explain.h>

/*
 * Access rules: addresses that are dropped when they connect, paths that are refused, and files that
 * other sites may not show as theirs.
 */

enum rule_kind { RULE_ADDRESS, RULE_PATH, RULE_HOTLINK };

struct rule {
    struct rule *next;
    enum rule_kind kind;
    bool allow;
    bool dry_run;
    struct net net;                   /* ADDRESS */
    struct mk_str text;               /* PATH, HOTLINK: lower case */
    const struct mk_pattern *pattern; /* PATH, HOTLINK: the text is one as well; NULL: it is none */
    const char *file;                 /* where it was written */
    unsigned line;
};

/** One [RULES] section. */
struct section {
    bool dry_run;
    struct rule *first, *last;
};

/* What the address rules of one kind come to: those that count, or those that are only tried out. */
struct addresses {
    struct nets nets;
    uint32_t count;
    bool deny_rest; /* only Allow_IP lines */
};

struct mandril {
    struct rule **rules; /* in the order written */
    struct rule **paths; /* of them, those that look at requests */
    uint32_t nrules, npaths, npatterns;
    struct text_set texts; /* of paths */
    struct addresses strict, dry;
    bool has_places; /* with Allow or Deny */
    bool is_limit_told;
};

/** A site, or a place in it. */
struct place {
    struct mk_words names;       /* of the site */
    const struct access *access; /* NULL: it has no Allow or Deny */
};

/* ---- settings ---- */

static struct rule *add_rule(struct mk_setup *setup, const struct mk_setting *s,
                             enum rule_kind kind)
{
    struct section *section = mk_setup_settings(setup);
    struct rule *rule = mk_setup_alloc(setup, sizeof(*rule));
    struct mk_str file = mk_setup_copy(setup, mk_str_from(s->value_at.file));

    if (!rule || !file.p)
        return NULL;
    rule->kind = kind;
    rule->file = file.p;
    rule->line = s->value_at.line;
    if (section->last)
        section->last->next = rule;
    else
        section->first = rule;
    section->last = rule;
    return rule;
}

static int parse_address(struct mk_setup *setup, const struct mk_setting *s, bool allow)
{
    struct rule *rule;
    struct net net;
    bool loose;

    if (net_parse(s->value, &net, &loose) < 0)
        return mk_setup_refuse(setup, s, "an address or a network such as 10.0.0.0/8 or fe80::/10");
    if (loose)
        mk_setup_warn(setup, &s->value_at, "%s: bits after the prefix of %s are ignored", s->key.p,
                      s->value.p);
    rule = add_rule(setup, s, RULE_ADDRESS);
    if (!rule)
        return MK_E_NOMEM;
    rule->net = net;
    rule->allow = allow;
    return 0;
}

static int parse_deny_ip(struct mk_setup *setup, const struct mk_setting *s)
{
    return parse_address(setup, s, false);
}

static int parse_allow_ip(struct mk_setup *setup, const struct mk_setting *s)
{
    return parse_address(setup, s, true);
}

static int parse_text(struct mk_setup *setup, const struct mk_setting *s, enum rule_kind kind)
{
    struct rule *rule;
    char *lower;

    if (s->value.len == 0)
        return mk_setup_refuse(setup, s, "a part of a path");
    rule = add_rule(setup, s, kind);
    lower = mk_setup_alloc(setup, s->value.len + 1);
    if (!rule || !lower)
        return MK_E_NOMEM;
    text_lower_copy(lower, s->value);
    rule->text = (struct mk_str){lower, s->value.len};
    return mk_setup_pattern(setup, &s->value_at, s->key.p, s->value, &rule->pattern);
}

static int parse_deny_url(struct mk_setup *setup, const struct mk_setting *s)
{
    return parse_text(setup, s, RULE_PATH);
}

static int parse_deny_hotlink(struct mk_setup *setup, const struct mk_setting *s)
{
    return parse_text(setup, s, RULE_HOTLINK);
}

static const struct mk_field fields[] = {
    {.name = "Deny_IP",
     .alias = "IP",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_deny_ip},
    {.name = "Allow_IP",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_allow_ip},
    {.name = "Deny_URL",
     .alias = "URL",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_deny_url},
    {.name = "deny_hotlink",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_deny_hotlink},
    {.name = "DryRun",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct section, dry_run),
     .fallback = "off"},
};

static const struct mk_section_spec rules_section =
    MK_SECTION("RULES", MK_SECTION_FILE | MK_SECTION_REPEAT, struct section, fields);
static const struct mk_section_spec *const sections[] = {&rules_section, &mandril_access_section,
                                                         NULL};

/* ---- a configuration ---- */

static uint32_t count_rules(struct mk_setup *setup)
{
    uint32_t count = 0;

    for (struct section *s = NULL; (s = mk_setup_section(setup, &rules_section, s));) {
        for (const struct rule *rule = s->first; rule; rule = rule->next)
            count++;
    }
    return count;
}

static void gather_rules(struct mk_setup *setup, struct mandril *m)
{
    for (struct section *s = NULL; (s = mk_setup_section(setup, &rules_section, s));) {
        for (struct rule *rule = s->first; rule; rule = rule->next) {
            rule->dry_run = s->dry_run;
            m->rules[m->nrules++] = rule;
        }
    }
}

static int build_addresses(struct mk_setup *setup, const struct mandril *m,
                           struct addresses *addresses, bool dry_run)
{
    struct nets_node *nodes = mk_setup_alloc(setup, NETS_NODES(m->nrules) * sizeof(*nodes));

    if (!nodes)
        return MK_E_NOMEM;
    nets_init(&addresses->nets, nodes);
    addresses->deny_rest = true;
    for (uint32_t i = 0; i < m->nrules; i++) {
        const struct rule *rule = m->rules[i];

        if (rule->kind != RULE_ADDRESS || rule->dry_run != dry_run)
            continue;
        nets_add(&addresses->nets, &rule->net, i);
        addresses->deny_rest = addresses->deny_rest && rule->allow;
        addresses->count++;
    }
    return 0;
}

static int build_texts(struct mk_setup *setup, struct mandril *m)
{
    struct mk_str *items = mk_setup_alloc(setup, (m->npaths + 1) * sizeof(*items));

    if (!items)
        return MK_E_NOMEM;
    for (uint32_t i = 0; i < m->npaths; i++)
        items[i] = m->paths[i]->text;
    return text_set_build(&m->texts, setup, items, m->npaths);
}

static int mandril_check(struct mk_setup *setup)
{
    struct mandril *m = mk_setup_alloc(setup, sizeof(*m));
    size_t size = (count_rules(setup) + 1) * sizeof(struct rule *);

    if (!m)
        return MK_E_NOMEM;
    m->rules = mk_setup_alloc(setup, size);
    m->paths = mk_setup_alloc(setup, size);
    if (!m->rules || !m->paths)
        return MK_E_NOMEM;
    gather_rules(setup, m);
    for (uint32_t i = 0; i < m->nrules; i++) {
        if (m->rules[i]->kind != RULE_ADDRESS)
            m->paths[m->npaths++] = m->rules[i];
        m->npatterns += m->rules[i]->pattern != NULL;
    }
    mk_setup_keep(setup, m);
    mk_setup_act(setup, m->nrules > m->npaths ? MK_ACTS_ACCEPT : 0);
    if (build_texts(setup, m) < 0 || build_addresses(setup, m, &m->strict, false) < 0)
        return MK_E_NOMEM;
    return build_addresses(setup, m, &m->dry, true);
}

static const struct mk_origin *place_of(const struct rule *rule, struct mk_origin *at)
{
    *at = (struct mk_origin){.file = rule->file, .line = rule->line, .column = 1};
    return at;
}

/* `Match ^/admin/ mandril` does not make Allow_IP a rule of /admin/: it closes connections of all other addresses. */
static void check_limits(struct mk_setup *setup, struct mandril *m, bool has_access)
{
    static const char sentence[] = "Allow_IP alone closes all other connections, which have no "
                                   "path: a line `Match ... mandril` "
                                   "does not limit it; write Allow in a [LOCATION] with that Match";
    struct mk_origin at;
    uint32_t first = 0;

    if (m->is_limit_told || mk_setup_switch(setup) != MK_SWITCH_ON || m->strict.count == 0 ||
        !m->strict.deny_rest)
        return;
    while (m->rules[first]->kind != RULE_ADDRESS || m->rules[first]->dry_run)
        first++;
    m->is_limit_told = true;
    if (m->npaths > 0 || has_access)
        mk_setup_warn(setup, place_of(m->rules[first], &at), "%s", sentence);
    else
        mk_setup_fault(setup, place_of(m->rules[first], &at), "%s", sentence);
}

static int mandril_check_site(struct mk_setup *setup)
{
    struct mandril *m = mk_setup_config(setup);
    struct place *place = mk_setup_alloc(setup, sizeof(*place));

    if (!place || mandril_access_make(setup, &place->access) < 0)
        return MK_E_NOMEM;
    check_limits(setup, m, place->access != NULL);
    place->names = *mk_setup_site_names(setup);
    m->has_places |= place->access != NULL;
    mk_setup_keep(setup, place);
    mk_setup_act(setup, m->npaths > 0 || place->access ? MK_ACTS_REQUEST : 0);
    return 0;
}

/* ---- addresses ---- */

static bool denies(const struct addresses *addresses, const struct mandril *m, const uint8_t ip[16],
                   const struct rule **why)
{
    uint32_t found;

    if (addresses->count == 0)
        return false;
    found = nets_find(&addresses->nets, ip);
    *why = found == NETS_NONE ? NULL : m->rules[found];
    return *why ? !(*why)->allow : addresses->deny_rest;
}

static void tell_of_connection(const struct mk_conn *c, const struct rule *why,
                               enum mk_log_level level, const char *what)
{
    if (why)
        mk_conn_log(c, level, "%s by=%s:%u", what, why->file, why->line);
    else
        mk_conn_log(c, level, "%s by=\"no Allow_IP line\"", what);
}

static enum mk_verdict mandril_on_accept(struct mk_conn *c, const struct mk_context *ctx)
{
    const struct mandril *m = ctx->config;
    struct mk_conn_facts facts = {.size = sizeof(facts)};
    const struct rule *why;

    mk_conn_facts(c, &facts);
    if (facts.peer_is_unix)
        return MK_VERDICT_PASS;
    if (denies(&m->dry, m, facts.peer_ip, &why))
        tell_of_connection(c, why, MK_LOG_WARN, "connection would be closed");
    if (!denies(&m->strict, m, facts.peer_ip, &why))
        return MK_VERDICT_PASS;
    tell_of_connection(c, why, MK_LOG_INFO, "connection dropped");
    return MK_VERDICT_CLOSE;
}

/* ---- paths ---- */

static void find_patterns(const struct mandril *m, struct mk_str path, uint8_t *found)
{
    for (uint32_t i = 0, left = m->npatterns; left > 0; i++) {
        const struct mk_pattern *pattern = m->paths[i]->pattern;

        if (pattern && mk_pattern_is_of(pattern, path))
            found[i / 8] |= (uint8_t)(1U << (i % 8));
        left -= pattern != NULL;
    }
}

/* Texts and patterns of rules in the path, however an application behind the site may read it. @return 0 or MK_E_NOMEM. */
static int find_texts(struct mk_request *r, const struct mandril *m, uint8_t *found)
{
    struct mk_str path;
    int more;

    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        text_set_find(&m->texts, path, found);
        find_patterns(m, path, found);
    }
    return more;
}

static enum mk_verdict refuse_by_text(struct mk_request *r, const struct mk_context *ctx)
{
    const struct mandril *m = ctx->config;
    const struct place *place = ctx->site;
    uint8_t *found = mk_request_alloc(r, TEXT_SET_FOUND_SIZE(m->npaths));

    if (!found)
        return mk_reply_error(r, 503, NULL);
    memset(found, 0, TEXT_SET_FOUND_SIZE(m->npaths));
    if (find_texts(r, m, found) < 0)
        return mk_reply_error(r, 503, NULL);
    for (uint32_t i = 0; (i = text_set_next(found, i, m->npaths)) < m->npaths; i++) {
        const struct rule *rule = m->paths[i];

        if (rule->kind == RULE_HOTLINK && !mandril_comes_from_elsewhere(r, &place->names))
            continue;
        mk_request_log(r, rule->dry_run ? MK_LOG_WARN : MK_LOG_INFO, "request %s by=%s:%u",
                       rule->dry_run ? "would be refused" : "refused", rule->file, rule->line);
        if (!rule->dry_run)
            return mk_reply_error(r, 403, NULL);
    }
    return MK_VERDICT_PASS;
}

/* ---- places ---- */

static void tell_of_denial(const struct mk_request *r, const struct access_denial *why)
{
    if (why->file)
        mk_request_log(r, MK_LOG_INFO, "request refused by=%s:%u", why->file, why->line);
    else
        mk_request_log(r, MK_LOG_INFO, "request refused by=\"no Allow line\"");
}

/* In each place that an application behind the site may take the path for. @return 0, the status of a refusal, MK_E_NOMEM. */
static int is_denied(struct mk_request *r, const struct mk_context *ctx)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct access_denial why;
    struct mk_str path;
    int more;

    mk_request_facts(r, &facts);
    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        const struct place *place = i == 0 ? ctx->site : mk_request_site_at(r, ctx, path);

        if (mandril_access_hides(place->access, &facts, place == ctx->site))
            return 404;
        if (mandril_access_denies(place->access, &facts, &why)) {
            tell_of_denial(r, &why);
            return 403;
        }
    }
    return more;
}

static enum mk_verdict mandril_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    const struct mandril *m = ctx->config;
    int denied = m->has_places ? is_denied(r, ctx) : 0;

    if (denied != 0)
        return mk_reply_error(r, denied > 0 ? (unsigned)denied : 503, NULL);
    return m->npaths > 0 ? refuse_by_text(r, ctx) : MK_VERDICT_PASS;
}

/* What is logged of a refusal names its line; an address that has none is refused by all of them. */
static enum mk_verdict mandril_explain(struct mk_request *r, const struct mk_context *ctx,
                                       struct mk_explain *e)
{
    const struct place *place = ctx->site;

    (void)r;
    if (place->access)
        mk_explain_say(e, mk_explain_place(e, "Allow", (struct mk_str){NULL, 0}),
                       "Allow and Deny of this place");
    return MK_VERDICT_PASS;
}

static const struct mk_plugin mandril = {
    MK_PLUGIN("mandril", "access rules for addresses and paths"),
    .sections = sections,
    .check = mandril_check,
    .check_site = mandril_check_site,
    .on_accept = mandril_on_accept,
    .on_request = mandril_on_request,
    .explain = mandril_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(mandril);
