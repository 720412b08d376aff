/* SPDX-License-Identifier: Apache-2.0 */
#include "http/preconditions.h"

#include "base/limits.h"
#include "base/str.h"
#include "http/date.h"

static bool is_weak(struct mk_str etag)
{
    return mk_str_has_prefix(etag, MK_STR("W/"));
}

/** RFC 9110 section 8.8.3.2. */
static bool etag_equal(struct mk_str a, struct mk_str b, bool strong)
{
    if (strong && (is_weak(a) || is_weak(b)))
        return false;
    a = mk_str_skip(a, is_weak(a) ? 2 : 0);
    b = mk_str_skip(b, is_weak(b) ? 2 : 0);
    return a.p && b.p && mk_str_eq(a, b);
}

/**
 * Cut the next entity tag off a list. Its quoted part may hold commas, so a comma is no fence.
 * @return false at the end, or where the list stops being one.
 */
static bool next_etag(struct mk_str *rest, struct mk_str *etag)
{
    size_t start = 0, open;
    const char *close;

    while (start < rest->len && strchr(" \t,", rest->p[start]) && rest->p[start])
        start++;
    *rest = mk_str_skip(*rest, start);
    open = is_weak(*rest) ? 2 : 0;
    if (open >= rest->len || rest->p[open] != '"')
        return false;
    close = memchr(rest->p + open + 1, '"', rest->len - open - 1);
    if (!close)
        return false;
    *etag = (struct mk_str){rest->p, (size_t)(close - rest->p) + 1};
    *rest = mk_str_skip(*rest, etag->len);
    return true;
}

static bool list_matches(struct mk_str list, struct mk_str etag, bool strong)
{
    struct mk_str member;

    if (mk_str_eq(mk_str_trim(list), MK_STR("*")))
        return true; /* a representation was selected, so one exists */
    for (int i = 0; i < MK_LIMIT_ETAGS && next_etag(&list, &member); i++) {
        if (etag_equal(member, etag, strong))
            return true;
    }
    return false;
}

/** Modified after the date that a field gives? A field that is no date has no opinion. */
static bool modified_since(struct mk_str field, const struct mk_validators *v, bool no_opinion)
{
    int64_t date;

    if (mk_date_parse(field, v->now, &date) < 0)
        return no_opinion;
    return v->last_modified > date;
}

enum mk_precondition mk_preconditions_eval(const struct mk_preconditions *p,
                                           const struct mk_validators *v, bool is_read)
{
    if (p->if_match.p) {
        if (!list_matches(p->if_match, v->etag, true))
            return MK_PRECONDITION_FAILED;
    } else if (p->if_unmodified_since.p && modified_since(p->if_unmodified_since, v, false)) {
        return MK_PRECONDITION_FAILED;
    }
    if (p->if_none_match.p) {
        if (list_matches(p->if_none_match, v->etag, false))
            return is_read ? MK_PRECONDITION_NOT_MODIFIED : MK_PRECONDITION_FAILED;
    } else if (is_read && p->if_modified_since.p &&
               !modified_since(p->if_modified_since, v, true)) {
        return MK_PRECONDITION_NOT_MODIFIED;
    }
    return MK_PRECONDITION_PASS;
}

bool mk_if_range_holds(struct mk_str if_range, const struct mk_validators *v)
{
    int64_t date;

    if (!if_range.p)
        return true;
    if (if_range.len > 0 && (if_range.p[0] == '"' || is_weak(if_range)))
        return etag_equal(if_range, v->etag, true);
    if (mk_date_parse(if_range, v->now, &date) < 0)
        return false;
    return date == v->last_modified && v->now > v->last_modified;
}
