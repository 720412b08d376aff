/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/settings.h"

#include "entry/server_list.h"
#include "entry/viewers.h"

#include "kit/intake/intake.h"
#include "kit/pure/number.h"
#include "kit/target/answer_head.h"
#include "kit/text/words.h"

#include <monkey/field.h>

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>

enum {
    HOUR_MS = 3600 * 1000,
    DAY_MS = 24 * HOUR_MS,
    MANY = 1000000,
    CHECK_MS = 5000, /* HealthCheck without interval */
    PATTERN_MAX = 1024,
};

/** @return false: there is no further word. */
static bool take_word(struct mk_str *rest, struct mk_str *word)
{
    *word = text_next_word(rest);
    return word->len > 0;
}

/* ---- balancers ---- */

#define BALANCERS                                                                                  \
    "Naive, First-Alive, RoundRobin, LockingRoundRobin, LeastConnections, SourceHash, Random2 or " \
    "ConsistentHash"

static int parse_balancer(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    const char *near = mk_setup_nearest(s->value, proxy_balancer_names);
    int balancer = proxy_balancer_find(s->value);

    if (balancer >= 0) {
        set->balancer = balancer;
        return 0;
    }
    if (!near)
        return mk_setup_refuse(setup, s, BALANCERS);
    mk_setup_fault(setup, &s->value_at,
                   "%s: expected " BALANCERS ", got \"%.60s\"; did you mean \"%s\"?", s->key.p,
                   s->value.p, near);
    return MK_E_INVALID;
}

/* A field name is a token (RFC 9110 section 5.6.2). */
static bool is_token(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!isalnum((unsigned char)text.p[i]) &&
            (!text.p[i] || !strchr("!#$%&'*+-.^_`|~", text.p[i])))
            return false;
    }
    return text.len > 0;
}

static int parse_hash_key(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, kind, name = {NULL, 0};
    bool has_name;

    (void)take_word(&rest, &kind);
    has_name = take_word(&rest, &name);
    if (text_is_word(kind, MK_STR("header")) && has_name && is_token(name) &&
        text_trim(rest).len == 0) {
        set->hash_key = PROXY_HASH_HEADER;
        set->hash_header = mk_setup_copy(setup, name);
        return set->hash_header.p ? 0 : MK_E_NOMEM;
    }
    if (has_name || (!text_is_word(kind, MK_STR("address")) && !text_is_word(kind, MK_STR("uri"))))
        return mk_setup_refuse(setup, s, "Address, URI or Header NAME");
    set->hash_key = text_is_word(kind, MK_STR("uri")) ? PROXY_HASH_URI : PROXY_HASH_ADDRESS;
    return 0;
}

/* ---- sticky sessions ---- */

static int parse_sticky(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, kind, name = {NULL, 0};

    (void)take_word(&rest, &kind);
    if (text_is_word(kind, MK_STR("off")) && rest.len == 0) {
        set->sticky = name;
        return 0;
    }
    (void)take_word(&rest, &name);
    if (!text_is_word(kind, MK_STR("cookie")) || !is_token(name) || name.len > PROXY_COOKIE_MAX ||
        text_trim(rest).len > 0)
        return mk_setup_refuse(setup, s, "off, or cookie NAME, a name of at most 64 characters");
    set->sticky = mk_setup_copy(setup, name);
    return set->sticky.p ? 0 : MK_E_NOMEM;
}

enum { KEY_LEAST = 16 };

static int parse_sticky_key(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);

    if (s->value.len < KEY_LEAST)
        return mk_setup_refuse(setup, s, "a text of at least 16 characters that nobody can guess");
    set->sticky_key = mk_setup_copy(setup, s->value).p;
    return set->sticky_key ? 0 : MK_E_NOMEM;
}

/* ---- health ---- */

static bool read_check_interval(struct mk_str word, int64_t *ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", HOUR_MS}, {"d", DAY_MS}};
    size_t digits = 0;
    int64_t n = 0;

    while (digits < word.len && isdigit((unsigned char)word.p[digits]) && digits < 9)
        n = n * 10 + (word.p[digits++] - '0');
    for (size_t i = 0; digits > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (text_is_word((struct mk_str){word.p + digits, word.len - digits},
                         mk_str_from(units[i].unit))) {
            *ms = n * units[i].ms;
            return *ms >= 100 && *ms <= DAY_MS;
        }
    }
    return false;
}

