/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"
#include "settings.h"
#include "values.h"

#include "kit/text/words.h"

#include <monkey/explain.h>

#include <stdlib.h>
#include <string.h>

/*
 * Redirects, and addresses that an application has under other names. Maps are looked up first, then the first rule that
 * matches decides, unless it leads to where the client is already. The path to which a rule leads is not compared again, so no request goes in circles.
 */

static const struct mk_section_spec *const sections[] = {&rewrite_section, NULL};

struct site {
    const struct rule *first;
    struct map *maps;
    size_t nmaps;
};

/* ---- a configuration ---- */

static void tell_fault(struct mk_setup *setup, const char *file, const struct map_fault *fault)
{
    const struct mk_origin at = {.file = file, .line = fault->line, .column = 1};

    if (fault->same_line)
        mk_setup_fault(setup, &at, "RedirectMap: %s, in line %u", fault->why,
                       (unsigned)fault->same_line);
    else
        mk_setup_fault(setup, &at, "RedirectMap: %s", fault->why);
}

static int index_map(struct mk_setup *setup, struct map *m, const char *file, struct mk_str text)
{
    const uint32_t nlines = rewrite_map_count(text), nslots = rewrite_map_slots(nlines);
    struct map_line *lines = mk_setup_alloc(setup, nlines * sizeof(*lines));
    uint32_t *slots = mk_setup_alloc(setup, nslots * sizeof(*slots));
    struct map_fault fault;
    union {
        const char *given;
        char *own; /* the file was read for this configuration alone */
    } bytes = {text.p};

    if (!lines || !slots)
        return MK_E_NOMEM;
    if (rewrite_map_read(m, bytes.own, text.len, lines, slots, nslots, &fault) < 0)
        tell_fault(setup, file, &fault);
    return 0;
}

static int read_map(struct mk_setup *setup, struct map *m, const char *file,
                    const struct mk_origin *at)
{
    int err;
    const struct mk_str text = mk_setup_read(setup, file, MAP_FILE_MAX, &err);

    if (text.p)
        return index_map(setup, m, file, text);
    if (err != MK_E_NOMEM)
        mk_setup_fault(setup, at, "RedirectMap: %s: %s", file, mk_error_text(err));
    return err == MK_E_NOMEM ? err : 0;
}

static int read_maps(struct mk_setup *setup, struct site *site,
                     const struct rewrite_settings *settings)
{
    const struct mk_origin *at = mk_setup_place(setup, settings, "RedirectMap");
    int err = 0;

    site->maps = mk_setup_alloc(setup, (settings->maps.count + 1) * sizeof(*site->maps));
    if (!site->maps)
        return MK_E_NOMEM;
    while (err == 0 && site->nmaps < settings->maps.count) {
        err = read_map(setup, &site->maps[site->nmaps], settings->maps.items[site->nmaps].p, at);
        site->nmaps++;
    }
    return err;
}

static int rewrite_check_site(struct mk_setup *setup)
{
    const struct rewrite_settings *settings = mk_setup_section(setup, &rewrite_section, NULL);
    struct site *site = mk_setup_alloc(setup, sizeof(*site));
    int err;

    if (!site)
        return MK_E_NOMEM;
    mk_setup_keep(setup, site);
    mk_setup_act(setup, 0);
    if (!settings)
        return 0;
    site->first = settings->first;
    err = read_maps(setup, site, settings);
    mk_setup_act(setup, site->first || site->nmaps > 0 ? MK_ACTS_REQUEST : 0);
    if (err == 0)
        err = rewrite_rules_check_order(setup, site->first);
    return err < 0 ? err : rewrite_rules_check_circles(setup, site->first);
}

static int rewrite_worker_start(const struct mk_context *ctx, void **local)
{
    struct rules_scratch *s = malloc(sizeof(*s));

    (void)ctx;
    if (!s || rewrite_rules_scratch_init(s) < 0) {
        free(s);
        return MK_E_NOMEM;
    }
    *local = s;
    return 0;
}

static void rewrite_worker_stop(const struct mk_context *ctx)
{
    rewrite_rules_scratch_free(ctx->local);
    free(ctx->local);
}

/* ---- requests ---- */

static const char seen; /* its address is the key of requests that were asked about */

static enum mk_verdict refuse(struct mk_request *r, unsigned status, const struct rule *rule,
                              const char *why)
{
    mk_request_log(r, MK_LOG_WARN, "%s by=%s:%u", why, rule->at.file, rule->at.line);
    mk_request_reason(r, why);
    return mk_reply_error(r, status, NULL);
}

/* Nothing, where the client is there already. */
static enum mk_verdict redirect(struct mk_request *r, const struct values *v, struct mk_str to,
                                unsigned status)
{
    return rewrite_values_lead_here(v, to) ? MK_VERDICT_PASS : mk_reply_redirect(r, status, to);
}

static enum mk_verdict rewrite(struct mk_request *r, const struct rule *rule, struct mk_str to)
{
    switch (mk_request_rewrite(r, to)) {
    case 0:
        return MK_VERDICT_LATER;
    case MK_E_NOMEM:
        return mk_reply_error(r, 503, NULL);
    default:
        return refuse(r, 400, rule, "the rewritten address is not one of this site");
    }
}

