/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pattern.h"

#include <string.h>

/* ---- patterns ---- */

/* @param segment  ":id<int>"; in: from the colon on, out: ":id" */
static const char *read_type(struct mk_duda_pattern *p, struct mk_str *segment)
{
    const char *open = memchr(segment->p, '<', segment->len);
    struct mk_duda_typed *typed = &p->typed[p->ntyped];
    struct mk_str name;

    if (!open)
        return NULL;
    if (segment->p[segment->len - 1] != '>')
        return "a type stands at the end of its segment, as in :id<int>";
    if (p->ntyped == MK_ROUTE_VALUES)
        return "too many variables";
    name = (struct mk_str){open + 1, (size_t)(segment->p + segment->len - open - 2)};
    typed->type = text_type_named(name);
    if (typed->type == TEXT_TYPE_COUNT)
        return "types are int, uint, hex, word and uuid";
    segment->len = (size_t)(open - segment->p);
    typed->name = (struct mk_str){segment->p + 1, segment->len - 1};
    p->ntyped++;
    return NULL;
}

const char *mk_duda_pattern_read(struct mk_duda_pattern *p, struct mk_str text)
{
    const char *why = NULL;
    size_t len = 0;

    p->ntyped = 0;
    if (text.len > MK_ROUTE_PATTERN)
        return "it is too long";
    while (text.len > 0 && !why) {
        const char *slash = memchr(text.p, '/', text.len);
        struct mk_str segment = {text.p, slash ? (size_t)(slash - text.p) : text.len};
        size_t taken = segment.len + (slash != NULL);

        if (segment.len > 0 && segment.p[0] == ':')
            why = read_type(p, &segment);
        memcpy(p->plain + len, segment.p, segment.len);
        len += segment.len;
        if (slash)
            p->plain[len++] = '/';
        text = (struct mk_str){text.p + taken, text.len - taken};
    }
    p->plain[len] = '\0';
    return why;
}

/* ---- values ---- */

bool mk_duda_number_read(struct mk_str text, long *number)
{
    int64_t n;

    if (!text_int(text, &n) || (int64_t)(long)n != n)
        return false;
    *number = (long)n;
    return true;
}

bool mk_duda_type_fits(enum text_type type, struct mk_str value)
{
    const bool is_number = type == TEXT_TYPE_INT || type == TEXT_TYPE_UINT;
    long number;

    return text_type_fits(type, value) && (!is_number || mk_duda_number_read(value, &number));
}
