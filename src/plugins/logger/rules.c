/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "kit/nets/nets.h"
#include "kit/pure/hash.h"
#include "kit/pure/number.h"
#include "kit/text/refuse.h"
#include "kit/text/words.h"

enum kind { KIND_STATUS, KIND_TIME, KIND_METHOD, KIND_PATH, KIND_REMOTE, KIND_COUNT };
/* In the order of enum kind; and another name of KIND_TIME. */
static const char *const kind_names[] = {"status", "time",         "method", "path",
                                         "remote", "request_time", NULL};

enum compare {
    COMPARE_NOT_LESS,
    COMPARE_NOT_MORE,
    COMPARE_NOT_EQUAL,
    COMPARE_LESS,
    COMPARE_MORE,
    COMPARE_EQUAL
};
/* In the order of enum compare: the longer ones first. */
static const char *const signs[] = {">=", "<=", "!=", "<", ">", "=", NULL};

struct term {
    enum kind kind;
    enum compare compare;
    uint32_t number; /* status, or milliseconds */
    struct mk_str text;
    const struct mk_pattern *pattern; /* of a path; NULL: text is the path */
    struct net net;
};

struct logger_condition {
    struct logger_condition *next;
    unsigned nterms;
    struct term terms[LOGGER_TERMS_MAX];
};

/* ---- asking ---- */

static bool compare(enum compare how, uint32_t a, uint32_t b)
{
    switch (how) {
    case COMPARE_NOT_LESS:
        return a >= b;
    case COMPARE_NOT_MORE:
        return a <= b;
    case COMPARE_NOT_EQUAL:
        return a != b;
    case COMPARE_LESS:
        return a < b;
    case COMPARE_MORE:
        return a > b;
    case COMPARE_EQUAL:
        break;
    }
    return a == b;
}

/* Terms that know two signs, `=` and `!=`. */
static bool fits(const struct term *t, const struct logger_asked *asked)
{
    if (t->kind == KIND_REMOTE)
        return asked->ip && net_has(&t->net, asked->ip);
    if (t->kind == KIND_METHOD)
        return text_is(t->text, asked->method);
    return t->pattern ? mk_pattern_is_of(t->pattern, asked->path) : text_is(t->text, asked->path);
}

static bool holds(const struct term *t, const struct logger_asked *asked)
{
    if (t->kind == KIND_STATUS)
        return compare(t->compare, asked->status, t->number);
    if (t->kind == KIND_TIME)
        return compare(t->compare, asked->took_ms, t->number);
    return fits(t, asked) == (t->compare == COMPARE_EQUAL);
}

static bool is_true(const struct logger_condition *c, const struct logger_asked *asked)
{
    for (unsigned i = 0; i < c->nterms; i++) {
        if (!holds(&c->terms[i], asked))
            return false;
    }
    return true;
}

/* xorshift64: no client gains anything by knowing which of its requests have lines. */
static uint32_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

/* The same for each request of that id, in every process. Ids of clients are taken from trusted proxies alone. */
static uint32_t number_of_id(struct mk_str id)
{
    return (uint32_t)(hash_mix_64(hash_64(HASH_START_64, id.p, id.len)) >> 32);
}

bool logger_rules_want(const struct logger_rules *rules, const struct logger_asked *asked,
                       uint64_t *random)
{
    const struct logger_condition *c = rules->first;
    uint32_t number;

    while (c && !is_true(c, asked))
        c = c->next;
    if (rules->first && !c)
        return false;
    if (rules->of == 0 || (rules->errors_stay && asked->status >= 400))
        return true;
    number = asked->id.p ? number_of_id(asked->id) : next_random(random);
    return ((uint64_t)number * rules->of) >> 32 < rules->take;
}

/* ---- reading ---- */

/* "500ms", "2s", "1m" or seconds. @return milliseconds; 0: none. */
static uint32_t read_time(struct mk_str text)
{
    uint32_t unit = 1000;

    if (text.len > 2 && text.p[text.len - 2] == 'm' && text.p[text.len - 1] == 's') {
        unit = 1;
        text.len -= 2;
    } else if (text.len > 1 && (text.p[text.len - 1] == 's' || text.p[text.len - 1] == 'm')) {
        unit = text.p[text.len - 1] == 's' ? 1000 : 60000;
        text.len--;
    }
    return number_of(text, UINT32_MAX / unit) * unit;
}

/* @return bytes before the first sign of word; and which it is. */
static size_t find_sign(struct mk_str word, enum compare *which)
{
    for (size_t at = 0; at < word.len; at++) {
        for (int i = 0; signs[i]; i++) {
            if (text_begins((struct mk_str){word.p + at, word.len - at}, mk_str_from(signs[i]))) {
                *which = (enum compare)i;
                return at;
            }
        }
    }
    return word.len;
}