/* A query stays, before a fragment, unless the target has one of its own. @return the new length */
static size_t add_query(char *to, size_t len, const struct target *t, struct mk_str query)
{
    const char *fragment = memchr(to, '#', len);
    const size_t at = fragment ? (size_t)(fragment - to) : len;

    if (t->has_query || !query.p)
        return len;
    memmove(to + at + 1 + query.len, to + at, len - at);
    to[at] = '?';
    memcpy(to + at + 1, query.p, query.len);
    return len + 1 + query.len;
}

static enum mk_verdict apply(struct mk_request *r, const struct rule *rule,
                             const struct mk_str captures[TARGET_CAPTURES])
{
    struct values v;
    struct mk_str query;
    size_t len;
    char *to;

    rewrite_values_of(&v, r);
    memcpy(v.of_target.captures, captures, sizeof(v.of_target.captures));
    query = v.of_target.variables[MK_VARIABLE_QUERY];
    to = mk_request_alloc(r, rewrite_target_room(&rule->target, &v.of_target) + query.len + 1);
    if (!to)
        return mk_reply_error(r, 503, NULL);
    len = rewrite_target_write(&rule->target, &v.of_target, to);
    len = add_query(to, len, &rule->target, query);
    if (rule->kind == RULE_REWRITE)
        return rewrite(r, rule, (struct mk_str){to, len});
    return redirect(r, &v, (struct mk_str){to, len}, rule->status);
}

static enum mk_verdict try_rules(struct mk_request *r, const struct site *site,
                                 const struct rules_scratch *s)
{
    const struct mk_str path = mk_request_path(r);
    struct mk_str captures[TARGET_CAPTURES];

    for (const struct rule *rule = site->first; rule; rule = rule->next) {
        enum mk_verdict verdict = MK_VERDICT_PASS;

        switch (rewrite_rules_compare(rule, path, s, captures)) {
        case RULES_MATCH:
            verdict = apply(r, rule, captures);
            break;
        case RULES_TOO_LONG:
            return refuse(r, 500, rule, "a regular expression takes too long for this path");
        case RULES_PASS:
            break;
        }
        if (verdict != MK_VERDICT_PASS)
            return verdict;
    }
    return MK_VERDICT_PASS;
}

static enum mk_verdict try_maps(struct mk_request *r, const struct site *site)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    enum mk_verdict verdict = MK_VERDICT_PASS;
    struct values v;

    if (site->nmaps == 0)
        return verdict;
    mk_request_facts(r, &facts);
    for (size_t i = 0; i < site->nmaps && verdict == MK_VERDICT_PASS; i++) {
        const struct map *m = &site->maps[i];
        const struct map_line *line = rewrite_map_find(m, facts.path, facts.query);

        if (!line)
            continue;
        rewrite_values_of(&v, r);
        verdict = redirect(r, &v, rewrite_map_target(m, line), line->status);
    }
    return verdict;
}

static enum mk_verdict rewrite_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    const struct site *site = ctx->site;
    enum mk_verdict verdict;

    if (mk_request_kept(r, &seen))
        return MK_VERDICT_PASS; /* of a rewritten path, an index file, an error page */
    if (mk_request_keep(r, &seen, ctx->local) < 0)
        return mk_reply_error(r, 503, NULL);
    verdict = try_maps(r, site);
    return verdict == MK_VERDICT_PASS ? try_rules(r, site, ctx->local) : verdict;
}

/* ---- explanations ---- */

static bool is_in_a_map(const struct mk_request *r, const struct site *site)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    for (size_t i = 0; i < site->nmaps; i++) {
        if (rewrite_map_find(&site->maps[i], facts.path, facts.query))
            return true;
    }
    return false;
}

static const struct rule *find_rule(const struct mk_request *r, const struct mk_context *ctx)
{
    const struct site *site = ctx->site;
    const struct rule *rule = site->first;
    struct mk_str captures[TARGET_CAPTURES];

    while (rule &&
           rewrite_rules_compare(rule, mk_request_path(r), ctx->local, captures) == RULES_PASS)
        rule = rule->next;
    return rule;
}

static enum mk_verdict rewrite_explain(struct mk_request *r, const struct mk_context *ctx,
                                       struct mk_explain *e)
{
    const struct rule *rule;
    struct mk_str line;

    if (mk_request_kept(r, &seen))
        return MK_VERDICT_PASS;
    if (is_in_a_map(r, ctx->site)) {
        mk_explain_say(e, mk_explain_place(e, "RedirectMap", (struct mk_str){NULL, 0}),
                       "a line of a map");
        return MK_VERDICT_PASS;
    }
    rule = find_rule(r, ctx);
    if (!rule)
        return MK_VERDICT_PASS;
    line = text_trim(rule->at.text);
    mk_explain_say(e, &rule->at, "%.*s", (int)line.len, line.p);
    return MK_VERDICT_PASS;
}

static const struct mk_plugin rewrite_plugin = {
    MK_PLUGIN("rewrite", "redirects, and addresses under other names"),
    .sections = sections,
    .check_site = rewrite_check_site,
    .worker_start = rewrite_worker_start,
    .worker_stop = rewrite_worker_stop,
    .on_request = rewrite_on_request,
    .explain = rewrite_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(rewrite_plugin);