static bool read_status(struct mk_str word, unsigned *status)
{
    *status = number_of(word, 599);
    return word.len == 3 && *status >= 100;
}

static bool is_visible(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.p[i] <= ' ' || (unsigned char)text.p[i] >= 0x7f)
            return false;
    }
    return true;
}

static int parse_health_check(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, word;

    if (!take_word(&rest, &word) || word.p[0] != '/' || !is_visible(word))
        return mk_setup_refuse(setup, s, "PATH [INTERVAL] [STATUS]");
    set->check_path = mk_setup_copy(setup, word).p;
    set->check_ms = CHECK_MS;
    set->check_status = 0;
    if (!set->check_path)
        return MK_E_NOMEM;
    if (take_word(&rest, &word) && !read_check_interval(word, &set->check_ms))
        return mk_setup_refuse(setup, s, "an interval of 100ms to 24h after the path");
    if (take_word(&rest, &word) && !read_status(word, &set->check_status))
        return mk_setup_refuse(setup, s, "a status of 100 to 599 after the interval");
    return take_word(&rest, &word) ? mk_setup_refuse(setup, s, "PATH [INTERVAL] [STATUS]") : 0;
}

/* What a gateway, or a server that has too much to do, says for now (RFC 9110 section 15.6). 501 would be said by others too. */
static bool may_retry_on(unsigned status)
{
    return status == 500 || (status >= 502 && status <= 504);
}

static int parse_retry_on(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, word;
    unsigned statuses = 0, status;

    if (text_is_word(text_trim(s->value), MK_STR("off"))) {
        set->retry_on = 0;
        return 0;
    }
    while (take_word(&rest, &word)) {
        if (!read_status(word, &status) || !may_retry_on(status))
            return mk_setup_refuse(setup, s, "off, or some of 500, 502, 503 and 504");
        statuses |= 1U << (status - 500);
    }
    set->retry_on = statuses;
    return statuses ? 0 : mk_setup_refuse(setup, s, "off, or some of 500, 502, 503 and 504");
}

/* ---- the request ---- */

static int parse_match(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct proxy_match *match = mk_setup_alloc(setup, sizeof(*match)), **at = &set->matches;

    if (!match)
        return MK_E_NOMEM;
    if (s->value.len == 0 || s->value.len > PATTERN_MAX)
        return mk_setup_refuse(setup, s, "a regular expression");
    match->pattern = mk_setup_copy(setup, s->value);
    match->at = s->value_at;
    while (*at)
        at = &(*at)->next;
    *at = match;
    return match->pattern.p ? 0 : MK_E_NOMEM;
}

static int parse_host(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);

    if (text_is_word(s->value, MK_STR("client"))) {
        set->host = PROXY_HOST_CLIENT;
    } else if (text_is_word(s->value, MK_STR("server"))) {
        set->host = PROXY_HOST_SERVER;
    } else if (s->value.len > 0 && is_visible(s->value) && !memchr(s->value.p, '/', s->value.len)) {
        set->host = PROXY_HOST_TEXT;
        set->host_text = mk_setup_copy(setup, s->value);
        return set->host_text.p ? 0 : MK_E_NOMEM;
    } else {
        return mk_setup_refuse(setup, s, "client, server or a host name");
    }
    return 0;
}

static int parse_rewrite(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, from, to;

    if (!take_word(&rest, &from) || !take_word(&rest, &to) || from.p[0] != '/' || to.p[0] != '/' ||
        memchr(from.p, '*', from.len) || !is_visible(from) || !is_visible(to) ||
        text_trim(rest).len > 0)
        return mk_setup_refuse(setup, s, "two beginnings of paths, /FROM /TO");
    set->rewrite_from = mk_setup_copy(setup, from);
    set->rewrite_to = mk_setup_copy(setup, to);
    return set->rewrite_from.p && set->rewrite_to.p ? 0 : MK_E_NOMEM;
}

