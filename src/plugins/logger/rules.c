/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "kit/pure/number.h"
#include "kit/text/refuse.h"
#include "kit/text/words.h"

enum kind { KIND_STATUS, KIND_TIME, KIND_METHOD, KIND_PATH };
static const char *const kind_names[] = {"status", "time", "method", "path", NULL};

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
    bool is_beginning; /* of a path: `*` stood behind it */
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

static bool is_same(const struct term *t, struct mk_str text)
{
    if (t->is_beginning && text.len > t->text.len)
        text.len = t->text.len;
    return text_is(t->text, text);
}

static bool holds(const struct term *t, const struct logger_asked *asked)
{
    switch (t->kind) {
    case KIND_STATUS:
        return compare(t->compare, asked->status, t->number);
    case KIND_TIME:
        return compare(t->compare, asked->took_ms, t->number);
    case KIND_METHOD:
        return is_same(t, asked->method) == (t->compare == COMPARE_EQUAL);
    case KIND_PATH:
        break;
    }
    return is_same(t, asked->path) == (t->compare == COMPARE_EQUAL);
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

bool logger_rules_want(const struct logger_rules *rules, const struct logger_asked *asked,
                       uint64_t *random)
{
    const struct logger_condition *c = rules->first;

    while (c && !is_true(c, asked))
        c = c->next;
    if (rules->first && !c)
        return false;
    if (rules->of == 0 || (rules->errors_stay && asked->status >= 400))
        return true;
    return ((uint64_t)next_random(random) * rules->of) >> 32 < rules->take;
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

static int take_text(struct mk_setup *setup, const struct mk_setting *s, struct term *t,
                     struct mk_str value)
{
    if (t->compare != COMPARE_EQUAL && t->compare != COMPARE_NOT_EQUAL)
        return mk_setup_refuse(setup, s, "= or != after method and path");
    if (value.len == 0 || (t->kind == KIND_PATH && value.p[0] != '/'))
        return mk_setup_refuse(setup, s,
                               "a method after method=, a path such as /api/* after path=");
    t->is_beginning = t->kind == KIND_PATH && value.p[value.len - 1] == '*';
    value.len -= t->is_beginning ? 1 : 0;
    t->text = mk_setup_copy(setup, value);
    return t->text.p ? 0 : MK_E_NOMEM;
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
        return text_refuse_word(setup, s, "status>=400, time>=500ms, method=POST or path=/api/*",
                                name, kind_names);
    t->kind = (enum kind)kind;
    text_cut(&word, signs[t->compare][0]);
    if (signs[t->compare][1])
        word = (struct mk_str){word.p + 1, word.len - 1};
    return kind == KIND_STATUS || kind == KIND_TIME ? take_number(setup, s, t, word)
                                                    : take_text(setup, s, t, word);
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
