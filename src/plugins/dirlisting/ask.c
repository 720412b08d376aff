/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <strings.h>

static const struct mk_str sort_names[] = {
    [DIRLISTING_BY_NAME] = MK_STR_INIT("name"),
    [DIRLISTING_BY_TIME] = MK_STR_INIT("time"),
    [DIRLISTING_BY_SIZE] = MK_STR_INIT("size"),
};

enum { NSORTS = sizeof(sort_names) / sizeof(sort_names[0]) };

static bool is(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

static bool is_in_any_case(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && strncasecmp(a.p, b.p, a.len) == 0;
}

/* Cut off what stands before the first such character; all of it without one. */
static struct mk_str cut(struct mk_str *s, char at)
{
    const char *end = s->len ? memchr(s->p, at, s->len) : NULL;
    struct mk_str head = {s->p, end ? (size_t)(end - s->p) : s->len};
    size_t used = head.len + (end ? 1 : 0);

    s->p += used;
    s->len -= used;
    return head;
}

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
        struct mk_str value = cut(&query, '&'), key = cut(&value, '=');

        for (unsigned i = 0; i < NSORTS && is(key, MK_STR("sort")); i++) {
            if (is(value, sort_names[i]))
                ask.sort = (enum dirlisting_sort)i;
        }
        if (is(key, MK_STR("order")))
            ask.descending = is(value, MK_STR("desc"));
    }
    return ask;
}

/* ---- Accept ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct mk_str trim(struct mk_str s)
{
    while (s.len > 0 && is_blank(*s.p)) {
        s.p++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.p[s.len - 1]))
        s.len--;
    return s;
}

/* Like cut, but not inside a quoted string, which a parameter's value may be. */
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
    return trim(head);
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
    if (is_in_any_case(range, name))
        return 3;
    if (range.len == type.len + 2 && strncasecmp(range.p, type.p, type.len) == 0 &&
        memcmp(range.p + type.len, "/*", 2) == 0)
        return 2;
    return is(range, MK_STR("*/*")) ? 1 : 0;
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
        struct mk_str value = cut_unquoted(&member, ';'), key = cut(&value, '=');

        if (is_in_any_case(key, MK_STR("q")) && !read_weight(value, &weight))
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
