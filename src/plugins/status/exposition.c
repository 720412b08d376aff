/* SPDX-License-Identifier: Apache-2.0 */
#include "exposition.h"

#include "kit/pure/hash.h"
#include "kit/text/escape.h"

#include <math.h>
#include <stdio.h>

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Names of metrics may have colons, those of labels not. */
static bool is_name(const char *name, bool is_label)
{
    size_t len = 0;

    for (; name[len]; len++) {
        bool is_digit = name[len] >= '0' && name[len] <= '9';

        if (!is_letter(name[len]) && !(is_digit && len > 0) && (is_label || name[len] != ':'))
            return false;
    }
    return len > 0 && len <= EXPOSITION_NAME_MAX;
}

/* Names that begin with two underlines are of Prometheus itself, and a name twice is an error. */
static bool has_valid_labels(const struct exposition_sample *s)
{
    if (s->nlabels > EXPOSITION_LABELS)
        return false;
    for (unsigned i = 0; i < s->nlabels; i++) {
        if (!is_name(s->labels[i].name, true) || strncmp(s->labels[i].name, "__", 2) == 0)
            return false;
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(s->labels[i].name, s->labels[j].name) == 0)
                return false;
        }
    }
    return true;
}

/* ---- families ---- */

static bool is_total(const char *name)
{
    const size_t len = strlen(name);

    return len > 6 && strcmp(name + len - 6, "_total") == 0;
}

/* Of a counter without its _total, as OpenMetrics names it. */
static struct mk_str family_of(const struct exposition_sample *s)
{
    struct mk_str name = mk_str_from(s->name);

    if (s->type == EXPOSITION_COUNTER && is_total(s->name))
        name.len -= strlen("_total");
    return name;
}

/* @return false: it was written before another one, or there are too many. */
static bool open_family(struct exposition *e, const struct exposition_sample *s)
{
    const struct mk_str family = family_of(s);
    const uint64_t hash = hash_64(HASH_START_64, family.p, family.len);

    for (unsigned i = 0; i < e->nfamilies; i++) {
        if (e->families[i] == hash)
            return false;
    }
    if (e->nfamilies == EXPOSITION_FAMILIES)
        return false;
    e->families[e->nfamilies++] = hash;
    memcpy(e->family, s->name, strlen(s->name) + 1);
    return true;
}

/* ---- texts ---- */

/* Escaped as both formats want it; a byte that is not part of valid UTF-8 becomes U+FFFD. */
static void put_text(struct page *page, struct mk_str text, bool quotes)
{
    size_t from = 0, at = 0;

    while (at < text.len) {
        const struct mk_str rest = {text.p + at, text.len - at};
        const size_t len = text_utf8(rest);
        const char c = text.p[at];
        const bool is_special = c == '\\' || c == '\n' || (c == '"' && quotes);

        if (len > 0 && !is_special) {
            at += len;
            continue;
        }
        page_bytes(page, (struct mk_str){text.p + from, at - from});
        page_put(page, len == 0 ? "\xEF\xBF\xBD" : c == '\n' ? "\\n" : c == '"' ? "\\\"" : "\\\\");
        from = ++at;
    }
    page_bytes(page, (struct mk_str){text.p + from, at - from});
}

void status_exposition_put_digits(struct page *page, const char *text)
{
    bool is_point = false;

    for (; *text; text++) {
        const bool is_kept =
            (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == 'e';

        if (is_kept || !is_point)
            page_bytes(page, (struct mk_str){is_kept ? text : ".", 1});
        is_point = !is_kept;
    }
}

static void put_real(struct page *page, double value)
{
    char text[64];

    /* Whole numbers that a double has exactly are written in full. */
    if (fabs(value) < 0x1p53 && value == trunc(value))
        (void)snprintf(text, sizeof(text), "%.0f", value);
    else
        (void)snprintf(text, sizeof(text), "%.15g", value);
    status_exposition_put_digits(page, text);
}

void status_exposition_number(struct page *page, double value, bool json)
{
    if (isfinite(value))
        put_real(page, value);
    else if (json)
        page_put(page, "null");
    else
        page_put(page, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf");
}

/* ---- the formats for Prometheus ---- */

/* OpenMetrics names a family of counters without the _total of its samples, and knows no counters without it. */
static void put_heading(struct exposition *e, const struct exposition_sample *s)
{
    static const char *const types[] = {
        [EXPOSITION_GAUGE] = "gauge",
        [EXPOSITION_COUNTER] = "counter",
        [EXPOSITION_HISTOGRAM] = "histogram",
    };
    const bool is_open = e->format == EXPOSITION_OPENMETRICS;
    const bool is_counter = s->type == EXPOSITION_COUNTER;
    const struct mk_str name = is_open ? family_of(s) : mk_str_from(s->name);

    page_put(e->page, "# HELP ");
    page_bytes(e->page, name);
    page_put(e->page, " ");
    put_text(e->page, mk_str_from(s->help ? s->help : ""), is_open);
    page_put(e->page, "\n# TYPE ");
    page_bytes(e->page, name);
    page_put(e->page, " ");
    page_put(e->page, is_open && is_counter && !is_total(s->name) ? "unknown" : types[s->type]);
    page_put(e->page, "\n");
}

static void put_line(struct exposition *e, const struct exposition_sample *s)
{
    page_put(e->page, s->name);
    page_put(e->page, s->suffix ? s->suffix : "");
    for (unsigned i = 0; i < s->nlabels; i++) {
        page_put(e->page, i == 0 ? "{" : ",");
        page_put(e->page, s->labels[i].name);
        page_put(e->page, "=\"");
        put_text(e->page, s->labels[i].value, true);
        page_put(e->page, "\"");
    }
    page_put(e->page, s->nlabels > 0 ? "} " : " ");
    status_exposition_number(e->page, s->value, false);
    page_put(e->page, "\n");
}

/* ---- JSON ---- */

static void put_json(struct exposition *e, const struct exposition_sample *s)
{
    page_put(e->page, e->has_samples ? ",\n{\"name\": \"" : "{\"name\": \"");
    page_put(e->page, s->name);
    page_put(e->page, s->suffix ? s->suffix : "");
    page_put(e->page, "\", \"labels\": {");
    for (unsigned i = 0; i < s->nlabels; i++) {
        page_member(e->page, s->labels[i].name);
        page_json(e->page, s->labels[i].value);
    }
    page_put(e->page, "}, \"value\": ");
    status_exposition_number(e->page, s->value, true);
    page_put(e->page, "}");
}

/* ---- all ---- */

void status_exposition_begin(struct exposition *e, struct page *page, enum exposition_format format)
{
    *e = (struct exposition){.page = page, .format = format};
    if (format == EXPOSITION_JSON)
        page_put(page, "[");
}

void status_exposition_put(struct exposition *e, const struct exposition_sample *s)
{
    const bool is_open = strcmp(e->family, s->name) == 0;

    if (!is_name(s->name, false) || !has_valid_labels(s) || (!is_open && !open_family(e, s))) {
        e->left_out++;
        return;
    }
    if (e->format == EXPOSITION_JSON) {
        put_json(e, s);
    } else {
        if (!is_open)
            put_heading(e, s);
        put_line(e, s);
    }
    e->has_samples = true;
}

void status_exposition_end(struct exposition *e)
{
    if (e->format == EXPOSITION_OPENMETRICS)
        page_put(e->page, "# EOF\n");
    else if (e->format == EXPOSITION_JSON)
        page_put(e->page, "]");
}