static int parse_accel(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str path = text_trim(s->value);

    set->accel = PROXY_ACCEL_OFF;
    if (text_is_word(path, MK_STR("off")))
        return 0;
    set->accel = PROXY_ACCEL_ON;
    if (text_is_word(path, MK_STR("on")))
        return 0;
    if (path.len < 3 || path.p[0] != '/' || path.p[path.len - 1] != '/' || !is_visible(path) ||
        memchr(path.p, '%', path.len) || memmem(path.p, path.len, "//", 2) ||
        memmem(path.p, path.len, "/.", 2))
        return mk_setup_refuse(setup, s, "off, on or a path like /files/");
    set->accel = PROXY_ACCEL_BENEATH;
    set->accel_path = mk_setup_copy(setup, path);
    return set->accel_path.p ? 0 : MK_E_NOMEM;
}

/* What frames a message, belongs to a connection or depends on the request is not for a configuration to say. */
static bool is_ours(struct mk_str name)
{
    return (mk_field_rules(name) & MK_RULE_NOT_FIXED) || text_is_word(name, MK_STR("Host")) ||
           text_is_word(name, MK_STR("Expect"));
}

static bool is_field_value(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* @return NULL: no memory. */
static struct proxy_line *add_line(struct mk_setup *setup, struct proxy_line **list,
                                   struct mk_str name)
{
    struct proxy_line *line = mk_setup_alloc(setup, sizeof(*line));

    if (!line)
        return NULL;
    while (*list)
        list = &(*list)->next;
    *list = line;
    line->name = mk_setup_copy(setup, name);
    return line->name.p ? line : NULL;
}

static int parse_set_header(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str value = s->value, name;
    struct proxy_line *line;

    if (!take_word(&value, &name) || !is_token(name) || text_trim(value).len == 0 ||
        !is_field_value(value))
        return mk_setup_refuse(setup, s, "NAME VALUE");
    if (is_ours(name))
        return mk_setup_refuse(setup, s, "a field that the proxy does not set itself");
    line = add_line(setup, &set->sets, name);
    return line ? mk_setup_template(setup, s, text_trim(value), 0, &line->value) : MK_E_NOMEM;
}

static int parse_remove_header(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct mk_str rest = s->value, name;

    if (!take_word(&rest, &name) || !is_token(name) || text_trim(rest).len > 0)
        return mk_setup_refuse(setup, s, "the name of a field");
    if (is_ours(name))
        return mk_setup_refuse(setup, s, "a field that the proxy does not set itself");
    return add_line(setup, &set->removes, name) ? 0 : MK_E_NOMEM;
}

static int parse_url(struct mk_setup *setup, const struct mk_setting *s)
{
    struct proxy_settings *set = mk_setup_settings(setup);

    if (s->value.len < 2 || s->value.p[0] != '/' || !is_visible(s->value))
        return mk_setup_refuse(setup, s, "a path that begins with /");
    set->statistics_url = mk_setup_copy(setup, s->value).p;
    return set->statistics_url ? 0 : MK_E_NOMEM;
}

/* ---- the table ---- */

#define AT(member) .offset = offsetof(struct proxy_settings, member)

static const char *const forwarded_names[] = {"append", "replace", "off", "auto", NULL};
static const char *const protocol_names[] = {"off", "v1", "v2", NULL};

enum { OF_ENTRIES = 2 }; /* rows that [PROXY_DEFAULTS] has not */

static const struct mk_field fields[] = {
    {.name = "Name", .type = MK_FIELD_STRING, AT(name)},
    {.name = "Match", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_match},

    {.name = "ServerList",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = proxy_parse_server_list},
    {.name = "LoadBalancer",
     .alias = "LoadBalance",
     .type = MK_FIELD_CUSTOM,
     .parse = parse_balancer,
     .fallback = "RoundRobin"},
    {.name = "HashKey", .type = MK_FIELD_CUSTOM, .parse = parse_hash_key, .fallback = "Address"},
    {.name = "Sticky", .type = MK_FIELD_CUSTOM, .parse = parse_sticky, .fallback = "off"},
    {.name = "StickyKey", .type = MK_FIELD_CUSTOM, .parse = parse_sticky_key},

    {.name = "AttemptsCount",
     .type = MK_FIELD_INT,
     .min = 1,
     .max = 1000,
     AT(attempts),
     .fallback = "2"},
    {.name = "AttemptsWindow",
     .type = MK_FIELD_TIME,
     .max = DAY_MS,
     AT(window_ms),
     .fallback = "0"},
    {.name = "OfflineTimeOut",
     .type = MK_FIELD_TIME,
     .max = DAY_MS,
     AT(offline_ms),
     .fallback = "60"},
    {.name = "SlowStart",
     .type = MK_FIELD_TIME,
     .max = HOUR_MS,
     AT(slow_start_ms),
     .fallback = "0"},
    {.name = "RetryOn", .type = MK_FIELD_CUSTOM, .parse = parse_retry_on, .fallback = "off"},
    {.name = "OfflineSingle", .type = MK_FIELD_BOOL, AT(offline_single), .fallback = "off"},
    {.name = "HealthCheck", .type = MK_FIELD_CUSTOM, .parse = parse_health_check},

    {.name = "MaxConnections",
     .type = MK_FIELD_INT,
     .max = MANY,
     AT(max_connections),
     .fallback = "0"},
    {.name = "QueueLength", .type = MK_FIELD_INT, .max = MANY, AT(queue), .fallback = "256"},
    {.name = "QueueTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = HOUR_MS,
     AT(queue_ms),
     .fallback = "10"},
    {.name = "ConnectTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = HOUR_MS,
     AT(connect_ms),
     .fallback = "5"},
    {.name = "SendTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = DAY_MS,
     AT(send_ms),
     .fallback = "60"},
    {.name = "ReadTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = DAY_MS,
     AT(read_ms),
     .fallback = "60"},
    {.name = "TunnelTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = DAY_MS,
     AT(tunnel_ms),
     .fallback = "1h"},
    {.name = "KeepAlive", .type = MK_FIELD_INT, .max = 10000, AT(keep_alive), .fallback = "32"},
    {.name = "KeepAliveTimeout",
     .type = MK_FIELD_TIME,
     .min = 100,
     .max = DAY_MS,
     AT(idle_ms),
     .fallback = "4"},
    {.name = "Transport", .type = MK_FIELD_STRING, AT(transport)},
    {.name = "ServerName", .type = MK_FIELD_STRING, AT(server_name)},
    {.name = "ProxyProtocol",
     .type = MK_FIELD_ENUM,
     .names = protocol_names,
     AT(protocol),
     .fallback = "off"},

    {.name = "RequestBuffering",
     .type = MK_FIELD_ENUM,
     .names = intake_modes,
     AT(buffering),
     .fallback = "auto"},
    {.name = "SpoolDirectory", .type = MK_FIELD_PATH, AT(spool_dir), .fallback = "/tmp"},
    {.name = "MaxAnswerHead",
     .type = MK_FIELD_SIZE,
     AT(max_answer_head),
     .min = ANSWER_HEAD_LEAST,
     .max = ANSWER_HEAD_MOST,
     .fallback = ANSWER_HEAD_USUAL},
    {.name = "Host", .type = MK_FIELD_CUSTOM, .parse = parse_host, .fallback = "client"},
    {.name = "Forwarded",
     .type = MK_FIELD_ENUM,
     .names = forwarded_names,
     AT(forwarded),
     .fallback = "auto"},
    {.name = "RealIP", .type = MK_FIELD_BOOL, AT(real_ip), .fallback = "off"},
    {.name = "ForwardedPort", .type = MK_FIELD_BOOL, AT(forwarded_port), .fallback = "off"},
    {.name = "Rewrite", .type = MK_FIELD_CUSTOM, .parse = parse_rewrite},
    {.name = "AccelRedirect", .type = MK_FIELD_CUSTOM, .parse = parse_accel, .fallback = "off"},
    {.name = "SendfileRoot", .type = MK_FIELD_PATH, AT(sendfile_root)},
    {.name = "LenientBackends", .type = MK_FIELD_BOOL, AT(is_lenient), .fallback = "off"},
    {.name = "RewriteAnswers", .type = MK_FIELD_BOOL, AT(rewrites_answers), .fallback = "on"},
    {.name = "SetHeader",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_set_header},
    {.name = "RemoveHeader",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_remove_header},

    {.name = "StatisticsURL", .type = MK_FIELD_CUSTOM, .parse = parse_url},
    {.name = "StatisticsAllow",
     .type = MK_FIELD_WORDS,
     .flags = MK_FIELD_REPEAT,
     AT(statistics_allow),
     .fallback = "127.0.0.0/8 ::1"},
};

static const struct mk_section_spec defaults_section = {
    .size = sizeof(struct mk_section_spec),
    .field_size = sizeof(struct mk_field),
    .name = "PROXY_DEFAULTS",
    .fields = fields + OF_ENTRIES,
    .nfields = sizeof(fields) / sizeof(fields[0]) - OF_ENTRIES,
    .settings_size = sizeof(struct proxy_settings),
    .flags = MK_SECTION_FILE,
};
static const struct mk_section_spec entry_section = {
    .size = sizeof(struct mk_section_spec),
    .field_size = sizeof(struct mk_field),
    .name = "PROXY_ENTRY",
    .fields = fields,
    .nfields = sizeof(fields) / sizeof(fields[0]),
    .settings_size = sizeof(struct proxy_settings),
    .flags = MK_SECTION_FILE | MK_SECTION_SITE | MK_SECTION_REPEAT,
    .base = &defaults_section,
};

const struct mk_section_spec *const proxy_sections[] = {&defaults_section, &entry_section, NULL};

/* ---- checks ---- */

static void check_transport(struct mk_setup *setup, const struct proxy_settings *set)
{
    if (set->transport && !mk_setup_has_transport(setup, mk_str_from(set->transport)))
        mk_setup_fault(setup, mk_setup_place(setup, set, "Transport"),
                       "Transport: \"%s\" needs the plugin of that name, which is not loaded",
                       set->transport);
    if (set->transport && !text_is_word(mk_str_from(set->transport), MK_STR("liana")) &&
        set->protocol != PROXY_PROTOCOL_OFF)
        mk_setup_fault(setup, mk_setup_place(setup, set, "ProxyProtocol"),
                       "ProxyProtocol: its header cannot come before a handshake");
}

static void check_h2(struct mk_setup *setup, const struct proxy_settings *set)
{
    if (!set->is_h2)
        return;
    if (set->is_clear && set->is_secure)
        mk_setup_fault(
            setup, mk_setup_place(setup, set, "ServerList"),
            "ServerList: h2c is HTTP/2 without TLS, but Transport is %s; h2 goes with both",
            set->transport);
    if (set->protocol != PROXY_PROTOCOL_OFF)
        mk_setup_fault(setup, mk_setup_place(setup, set, "ProxyProtocol"),
                       "ProxyProtocol: a connection of HTTP/2 is of many clients");
}

static struct proxy_entry *find_name(const struct proxy_config *c, struct mk_str name)
{
    struct proxy_entry *e = c->entries;

    while (e && !(e->set->name && text_is_word(name, mk_str_from(e->set->name))))
        e = e->next;
    return e;
}

static bool is_taken(const struct proxy_config *c, const char *name)
{
    const struct proxy_entry *e = c->entries;

    while (e && !text_is_word(mk_str_from(name), mk_str_from(e->name)))
        e = e->next;
    return e != NULL;
}

/*
 * What tells an entry from the others where it is counted: its Name, else its first server, with a number behind it when
 * that was an earlier one's. @return NULL without memory.
 */
static const char *name_of(struct mk_setup *setup, const struct proxy_config *c,
                           const struct proxy_settings *set)
{
    const char *first = set->servers[0].name;
    size_t size = strlen(first) + sizeof("#4294967295");
    unsigned n = 1;
    char *name;

    if (set->name)
        return set->name;
    if (!is_taken(c, first))
        return first;
    name = mk_setup_alloc(setup, size);
    if (!name)
        return NULL;
    for (const struct proxy_entry *e = c->entries; e; e = e->next)
        n +=
            !e->set->name && text_is_word(mk_str_from(first), mk_str_from(e->set->servers[0].name));
    do
        (void)snprintf(name, size, "%s#%u", first, n++);
    while (is_taken(c, name));
    return name;
}

static bool is_same_place(const struct mk_origin *a, const struct mk_origin *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void note_default_servers(struct mk_setup *setup, struct proxy_config *c)
{
    const struct proxy_settings *defaults = mk_setup_section(setup, &defaults_section, NULL);

    if (defaults && defaults->nservers > 0)
        c->unused_servers = mk_setup_place(setup, defaults, "ServerList");
}

/* @return 0, also when faults were noted; MK_E_NOMEM. */
static int add_entry(struct mk_setup *setup, struct proxy_config *c, struct proxy_settings *set,
                     struct proxy_entry **added)
{
    const struct mk_origin *at = mk_setup_origin(setup, set);
    struct proxy_entry *e = mk_setup_alloc(setup, sizeof(*e));
    int err;

    *added = NULL;
    if (!e)
        return MK_E_NOMEM;
    if (set->nservers == 0) {
        mk_setup_fault(setup, at, "[PROXY_ENTRY] has no ServerList");
        return 0;
    }
    if (set->name && is_taken(c, set->name)) {
        mk_setup_fault(setup, mk_setup_place(setup, set, "Name"),
                       "Name: another [PROXY_ENTRY] has the name \"%s\"", set->name);
        return 0;
    }
    if (c->unused_servers &&
        is_same_place(mk_setup_place(setup, set, "ServerList"), c->unused_servers))
        c->unused_servers = NULL;
    check_transport(setup, set);
    proxy_viewers_check(setup, set, at);
    err = proxy_complete_servers(setup, set);
    if (err < 0)
        return err;
    check_h2(setup, set);
    proxy_check_servers(setup, set);
    e->set = set;
    e->name = name_of(setup, c, set);
    if (!e->name)
        return MK_E_NOMEM;
    *c->last = e;
    c->last = &e->next;
    c->nentries++;
    c->has_statistics |= set->statistics_url != NULL;
    *added = e;
    return 0;
}

int proxy_check(struct mk_setup *setup)
{
    struct proxy_config *c = mk_setup_alloc(setup, sizeof(*c));
    struct proxy_entry *added;
    int err = 0;

    if (!c)
        return MK_E_NOMEM;
    c->last = &c->entries;
    mk_setup_keep(setup, c);
    mk_setup_act(setup, 0);
    note_default_servers(setup, c);
    for (struct proxy_settings *set = mk_setup_section(setup, &entry_section, NULL);
         set && err == 0; set = mk_setup_section(setup, &entry_section, set)) {
        err = add_entry(setup, c, set, &added);
        if (added && !set->matches && !set->name)
            mk_setup_warn(setup, mk_setup_origin(setup, set),
                          "[PROXY_ENTRY] answers nothing: it has neither Match nor Name");
    }
    return err;
}

static int add_routes(struct mk_setup *setup, struct proxy_entry *e, bool global)
{
    int err = 0;

    for (const struct proxy_match *m = e->set->matches; m && err == 0; m = m->next)
        err = mk_setup_route(setup, m->pattern, e, &m->at, global);
    return err == MK_E_INVALID ? 0 : err; /* it was noted */
}

/* Has this site a page of that name already? */
static bool has_page(const struct proxy_config *c, unsigned of_site, const struct proxy_entry *e)
{
    for (const struct proxy_entry *i = c->entries; i != e; i = i->next) {
        if ((i->site == 0 || i->site == of_site) && i->set->statistics_url &&
            strcmp(i->set->statistics_url, e->set->statistics_url) == 0)
            return true;
    }
    return false;
}

/* A path, not a pattern. @param end  "$", or "" for what is beneath it, too */
static int add_path(struct mk_setup *setup, const char *url, const char *end, void *data)
{
    size_t len = strlen(url), n = 0;
    char *pattern = mk_setup_alloc(setup, 2 * len + 3);

    if (!pattern)
        return MK_E_NOMEM;
    pattern[n++] = '^';
    for (size_t i = 0; i < len; i++) {
        if (strchr(".[]{}()*+?^$|\\", url[i]))
            pattern[n++] = '\\';
        pattern[n++] = url[i];
    }
    if (*end)
        pattern[n++] = *end;
    return mk_setup_route(setup, (struct mk_str){pattern, n}, data, NULL, false);
}

static int add_page(struct mk_setup *setup, const char *url)
{
    return add_path(setup, url, "$", NULL);
}

/* Before all other paths of entries, which may have this one, too. */
static int add_guard(struct mk_setup *setup, const struct proxy_settings *set)
{
    struct proxy_entry *guard;

    if (set->accel != PROXY_ACCEL_BENEATH)
        return 0;
    guard = mk_setup_alloc(setup, sizeof(*guard));
    return guard ? add_path(setup, set->accel_path.p, "", guard) : MK_E_NOMEM;
}

static bool is_of(const struct proxy_entry *e, const struct proxy_site *site)
{
    return e->site == 0 || e->site == site->number;
}

/* @param takes_orders  out: some entry of the site does */
static int add_guards(struct mk_setup *setup, const struct proxy_config *c,
                      const struct proxy_site *site, bool *takes_orders)
{
    int err = 0;

    *takes_orders = false;
    for (const struct proxy_entry *e = c->entries; e && err == 0; e = e->next) {
        if (!is_of(e, site))
            continue;
        *takes_orders = *takes_orders || proxy_takes_orders(e->set);
        err = add_guard(setup, e->set);
    }
    return err;
}

static int add_entry_to_site(struct mk_setup *setup, const struct proxy_config *c,
                             const struct proxy_site *site, struct proxy_entry *e)
{
    int err = add_routes(setup, e, e->site == 0);

    if (err == 0 && e->set->statistics_url && !has_page(c, site->number, e))
        err = add_page(setup, e->set->statistics_url);
    return err;
}

int proxy_check_site(struct mk_setup *setup)
{
    struct proxy_config *c = mk_setup_config(setup);
    struct proxy_site *site = mk_setup_alloc(setup, sizeof(*site));
    struct proxy_entry **of_site = c->last, *e;
    bool takes_orders;
    int err = 0;

    if (!site)
        return MK_E_NOMEM;
    site->number = ++c->nsites;
    mk_setup_keep(setup, site);
    for (struct proxy_settings *set = mk_setup_section(setup, &entry_section, NULL);
         set && err == 0; set = mk_setup_section(setup, &entry_section, set)) {
        err = add_entry(setup, c, set, &e);
        if (!e)
            continue;
        e->site = site->number;
        if (!set->matches)
            mk_setup_warn(setup, mk_setup_origin(setup, set),
                          "[PROXY_ENTRY] answers nothing: it has no Match, and lines of [HANDLERS] "
                          "name entries of plugins/proxy_reverse/ alone");
    }
    if (err == 0)
        err = add_guards(setup, c, site, &takes_orders);
    if (err == 0) /* only what was sent for an order has fields to be changed */
        mk_setup_act(setup, takes_orders ? MK_ACTS_HEAD : 0);
    for (e = *of_site; e && err == 0; e = e->next)
        err = add_entry_to_site(setup, c, site, e);
    for (e = c->entries; e && e->site == 0 && err == 0; e = e->next)
        err = add_entry_to_site(setup, c, site, e);
    return err;
}

int proxy_check_match(struct mk_setup *setup, const struct mk_setting *line,
                      const struct mk_words *parameters, void **data)
{
    const struct proxy_config *c = mk_setup_config(setup);
    struct proxy_entry *e;

    if (parameters->count != 1) {
        mk_setup_fault(setup, &line->value_at,
                       "Match: expected proxy_reverse and the Name of a [PROXY_ENTRY] of "
                       "plugins/proxy_reverse/");
        return 0;
    }
    *data = e = find_name(c, parameters->items[0]);
    if (e)
        e->is_named = true;
    else
        mk_setup_fault(setup, &line->value_at,
                       "Match: there is no [PROXY_ENTRY] of the name \"%.60s\" in "
                       "plugins/proxy_reverse/",
                       parameters->items[0].p);
    return 0;
}

int proxy_check_end(struct mk_setup *setup)
{
    const struct proxy_config *c = mk_setup_config(setup);

    for (const struct proxy_entry *e = c->entries; e; e = e->next) {
        if (e->site == 0 && e->set->name && !e->set->matches && !e->is_named)
            mk_setup_warn(setup, mk_setup_origin(setup, e->set),
                          "[PROXY_ENTRY] answers nothing: it has no Match, and no line of "
                          "[HANDLERS] names %s",
                          e->set->name);
    }
    if (c->unused_servers)
        mk_setup_warn(setup, c->unused_servers,
                      "ServerList: each [PROXY_ENTRY] has one of its own");
    return 0;
}
