/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"
#include "settings.h"

#include "kit/cookie/cookie.h"
#include "kit/text/words.h"

#include <monkey/explain.h>

#include <string.h>
#include <strings.h>

/*
 * Rates: requests a second and requests at a time, by the client's address and other keys. Each rule has one account for
 * all workers, which a reload keeps. A request is asked about once, with the path that the client sent.
 */

static const struct mk_section_spec *const sections[] = {&limit_place_section, &limit_section,
                                                         NULL};

/** A site, or a location in it. */
struct site {
    const struct limit_settings *settings; /* of [LIMIT]; NULL: there is none */
    struct nets exempt;
    struct limit_rule **rules; /* of [LIMIT], then those of the place */
    size_t count, nlimit;      /* in all; of [LIMIT] */
};

struct limit {
    struct limit_rule **rules; /* of all sites */
    size_t count;
};

/* ---- a configuration ---- */

static int limit_check(struct mk_setup *setup)
{
    struct limit *limit = mk_setup_alloc(setup, sizeof(*limit));

    if (!limit)
        return MK_E_NOMEM;
    mk_setup_keep(setup, limit);
    return 0;
}

static int append(struct mk_setup *setup, struct limit *limit, struct limit_rule *rule)
{
    struct limit_rule **all =
        mk_setup_alloc(setup, (limit->count + 1) * sizeof(struct limit_rule *));

    if (!all)
        return MK_E_NOMEM;
    if (limit->count > 0)
        memcpy(all, limit->rules, limit->count * sizeof(struct limit_rule *));
    all[limit->count++] = rule;
    limit->rules = all;
    return 0;
}

/* A location inherits lines, which are one rule wherever they are read. */
static bool is_same(const struct limit_rule *a, const struct limit_rule *b)
{
    return a == b || (a->of == b->of && a->at.line == b->at.line && text_is(a->name, b->name) &&
                      strcmp(a->at.file, b->at.file) == 0);
}

/* Metrics and logs know a rule by its name. */
static void check_name(struct mk_setup *setup, const struct limit *limit,
                       const struct limit_rule *rule)
{
    for (size_t i = 0; i < limit->count; i++) {
        const struct limit_rule *other = limit->rules[i];

        if (other->of == rule->of && text_is_word(other->name, rule->name))
            mk_setup_fault(setup, &rule->at,
                           "another rule of this site has the name %s, in line %u", rule->name.p,
                           other->at.line);
    }
}

/* For start and stop. @param rule  in: one that was read; out: the one that was noted before it and is the same, if there is any */
static int note(struct mk_setup *setup, struct limit *limit, struct limit_rule **rule)
{
    for (size_t i = 0; i < limit->count; i++) {
        if (is_same(limit->rules[i], *rule)) {
            *rule = limit->rules[i];
            return 0;
        }
    }
    check_name(setup, limit, *rule);
    return append(setup, limit, *rule);
}

/* For requests in this place. */
static int note_rules(struct mk_setup *setup, struct site *site, struct limit_rule *first)
{
    struct limit *limit = mk_setup_config(setup);
    const struct mk_words *names = mk_setup_site_names(setup);

    for (struct limit_rule *rule = first; rule; rule = rule->next) {
        struct limit_rule **of_place = &site->rules[site->count++];

        rule->site = names->count > 0 ? names->items[0] : MK_STR("");
        rule->of = names->items;
        rule->nkeys = rule->key == KEY_ALL ? 1
                      : site->settings     ? (uint32_t)site->settings->nkeys
                                           : LIMIT_KEYS;
        *of_place = rule;
        if (note(setup, limit, of_place) < 0)
            return MK_E_NOMEM;
    }
    return 0;
}

static int take_section(struct mk_setup *setup, struct site *site)
{
    const struct limit_settings *settings = site->settings;

    if (!settings)
        return 0;
    if (net_list_join(setup, &settings->exempt, &site->exempt) < 0 ||
        note_rules(setup, site, settings->first) < 0)
        return MK_E_NOMEM;
    site->nlimit = site->count;
    return 0;
}

static int limit_check_site(struct mk_setup *setup)
{
    struct limit_settings *settings = mk_setup_section(setup, &limit_section, NULL);
    struct limit_settings *place = mk_setup_section(setup, &limit_place_section, NULL);
    const size_t most = (settings ? settings->nrules : 0) + (place ? place->nrules : 0);
    struct site *site = mk_setup_alloc(setup, sizeof(*site));

    if (!site)
        return MK_E_NOMEM;
    mk_setup_keep(setup, site);
    site->settings = settings;
    site->rules = mk_setup_alloc(setup, (most + 1) * sizeof(struct limit_rule *));
    if (!site->rules || take_section(setup, site) < 0)
        return MK_E_NOMEM;
    if (place && note_rules(setup, site, place->first) < 0)
        return MK_E_NOMEM;
    if (settings && !settings->is_judged && site->count == 0 && settings->exempt.count == 0)
        mk_setup_warn(setup, mk_setup_origin(setup, settings), "[LIMIT] has no rule");
    if (settings)
        settings->is_judged = true; /* locations have it too */
    mk_setup_act(setup, site->count > 0 ? MK_ACTS_REQUEST : 0);
    return 0;
}

