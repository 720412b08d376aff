/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "kit/pure/number.h"
#include "kit/text/refuse.h"
#include "kit/text/words.h"

#include <string.h>

static const char *const key_names[] = {"address", "net", "field", "cookie", "path", "all", NULL};

enum { BITS_V4 = 32, BITS_V6 = 64, MAPPED_BITS = 96 };
enum {
    COUNT_MAX = 1000000,
    PERIOD_MAX_S = 3600
}; /* requests a period, and at once; the longest period */

/* @return seconds; 0: no unit of time. */
static uint32_t read_period(struct mk_str unit)
{
    if (unit.len != 1)
        return 0;
    switch (unit.p[0]) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return PERIOD_MAX_S;
    default:
        return 0;
    }
}

/* ---- words of a rule ---- */

static bool is_name(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text_lower(text.p[i]);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-')
            return false;
    }
    return text.len > 0;
}

static int take_name(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                     struct mk_str name)
{
    const struct limit_settings *settings = mk_setup_settings(setup);

    if (!is_name(name))
        return mk_setup_refuse(setup, s,
                               "a name for the rule, of letters, digits, `_` and `-`, then "
                               "address, net, field, cookie, path or all");
    for (const struct limit_rule *other = settings->first; other; other = other->next) {
        if (!text_is_word(other->name, name))
            continue;
        mk_setup_fault(setup, &s->value_at, "%s: another rule has the name %s, in line %u",
                       s->key.p, other->name.p, other->at.line);
        return MK_E_INVALID;
    }
    rule->name = mk_setup_copy(setup, name);
    return rule->name.p ? 0 : MK_E_NOMEM;
}

/* "24" or "24,56". */
static int take_bits(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                     struct mk_str text)
{
    const bool both = memchr(text.p, ',', text.len) != NULL;
    const uint32_t v4 = number_of(text_cut(&text, ','), BITS_V4);
    const uint32_t v6 = both ? number_of(text, 128) : BITS_V6;

    if (v4 == 0 || v6 == 0)
        return mk_setup_refuse(setup, s,
                               "prefix lengths of IPv4 and IPv6 after net=, such as net=24,56");
    rule->bits_v4 = (uint8_t)v4;
    rule->bits_v6 = (uint8_t)v6;
    return 0;
}

static int find_key(struct mk_str word)
{
    for (int i = 0; key_names[i]; i++) {
        if (text_is_word(word, mk_str_from(key_names[i])))
            return i;
    }
    return -1;
}

static int take_key(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                    struct mk_str word)
{
    const bool has_value = word.len > 0 && memchr(word.p, '=', word.len);
    struct mk_str value = word;
    const struct mk_str kind = text_cut(&value, '=');
    const int key = find_key(kind);

    if (key < 0 || has_value != (key == KEY_NET || key == KEY_FIELD || key == KEY_COOKIE))
        return text_refuse_word(
            setup, s, "address, net=24,56, field=NAME, cookie=NAME, path or all", kind, key_names);
    rule->key = (enum limit_key)key;
    rule->bits_v4 = BITS_V4;
    rule->bits_v6 = BITS_V6;
    if (key == KEY_NET)
        return take_bits(setup, s, rule, value);
    if (!has_value)
        return 0;
    if (!is_name(value))
        return mk_setup_refuse(setup, s, "the name of a field or a cookie after `=`");
    rule->key_name = mk_setup_copy(setup, value);
    return rule->key_name.p ? 0 : MK_E_NOMEM;
}

static bool is_method(struct mk_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if ((word.p[i] < 'A' || word.p[i] > 'Z') && word.p[i] != '-')
            return false;
    }
    return word.len > 0;
}

static int take_path(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                     struct mk_str word)
{
    if (rule->path.p)
        return mk_setup_refuse(setup, s, "one path or pattern");
    rule->path = mk_setup_copy(setup, word);
    return rule->path.p ? mk_setup_pattern(setup, &s->value_at, s->key.p, word, &rule->pattern)
                        : MK_E_NOMEM;
}

/* Which requests the rule is for: methods and a path, in any order. */
static int take_scope(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                      struct mk_str rest)
{
    for (struct mk_str word; (word = text_next_word(&rest)).p;) {
        int err = 0;

        if (memchr("/^*", word.p[0], 3))
            err = take_path(setup, s, rule, word);
        else if (!is_method(word) || rule->nmethods == LIMIT_METHODS_MAX)
            err = mk_setup_refuse(setup, s,
                                  "after the number up to 8 methods such as POST, and a path such "
                                  "as /login or /api/*");
        else if (!(rule->methods[rule->nmethods++] = mk_setup_copy(setup, word)).p)
            err = MK_E_NOMEM;
        if (err < 0)
            return err;
    }
    return 0;
}

/* ---- keys ---- */