static int take_number(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                       struct mk_str value)
{
    if (t->kind == KIND_STATUS)
        t->number = number_of(value, 599);
    else
        t->number = read_time(value);
    if (t->number == 0)
        return mk_setup_refuse(setup, s,
                               t->kind == KIND_STATUS
                                   ? "a status up to 599 after its sign"
                                   : "a time such as 500ms or 2s after its sign");
    return 0;
}

static int take_path(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                     struct mk_str value)
{
    if (value.len == 0 || !memchr("/^*", value.p[0], 3))
        return mk_setup_refuse(setup, s, "a path or pattern such as /api/* or *.css after path=");
    t->text = mk_setup_copy(setup, value);
    return t->text.p ? mk_setup_pattern(setup, &s->value_at, s->key.p, value, &t->pattern)
                     : MK_E_NOMEM;
}

static int take_method(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                       struct mk_str value)
{
    if (value.len == 0)
        return mk_setup_refuse(setup, s, "a method such as POST after method=");
    t->text = mk_setup_copy(setup, value);
    return t->text.p ? 0 : MK_E_NOMEM;
}

static int take_remote(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                       struct mk_str value)
{
    bool loose;

    if (net_parse(value, &t->net, &loose) < 0 || loose)
        return mk_setup_refuse(setup, s,
                               "an address or a network such as 10.0.0.0/8 after remote=, with no "
                               "bits behind its prefix");
    ((struct logger_rules *)mk_setup_settings(setup))->asks_remote = true;
    return 0;
}

static int take_value(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                      struct mk_str value)
{
    if (t->kind == KIND_STATUS || t->kind == KIND_TIME)
        return take_number(setup, s, t, value);
    if (t->compare != COMPARE_EQUAL && t->compare != COMPARE_NOT_EQUAL)
        return mk_setup_refuse(setup, s, "= or != after method, path and remote");
    if (t->kind == KIND_METHOD)
        return take_method(setup, s, t, value);
    return t->kind == KIND_PATH ? take_path(setup, s, t, value) : take_remote(setup, s, t, value);
}

static int take_term(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                     struct mk_str word)
{
    const size_t at = find_sign(word, &t->compare);
    const struct mk_str name = {word.p, at};
    int kind = 0;

    while (kind_names[kind] && !text_is_word(name, mk_str_from(kind_names[kind])))
        kind++;
    if (!kind_names[kind] || at == word.len)
        return text_refuse_word(
            setup, s, "status>=400, time>=500ms, method=POST, path=/api/* or remote=10.0.0.0/8",
            name, kind_names);
    t->kind = kind < KIND_COUNT ? (enum kind)kind : KIND_TIME;
    text_cut(&word, signs[t->compare][0]);
    if (signs[t->compare][1])
        word = (struct mk_str){word.p + 1, word.len - 1};
    return take_value(setup, s, t, word);
}

int logger_rules_parse_condition(struct mk_setup *setup, const struct mk_setting *s)
{
    struct logger_rules *rules = mk_setup_settings(setup);
    struct logger_condition *c = mk_setup_alloc(setup, sizeof(*c));
    struct mk_str rest = s->value;
    int err = 0;

    if (!c)
        return MK_E_NOMEM;
    if (rules->nconditions++ == LOGGER_CONDITIONS_MAX)
        return mk_setup_refuse(setup, s, "at most 32 lines");
    for (struct mk_str word; err == 0 && (word = text_next_word(&rest)).p;) {
        if (c->nterms == LOGGER_TERMS_MAX)
            return mk_setup_refuse(setup, s, "at most 8 conditions in a line");
        err = take_term(setup, s, &c->terms[c->nterms++], word);
    }
    if (rules->last)
        rules->last->next = c;
    else
        rules->first = c;
    rules->last = c;
    return err;
}

int logger_rules_parse_sample(struct mk_setup *setup, const struct mk_setting *s)
{
    struct logger_rules *rules = mk_setup_settings(setup);
    struct mk_str rest = s->value, part = text_next_word(&rest);
    const struct mk_str word = text_next_word(&rest);
    const uint32_t take = number_of(text_cut(&part, '/'), LOGGER_SAMPLE_MAX);
    const uint32_t of = number_of(part, LOGGER_SAMPLE_MAX);

    if (take == 0 || take > of || rest.len > 0 || (word.p && !text_is_word(word, MK_STR("errors"))))
        return mk_setup_refuse(setup, s,
                               "a part such as 1/100, of at most a million, and perhaps errors");
    rules->take = take;
    rules->of = of;
    rules->errors_stay = word.p != NULL;
    return 0;
}
