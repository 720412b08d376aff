/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include "kit/text/words.h"

static const struct mk_str sort_names[] = {
    [DIRLISTING_BY_NAME] = MK_STR_INIT("name"),
    [DIRLISTING_BY_TIME] = MK_STR_INIT("time"),
    [DIRLISTING_BY_SIZE] = MK_STR_INIT("size"),
};

enum { NSORTS = sizeof(sort_names) / sizeof(sort_names[0]) };

struct mk_str dirlisting_sort_name(enum dirlisting_sort sort)
{
    return sort_names[sort];
}

struct dirlisting_ask dirlisting_ask_of(struct mk_str query)
{
    struct dirlisting_ask ask = {0};

    if (!query.p)
        return ask;
    while (query.len > 0) {
        struct mk_str value = text_cut(&query, '&'), key = text_cut(&value, '=');

        for (unsigned i = 0; i < NSORTS && text_is(key, MK_STR("sort")); i++) {
            if (text_is(value, sort_names[i]))
                ask.sort = (enum dirlisting_sort)i;
        }
        if (text_is(key, MK_STR("order")))
            ask.descending = text_is(value, MK_STR("desc"));
    }
    return ask;
}

/* ---- Accept ---- */

/* Like text_cut, but not inside a quoted string, which a parameter's value may be. */
static struct mk_str cut_unquoted(struct mk_str *s, char at)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < s->len && (quoted || s->p[i] != at); i++) {
        if (s->p[i] == '"')
            quoted = !quoted;
        else if (s->p[i] == '\\' && quoted && i + 1 < s->len)
            i++;
    }
    struct mk_str head = {s->p, i};

    i += i < s->len ? 1 : 0;
    s->p += i;
    s->len -= i;
    return text_trim(head);
}

/* "0.75" -> 750: RFC 9110 section 12.4.2. @return false: malformed. */
static bool read_weight(struct mk_str s, unsigned *weight)
{
    unsigned scale = 1000;

    if (s.len == 0 || s.len > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.len > 1 && s.p[1] != '.'))
        return false;
    *weight = (unsigned)(s.p[0] - '0') * scale;
    for (size_t i = 2; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        scale /= 10;
        *weight += (unsigned)(s.p[i] - '0') * scale;
    }
    return *weight <= 1000;
}

static unsigned how_specific(struct mk_str range, struct mk_str type, struct mk_str name)
{
    if (text_is_word(range, name))
        return 3;
    if (range.len == type.len + 2 && text_begins(range, type) &&
        memcmp(range.p + type.len, "/*", 2) == 0)
        return 2;
    return text_is(range, MK_STR("*/*")) ? 1 : 0;
}

static void judge(struct dirlisting_wish *wish, unsigned specific, unsigned weight)
{
    if (specific > wish->specific || (specific == wish->specific && weight > wish->weight))
        *wish = (struct dirlisting_wish){specific, specific ? weight : 0};
}

static void add_member(struct dirlisting_accept *a, struct mk_str member)
{
    struct mk_str range = cut_unquoted(&member, ';');
    unsigned weight = 1000;

    while (member.len > 0) {
        struct mk_str value = cut_unquoted(&member, ';'), key = text_cut(&value, '=');

        if (text_is_word(key, MK_STR("q")) && !read_weight(value, &weight))
            return;
    }
    judge(&a->html, how_specific(range, MK_STR("text"), MK_STR("text/html")), weight);
    judge(&a->json, how_specific(range, MK_STR("application"), MK_STR("application/json")), weight);
}

void dirlisting_accept_add(struct dirlisting_accept *a, struct mk_str value)
{
    while (value.len > 0)
        add_member(a, cut_unquoted(&value, ','));
}

bool dirlisting_accept_json(const struct dirlisting_accept *a)
{
    if (a->json.weight != a->html.weight)
        return a->json.weight > a->html.weight;
    return a->json.weight > 0 && a->json.specific > a->html.specific;
}