/* ---- life ---- */

/* Rates and numbers may differ: an account is in time that is owed. */
static bool has_same_keys(const struct limit_rule *a, const struct limit_rule *b)
{
    return a->kind == b->kind && a->key == b->key && a->nkeys == b->nkeys &&
           a->bits_v4 == b->bits_v4 && a->bits_v6 == b->bits_v6 && text_is(a->name, b->name) &&
           text_is(a->site, b->site) && text_is_word(a->key_name, b->key_name);
}

static bool is_adopted(const struct limit *limit, const struct account *account)
{
    for (size_t i = 0; i < limit->count; i++) {
        if (limit->rules[i]->account == account)
            return true;
    }
    return false;
}

static struct account *adopt(const struct limit *limit, const struct limit_rule *rule,
                             const struct limit *old)
{
    for (size_t i = 0; old && i < old->count; i++) {
        if (has_same_keys(rule, old->rules[i]) && !is_adopted(limit, old->rules[i]->account))
            return limit_account_get(old->rules[i]->account);
    }
    return limit_account_new(rule->nkeys);
}

static void limit_stop(const struct mk_context *ctx)
{
    const struct limit *limit = ctx->config;

    for (size_t i = 0; i < limit->count; i++) {
        limit_account_put(limit->rules[i]->account);
        limit->rules[i]->account = NULL;
    }
}

static int limit_start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct limit *limit = ctx->config;

    for (size_t i = 0; i < limit->count; i++) {
        limit->rules[i]->account = adopt(limit, limit->rules[i], old ? old->config : NULL);
        if (limit->rules[i]->account)
            continue;
        limit_stop(ctx);
        return MK_E_NOMEM;
    }
    return 0;
}

/* ---- keys of a request ---- */

