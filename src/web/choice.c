/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/choice.h>

#include <monkey/field.h>

#include "base/str.h"
#include "http/accept.h"
#include "http/date.h"
#include "web/parameter.h"

/* Lists of what a client wants, with weights. */

enum { MEMBERS_MAX = 64 };

/* A member of a list: what stands before its weight. */
struct wanted {
    struct mk_str range;      /* "text/html", "de", without parameters */
    struct mk_str parameters; /* "; level=1" */
    int weight;               /* thousandths */
};

/* How well a member fits an offer; 0: not at all. The best one says the weight. */
typedef unsigned (*fit_fn)(const struct wanted *w, struct mk_str offer);

/* The weight is the last parameter that counts (RFC 9110 section 12.5.1). @return false: malformed. */
static bool read_member(struct mk_str member, struct wanted *w)
{
    const char *semicolon = memchr(member.p, ';', member.len);
    struct mk_str rest, name, value;
    int more;

    w->range.p = member.p;
    w->range.len = semicolon ? (size_t)(semicolon - member.p) : member.len;
    w->weight = 1000;
    rest = mk_str_skip(member, w->range.len);
    w->parameters = rest;
    w->range = mk_str_trim(w->range);
    for (struct mk_str before = rest; (more = mk_parameter_next(&rest, &name, &value)) > 0;
         before = rest) {
        if (!mk_str_ieq(name, MK_STR("q")))
            continue;
        w->parameters.len = (size_t)(before.p - w->parameters.p);
        w->weight = mk_accept_weight(value);
        return w->weight >= 0 && w->range.len > 0;
    }
    return more == 0 && w->range.len > 0;
}

/* @return the weight of an offer, and how well the member fits that says so; -1: none fits. */
static int weigh(struct mk_str accept, struct mk_str offer, fit_fn fit, unsigned *best)
{
    struct mk_str member;
    struct wanted w;
    int weight = -1;

    *best = 0;
    for (int i = 0; i < MEMBERS_MAX && mk_list_next(&accept, &member); i++) {
        unsigned fits = read_member(member, &w) ? fit(&w, offer) : 0;

        if (fits > *best) {
            *best = fits;
            weight = w.weight;
        }
    }
    return weight;
}

/* ---- media types ---- */

static struct mk_str before(struct mk_str text, char c)
{
    const char *at = text.len > 0 ? memchr(text.p, c, text.len) : NULL;

    return at ? mk_str_trim((struct mk_str){text.p, (size_t)(at - text.p)}) : text;
}

static bool has_parameter(struct mk_str rest, struct mk_str wanted_name, struct mk_str wanted_value)
{
    struct mk_str name, value;

    while (mk_parameter_next(&rest, &name, &value) > 0) {
        if (mk_str_ieq(name, wanted_name))
            return mk_str_ieq(mk_parameter_unquoted(value), mk_parameter_unquoted(wanted_value));
    }
    return false;
}

/* From the vague to the exact: any type, any of a family, the type, the type with its parameters. */
static unsigned fit_type(const struct wanted *w, struct mk_str offer)
{
    const struct mk_str type = before(offer, ';'), family = before(type, '/');
    struct mk_str name, value, rest = w->parameters;
    unsigned fits = 3;

    if (mk_str_eq(w->range, MK_STR("*/*")))
        fits = 1;
    else if (mk_str_has_suffix(w->range, MK_STR("/*")) && mk_str_ieq(before(w->range, '/'), family))
        fits = 2;
    else if (!mk_str_ieq(w->range, type))
        return 0;
    while (mk_parameter_next(&rest, &name, &value) > 0) {
        if (!has_parameter(mk_str_skip(offer, before(offer, ';').len), name, value))
            return 0;
        fits++;
    }
    return fits;
}

int mk_choose_type(struct mk_str accept, const struct mk_str *offers, int noffers)
{
    int chosen = -1, most = 0;
    unsigned fits;

    for (int i = 0; offers && i < noffers; i++) {
        int weight = accept.p ? weigh(accept, offers[i], fit_type, &fits) : 1000;

        if (weight > most) {
            most = weight;
            chosen = i;
        }
    }
    return chosen;
}

/* ---- languages ---- */

/* Is one of them the other, or a longer form of it? */
static bool is_beginning(struct mk_str tag, struct mk_str of)
{
    return tag.len > 0 && tag.len <= of.len && (tag.len == of.len || of.p[tag.len] == '-') &&
           mk_str_ieq(tag, (struct mk_str){of.p, tag.len});
}

enum { ANY = 1, LONGER = 2, FITS = 3 };

static unsigned fit_language(const struct wanted *w, struct mk_str offer)
{
    if (mk_str_eq(w->range, MK_STR("*")))
        return ANY;
    if (is_beginning(w->range, offer))
        return FITS + (unsigned)w->range.len;
    return is_beginning(offer, w->range) && w->weight > 0 ? LONGER : 0;
}

int mk_choose_language(struct mk_str accept, const struct mk_str *offers, int noffers)
{
    int chosen = -1, most = 0;

    for (int i = 0; offers && i < noffers; i++) {
        unsigned fits = FITS;
        int weight = accept.p ? weigh(accept, offers[i], fit_language, &fits) : 1000;
        int rank = weight * 4 + (int)(fits < FITS ? fits : FITS);

        if (weight > 0 && rank > most) {
            most = rank;
            chosen = i;
        }
    }
    return chosen;
}

/* ---- codings and dates ---- */

int mk_choose_coding(struct mk_str accept, const struct mk_str *offers, int noffers)
{
    unsigned most = 0;
    int chosen = -1;

    for (int i = 0; offers && i < noffers; i++) {
        unsigned weight = mk_accept_encoding(accept, offers[i]);

        if (weight > most) {
            most = weight;
            chosen = i;
        }
    }
    return chosen;
}

void mk_date_write(char dst[MK_DATE_TEXT], int64_t t)
{
    if (dst)
        mk_date_format(dst, t);
}

int mk_date_read(struct mk_str text, int64_t now, int64_t *t)
{
    return t ? mk_date_parse(text, now, t) : MK_E_INVALID;
}
