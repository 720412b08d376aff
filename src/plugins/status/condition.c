/* SPDX-License-Identifier: Apache-2.0 */
#include "condition.h"

#include "exposition.h"

#include "kit/text/words.h"

#include <stdlib.h>

/* ---- as it is written ---- */

static bool read_bound(struct condition *c, struct mk_str word, struct mk_str *rest)
{
    const struct mk_str number = text_next_word(rest);
    double value = 0;

    c->is_most = text_is(word, MK_STR("<="));
    if (number.len == 0 || number.len > 9 || text_next_word(rest).len > 0)
        return false;
    for (size_t i = 0; i < number.len; i++) {
        if (number.p[i] < '0' || number.p[i] > '9')
            return false;
        value = value * 10 + (number.p[i] - '0');
    }
    c->bound = value;
    return true;
}

static bool read_label(struct condition *c, struct mk_str word)
{
    struct mk_str value = word, name = text_cut(&value, '=');

    if (name.len == word.len || name.len == 0 || c->nlabels == MK_METRIC_LABELS)
        return false;
    c->labels[c->nlabels].name = name;
    c->labels[c->nlabels++].value = value;
    return true;
}

static bool is_comparison(struct mk_str word)
{
    return text_is(word, MK_STR(">=")) || text_is(word, MK_STR("<="));
}

static bool read_words(struct condition *c, struct mk_str rest)
{
    struct mk_str word;

    c->bound = 1;
    c->name = text_next_word(&rest);
    if (c->name.len == 0 || is_comparison(c->name) || memchr(c->name.p, '=', c->name.len))
        return false;
    while ((word = text_next_word(&rest)).len > 0) {
        if (is_comparison(word))
            return read_bound(c, word, &rest);
        if (!read_label(c, word))
            return false;
    }
    return true;
}

struct condition *status_condition_read(struct mk_setup *setup, struct mk_str text)
{
    struct condition *c = mk_setup_alloc(setup, sizeof(*c));
    const struct mk_str copy = mk_setup_copy(setup, text);

    if (!c || !copy.p)
        return NULL;
    c->text = copy.p;
    return read_words(c, copy) ? c : NULL;
}

/* ---- as it is ---- */

struct look {
    const struct condition *first;
    double sums[CONDITIONS_MAX];
    bool found[CONDITIONS_MAX];
};

static bool has_label(const struct mk_metric *m, struct mk_str name, struct mk_str value)
{
    for (unsigned i = 0; i < m->nlabels; i++) {
        if (text_is(mk_str_from(m->labels[i].name), name))
            return text_is(m->labels[i].value, value);
    }
    return false;
}

static bool is_about(const struct condition *c, const struct mk_metric *m)
{
    if (!text_is(mk_str_from(m->name), c->name))
        return false;
    for (unsigned i = 0; i < c->nlabels; i++) {
        if (!has_label(m, c->labels[i].name, c->labels[i].value))
            return false;
    }
    return true;
}

static void look_at(void *arg, const struct mk_metric *m)
{
    struct look *look = arg;
    unsigned i = 0;

    for (const struct condition *c = look->first; c && i < CONDITIONS_MAX; c = c->next, i++) {
        if (!is_about(c, m))
            continue;
        look->sums[i] += m->value;
        look->found[i] = true;
    }
}

static void explain(struct page *page, const struct condition *c, bool found, double sum)
{
    page_put(page, "not met: ");
    page_put(page, c->text);
    page_put(page, found ? " (it is " : " (there is no such metric");
    if (found)
        status_exposition_number(page, sum, false);
    page_put(page, ")\n");
}

bool status_conditions_hold(const struct condition *first, struct mk_worker *w, struct page *page)
{
    struct look look = {.first = first};
    bool all = true;
    unsigned i = 0;

    if (!first)
        return true;
    mk_worker_metrics(w, look_at, &look);
    for (const struct condition *c = first; c && i < CONDITIONS_MAX; c = c->next, i++) {
        const double sum = look.sums[i];

        if (look.found[i] && (c->is_most ? sum <= c->bound : sum >= c->bound))
            continue;
        explain(page, c, look.found[i], sum);
        all = false;
    }
    return all;
}