/* @return bytes; 0: the client has no address. */
static size_t address_key(const struct limit_rule *rule, const struct mk_conn_facts *peer,
                          uint8_t key[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    unsigned bits = rule->bits_v6;

    if (peer->peer_is_unix)
        return 0;
    if (memcmp(peer->peer_ip, mapped, sizeof(mapped)) == 0)
        bits = 96U + rule->bits_v4;
    memset(key, 0, 16);
    memcpy(key, peer->peer_ip, bits / 8);
    if (bits % 8 > 0)
        key[bits / 8] = (uint8_t)(peer->peer_ip[bits / 8] & (0xff00U >> (bits % 8)));
    return 16;
}

/* @return p NULL: the key is an address. */
static struct mk_str text_key(const struct mk_request *r, const struct limit_rule *rule)
{
    switch (rule->key) {
    case KEY_FIELD:
        return mk_request_header(r, rule->key_name);
    case KEY_COOKIE:
        return cookie_find(r, rule->key_name);
    case KEY_PATH:
        return mk_request_path(r);
    case KEY_ALL:
        return MK_STR("all");
    case KEY_ADDRESS:
    case KEY_NET:
        break;
    }
    return (struct mk_str){NULL, 0};
}

/* @return false: the rule does not count this client. */
static bool hash_of(const struct mk_request *r, const struct limit_rule *rule,
                    const struct mk_conn_facts *peer, uint64_t *hash)
{
    const struct mk_str text = text_key(r, rule);
    uint8_t key[16];
    size_t len;

    if (text.len > 0) {
        *hash = limit_table_hash(rule->account->table, text.p, text.len);
        return true;
    }
    len = address_key(rule, peer, key);
    /* A value of 16 bytes must not be the account of an address. */
    *hash = ~limit_table_hash(rule->account->table, key, len);
    return len > 0;
}

/* ---- scope ---- */

static bool has_method(const struct limit_rule *rule, struct mk_str method)
{
    for (unsigned i = 0; i < rule->nmethods; i++) {
        if (text_is(rule->methods[i], method))
            return true;
    }
    return rule->nmethods == 0;
}

/* A slash at the end is none for many applications. */
static struct mk_str without_slashes(struct mk_str path)
{
    while (path.len > 1 && path.p[path.len - 1] == '/')
        path.len--;
    return path;
}

static bool is_path(const struct limit_rule *rule, struct mk_str path)
{
    if (rule->pattern)
        return mk_pattern_is_of(rule->pattern, path);
    return text_is_word(without_slashes(path), without_slashes(rule->path));
}

/* In any case, and however an application reads the path: "/login;x" must not be another place than "/login". */
static bool has_path(struct mk_request *r, const struct limit_rule *rule)
{
    struct mk_str path;
    int more;

    for (unsigned i = 0; (more = mk_request_reading(r, i, &path)) > 0; i++) {
        if (is_path(rule, path))
            return true;
    }
    return more < 0;
}

/* @return false: the rule does not count this request. */
static bool counts(struct mk_request *r, const struct limit_rule *rule, struct mk_str method,
                   const struct mk_conn_facts *peer, uint64_t *hash)
{
    return has_method(rule, method) && (!rule->path.p || has_path(r, rule)) &&
           hash_of(r, rule, peer, hash);
}

static bool is_exempt(const struct site *site, const struct mk_conn_facts *peer)
{
    return site->settings && site->settings->exempt.count > 0 && !peer->peer_is_unix &&
           nets_find(&site->exempt, peer->peer_ip) != NETS_NONE;
}

/* ---- requests ---- */

static const char seen; /* its address is the key of requests that were asked about */

/* A request that counts as running. */
struct running {
    struct account *account;
    uint64_t hash;
};

static void leave(void *arg)
{
    const struct running *running = arg;

    limit_table_leave(running->account->table, running->hash);
    limit_account_put(running->account);
}

static int watch_end(struct mk_request *r, struct account *account, uint64_t hash)
{
    struct running *running = mk_request_alloc(r, sizeof(*running));

    if (running) {
        *running = (struct running){.account = limit_account_get(account), .hash = hash};
        if (mk_request_on_end(r, leave, running) == 0)
            return 0;
        limit_account_put(account);
    }
    limit_table_leave(account->table, hash);
    return MK_E_NOMEM;
}

/* @return 0; > 0: seconds to wait; MK_E_NOMEM. */
static int64_t ask_rule(struct mk_request *r, const struct limit_rule *rule, uint64_t hash,
                        int64_t now_ms)
{
    int64_t wait_ns;

    if (rule->kind == LIMIT_RATE) {
        wait_ns = limit_table_take(rule->account->table, hash, &rule->rate, now_ms * 1000000);
        return (wait_ns + 999999999) / 1000000000;
    }
    switch (limit_table_enter(rule->account->table, hash, rule->running_max)) {
    case TABLE_ENTERED:
        return watch_end(r, rule->account, hash);
    case TABLE_REFUSED:
        return 1;
    case TABLE_UNCOUNTED:
        break;
    }
    return 0;
}

static void log_refusal(const struct mk_request *r, const struct limit_rule *rule, bool dry_run,
                        int64_t now_ms)
{
    unsigned unlogged;

    if (limit_account_may_log(rule->account, now_ms, &unlogged))
        mk_request_log(r, MK_LOG_WARN, "request %s limit=%s by=%s:%u unlogged=%u",
                       dry_run ? "would be refused" : "refused", rule->name.p, rule->at.file,
                       rule->at.line, unlogged);
}

static enum mk_verdict refuse(struct mk_request *r, int64_t wait_s)
{
    const char *line = mk_request_printf(r, "Retry-After: %lld\r\n", (long long)wait_s);

    mk_request_reason(r, "more requests than a limit of this site allows");
    return mk_reply_error(r, 429, line);
}

/* @param from  the first to ask */
static enum mk_verdict try_rules(struct mk_request *r, const struct site *site, size_t from,
                                 const struct mk_conn_facts *peer, int64_t now_ms)
{
    const struct mk_str method = mk_request_method(r);
    const bool dry_run = site->settings && site->settings->dry_run;
    uint64_t hash;

    for (size_t i = from; i < site->count; i++) {
        const struct limit_rule *rule = site->rules[i];
        int64_t wait_s;

        if (!counts(r, rule, method, peer, &hash))
            continue;
        wait_s = ask_rule(r, rule, hash, now_ms);
        if (wait_s < 0)
            return mk_reply_error(r, 503, NULL);
        if (wait_s == 0)
            continue;
        log_refusal(r, rule, dry_run, now_ms);
        if (!dry_run)
            return refuse(r, wait_s);
    }
    return MK_VERDICT_PASS;
}

/* Rules of its place, and of the first other one in which an application may read the path: "/login;x" is not elsewhere. */
static enum mk_verdict try_places(struct mk_request *r, const struct mk_context *ctx,
                                  const struct mk_conn_facts *peer)
{
    const struct site *site = ctx->site, *other = site;
    const int64_t now_ms = mk_worker_now_ms(ctx->worker);
    enum mk_verdict verdict = try_rules(r, site, 0, peer, now_ms);
    struct mk_str path;
    int more = 1;

    for (unsigned i = 1; verdict == MK_VERDICT_PASS && other == site && more > 0; i++) {
        more = mk_request_reading(r, i, &path);
        if (more < 0)
            return mk_reply_error(r, 503, NULL);
        if (more > 0)
            other = mk_request_site_at(r, ctx, path);
    }
    return other == site || verdict != MK_VERDICT_PASS
               ? verdict
               : try_rules(r, other, other->nlimit, peer, now_ms);
}

static enum mk_verdict limit_on_request(struct mk_request *r, const struct mk_context *ctx)
{
    const struct site *site = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts peer = {.size = sizeof(peer)};

    if (mk_request_kept(r, &seen))
        return MK_VERDICT_PASS; /* of an index file, a rewritten path, an error page */
    if (mk_request_keep(r, &seen, ctx->site) < 0)
        return mk_reply_error(r, 503, NULL);
    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &peer);
    if (!facts.conn && peer.peer_is_unix)
        return MK_VERDICT_PASS;
    if (is_exempt(site, &peer))
        return MK_VERDICT_PASS;
    return try_places(r, ctx, &peer);
}