static int begin_rule(struct mk_setup *setup, const struct mk_setting *s, enum limit_kind kind,
                      struct mk_str *rest, struct limit_rule **out)
{
    struct limit_rule *rule = mk_setup_alloc(setup, sizeof(*rule));
    const struct mk_str file = mk_setup_copy(setup, mk_str_from(s->value_at.file));
    int err;

    if (!rule || !file.p)
        return MK_E_NOMEM;
    rule->kind = kind;
    rule->at = s->value_at;
    rule->at.file = file.p;
    rule->at.text = (struct mk_str){NULL, 0};
    err = take_name(setup, s, rule, text_next_word(rest));
    *out = rule;
    return err < 0 ? err : take_key(setup, s, rule, text_next_word(rest));
}

static int append(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule)
{
    struct limit_settings *settings = mk_setup_settings(setup);

    if (settings->nrules++ == LIMIT_RULES_MAX) {
        mk_setup_fault(setup, &s->value_at, "%s: a site has at most %d rules", s->key.p,
                       LIMIT_RULES_MAX);
        return MK_E_INVALID;
    }
    if (settings->last)
        settings->last->next = rule;
    else
        settings->first = rule;
    settings->last = rule;
    return 0;
}

static int take_rate(struct mk_setup *setup, const struct mk_setting *s, struct limit_rule *rule,
                     struct mk_str *rest)
{
    struct mk_str period = text_next_word(rest), after = *rest;
    const uint32_t count = number_of(text_cut(&period, '/'), COUNT_MAX);
    const uint32_t period_s = read_period(period);
    const struct mk_str word = text_next_word(&after);
    uint32_t burst = 1;

    if (text_begins(word, MK_STR("burst="))) {
        burst = number_of((struct mk_str){word.p + 6, word.len - 6}, COUNT_MAX);
        *rest = after;
    }
    if (count == 0 || period_s == 0 || burst == 0)
        return mk_setup_refuse(setup, s,
                               "NAME KEY, a rate such as 10/s, 100/m or 1000/h, and perhaps "
                               "burst=20; numbers up to a million");
    rule->rate = bucket_rate_of(count, period_s, burst);
    return 0;
}

static int parse_rate(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value;
    struct limit_rule *rule;
    int err = begin_rule(setup, s, LIMIT_RATE, &rest, &rule);

    if (err == 0)
        err = take_rate(setup, s, rule, &rest);
    if (err == 0)
        err = take_scope(setup, s, rule, rest);
    return err < 0 ? err : append(setup, s, rule);
}

static int parse_concurrent(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value;
    struct limit_rule *rule;
    int err = begin_rule(setup, s, LIMIT_CONCURRENT, &rest, &rule);

    if (err < 0)
        return err;
    rule->running_max = number_of(text_next_word(&rest), LIMIT_RUNNING_MAX);
    if (rule->running_max == 0)
        return mk_setup_refuse(setup, s, "NAME KEY and a number of requests, 1 to a million");
    err = take_scope(setup, s, rule, rest);
    return err < 0 ? err : append(setup, s, rule);
}

static int add_exempt(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word)
{
    struct limit_settings *settings = mk_setup_settings(setup);
    struct net net;
    bool loose;

    if (net_parse(word, &net, &loose) < 0)
        return mk_setup_refuse(setup, s, "addresses or networks such as 10.0.0.0/8 or fe80::/10");
    if (loose)
        mk_setup_warn(setup, &s->value_at, "%s: bits after the prefix of %.*s are ignored",
                      s->key.p, (int)word.len, word.p);
    return net_list_add(setup, &settings->exempt, &net);
}

static int parse_exempt(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value, word = text_next_word(&rest);
    int err;

    do
        err = add_exempt(setup, s, word);
    while (err == 0 && (word = text_next_word(&rest)).p);
    return err;
}

static const struct mk_field place_fields[] = {
    {.name = "Rate", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_rate},
    {.name = "Concurrent",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_concurrent},
};

const struct mk_section_spec limit_place_section =
    MK_SECTION("LOCATION", MK_SECTION_LOCATION, struct limit_settings, place_fields);

static const struct mk_field fields[] = {
    {.name = "Rate", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_rate},
    {.name = "Concurrent",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_concurrent},
    {.name = "Exempt", .type = MK_FIELD_CUSTOM, .flags = MK_FIELD_REPEAT, .parse = parse_exempt},
    {.name = "Keys",
     .type = MK_FIELD_INT,
     .offset = offsetof(struct limit_settings, nkeys),
     .min = 8,
     .max = LIMIT_KEYS_MAX,
     .fallback = "10000"},
    {.name = "DryRun",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct limit_settings, dry_run),
     .fallback = "off"},
};

const struct mk_section_spec limit_section =
    MK_SECTION("LIMIT", MK_SECTION_SITE, struct limit_settings, fields);