static void say_rule(struct mk_explain *e, const struct limit_rule *rule)
{
    const char *key = rule->kind == LIMIT_RATE ? "Rate" : "Concurrent";
    const struct mk_origin *at = mk_explain_place(e, key, rule->name);
    const struct mk_str line = text_trim(at ? at->text : rule->name);

    mk_explain_say(e, at, "%.*s", (int)line.len, line.p);
}

/* The rules that count a request, as they are written: nobody knows how much of a rate others have used. */
static enum mk_verdict limit_explain(struct mk_request *r, const struct mk_context *ctx,
                                     struct mk_explain *e)
{
    const struct site *site = ctx->site;
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts peer = {.size = sizeof(peer)};
    uint64_t hash;

    if (mk_request_kept(r, &seen))
        return MK_VERDICT_PASS;
    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &peer);
    if (is_exempt(site, &peer)) {
        mk_explain_say(e, mk_explain_place(e, "Exempt", (struct mk_str){NULL, 0}),
                       "the address is exempt");
        return MK_VERDICT_PASS;
    }
    for (size_t i = 0; i < site->count; i++) {
        if (counts(r, site->rules[i], mk_request_method(r), &peer, &hash))
            say_rule(e, site->rules[i]);
    }
    return MK_VERDICT_PASS;
}

/* ---- metrics ---- */

struct family {
    const char *name, *help;
    size_t offset; /* in struct table_counts */
    bool is_counter;
};

static const struct family families[] = {
    {"monkey_limit_allowed_total", "Requests that a limit allowed.",
     offsetof(struct table_counts, allowed), true},
    {"monkey_limit_refused_total", "Requests above a limit, also with DryRun.",
     offsetof(struct table_counts, refused), true},
    {"monkey_limit_uncounted_total", "Requests for whose key the table had no place.",
     offsetof(struct table_counts, uncounted), true},
    {"monkey_limit_evictions_total", "Keys that were forgotten before they had full credit.",
     offsetof(struct table_counts, evictions), true},
    {"monkey_limit_keys", "Places for keys that have been used.",
     offsetof(struct table_counts, keys), false},
};

static void tell_rule(const struct family *f, const struct limit_rule *rule, mk_metric_fn tell,
                      void *arg)
{
    struct table_counts counts;
    struct mk_metric m = {.size = sizeof(m),
                          .name = f->name,
                          .help = f->help,
                          .is_counter = f->is_counter,
                          .nlabels = 2};
    uint64_t value;

    limit_table_count(rule->account->table, &counts);
    memcpy(&value, (const char *)&counts + f->offset, sizeof(value));
    m.value = (double)value;
    m.labels[0].name = "site";
    m.labels[0].value = rule->site;
    m.labels[1].name = "rule";
    m.labels[1].value = rule->name;
    tell(arg, &m);
}

static void limit_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct limit *limit = ctx->config;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        for (size_t k = 0; k < limit->count; k++)
            tell_rule(&families[i], limit->rules[k], tell, arg);
    }
}

static const struct mk_plugin limit_plugin = {
    MK_PLUGIN("limit", "requests a second and at a time"),
    .sections = sections,
    .check = limit_check,
    .check_site = limit_check_site,
    .start = limit_start,
    .stop = limit_stop,
    .on_request = limit_on_request,
    .metrics = limit_metrics,
    .explain = limit_explain,
    .traits = MK_TRAIT_PURE,
};
MK_PLUGIN_EXPORT(limit_plugin);
