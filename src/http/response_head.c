/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/response.h>

#include "base/invariant.h"
#include "base/limits.h"
#include "base/str.h"
#include "http/chars_int.h"
#include "http/field_line_int.h"

#include <monkey/field.h>

/*
 * Each line is looked at when its end has come, so the verdict depends on the bytes alone, never on how
 * they were cut; only the first bytes of a status line are judged at once. What the fields mean together
 * is judged behind the last one.
 */

_Static_assert((int)MK_LIMIT_RESPONSE_FIELDS == (int)MK_RESPONSE_FIELDS_MAX,
               "what plugins are told of");

static int refuse(struct mk_response_head *h, const char *why)
{
    h->why = why;
    return MK_E_BAD;
}

static int too_much(struct mk_response_head *h, const char *why)
{
    h->why = why;
    return MK_E_LIMIT;
}

static struct mk_str field_lines(const struct mk_response_head *h, const char *buf)
{
    return (struct mk_str){buf + h->fields_off, h->fields_len};
}

/* ---- what the fields mean ---- */

struct judge {
    struct mk_response_head *h;
    const char *buf;
    enum mk_response_kind kind;
    unsigned seen; /* bit i: known field i came */
    bool close, keep, upgrade;
};

/** "404" or "404 Not Found". RFC 9110 section 15: a code outside 100 to 599 is invalid. */
static bool take_status(struct mk_response_head *h, const char *buf, struct mk_str text)
{
    struct mk_str reason = mk_str_trim(mk_str_skip(text, 3));
    uint64_t status;

    if (text.len < 3 || (text.len > 3 && text.p[3] != ' ') ||
        mk_str_to_u64((struct mk_str){text.p, 3}, 599, &status) < 0 || status < 100)
        return false;
    h->status = (unsigned)status;
    if (reason.len > 0) {
        h->reason_off = (uint32_t)(reason.p - buf);
        h->reason_len = (uint32_t)reason.len;
    }
    return true;
}

static const char *judge_connection(struct judge *j, struct mk_str options)
{
    struct mk_str option;

    while (mk_list_next(&options, &option)) {
        j->close = j->close || mk_str_ieq(option, MK_STR("close"));
        j->keep = j->keep || mk_str_ieq(option, MK_STR("keep-alive"));
        j->upgrade = j->upgrade || mk_str_ieq(option, MK_STR("upgrade"));
    }
    return NULL;
}

/** RFC 9110 section 8.6: repeated equal lengths, in one line or several, are one length. */
static const char *judge_length(struct judge *j, struct mk_str lengths)
{
    static const char no_number[] = "Content-Length is not a number";
    struct mk_str member;
    uint64_t length;
    bool any = false;

    while (mk_list_next(&lengths, &member)) {
        if (mk_str_to_u64(member, INT64_MAX, &length) < 0)
            return no_number;
        if (j->h->content_length >= 0 && (uint64_t)j->h->content_length != length)
            return "Content-Lengths that differ";
        j->h->content_length = (int64_t)length;
        any = true;
    }
    return any ? NULL : no_number;
}

static const char *judge_codings(struct judge *j, struct mk_str codings)
{
    struct mk_str coding;

    if (j->kind == MK_RESPONSE_CGI)
        return "Transfer-Encoding in a CGI response";
    while (mk_list_next(&codings, &coding)) {
        if (!mk_str_ieq(coding, MK_STR("chunked")))
            return "transfer coding not implemented";
        if (j->h->chunked)
            return "chunked is repeated";
        j->h->chunked = true;
    }
    return NULL;
}

static const char *judge_status(struct judge *j, struct mk_str value)
{
    if (j->kind == MK_RESPONSE_CGI && !take_status(j->h, j->buf, value))
        return "Status is not a number from 100 to 599";
    return NULL;
}

enum known { CONNECTION, LENGTH, CODINGS, UPGRADE, STATUS, LOCATION, TYPE };

static const struct {
    struct mk_str name;
    bool once_in_cgi; /* RFC 3875 section 6.3 */
    const char *(*judge)(struct judge *j, struct mk_str value);
} known_fields[] = {
    [CONNECTION] = {MK_STR_INIT("connection"), false, judge_connection},
    [LENGTH] = {MK_STR_INIT("content-length"), false, judge_length},
    [CODINGS] = {MK_STR_INIT("transfer-encoding"), false, judge_codings},
    [UPGRADE] = {MK_STR_INIT("upgrade"), false, NULL},
    [STATUS] = {MK_STR_INIT("status"), true, judge_status},
    [LOCATION] = {MK_STR_INIT("location"), true, NULL},
    [TYPE] = {MK_STR_INIT("content-type"), true, NULL},
};

static bool saw(const struct judge *j, enum known field)
{
    return j->seen >> field & 1;
}

static const char *judge_field(struct judge *j, struct mk_str name, struct mk_str value)
{
    for (unsigned i = 0; i < MK_ARRAY_LEN(known_fields); i++) {
        if (!mk_str_ieq(name, known_fields[i].name))
            continue;
        if (known_fields[i].once_in_cgi && j->kind == MK_RESPONSE_CGI && saw(j, (enum known)i))
            return "a CGI field is repeated";
        j->seen |= 1U << i;
        return known_fields[i].judge ? known_fields[i].judge(j, value) : NULL;
    }
    return NULL;
}

/** RFC 9112 sections 6.1 to 6.3; RFC 9110 section 8.6. */
static const char *judge_framing(const struct judge *j)
{
    const struct mk_response_head *h = j->h;

    if (saw(j, CODINGS) && !h->chunked)
        return "Transfer-Encoding without a coding";
    if (saw(j, CODINGS) && saw(j, LENGTH))
        return "Content-Length together with Transfer-Encoding";
    if (saw(j, CODINGS) && h->minor == 0)
        return "Transfer-Encoding in an HTTP/1.0 response";
    if (h->status < 200 && (h->chunked || h->content_length > 0))
        return "a body in a response that has none";
    return NULL;
}

/** RFC 9112 section 6.3, rule 1. A body may come all the same, which is nobody's answer. */
static void drop_body(struct mk_response_head *h)
{
    if (h->status != 204 || (!h->chunked && h->content_length <= 0))
        return;
    h->chunked = h->keep_alive = false;
    h->content_length = -1;
}

static int judge_head(struct mk_response_head *h, enum mk_response_kind kind, const char *buf)
{
    struct judge j = {.h = h, .buf = buf, .kind = kind};
    struct mk_str lines = field_lines(h, buf), name, value;
    const char *why = NULL;
    uint32_t at = 0;

    h->content_length = -1;
    if (kind == MK_RESPONSE_CGI && h->nfields == 0)
        return refuse(h, "a CGI response without fields");
    while (!why && mk_field_line_next(lines, &at, &name, &value))
        why = judge_field(&j, name, value);
    if (!why && h->status == 0)
        h->status = saw(&j, LOCATION) ? 302 : 200; /* RFC 3875 sections 6.2.3, 6.3.3 */
    if (!why)
        why = judge_framing(&j);
    if (why)
        return refuse(h, why);
    h->keep_alive = kind == MK_RESPONSE_HTTP && !j.close && (h->minor > 0 || j.keep);
    drop_body(h);
    h->upgrade = h->status == 101 && j.upgrade && saw(&j, UPGRADE);
    return 0;
}

/* ---- lines ---- */

/** Cut the next line off, without its end. */
static int take_line(struct mk_response_head *h, enum mk_response_kind kind, const char *buf,
                     size_t len, struct mk_str *line)
{
    const char *end = mk_chars_skip(buf + h->scanned, buf + len, MK_CHAR_TEXT), *lf = end;

    h->scanned = (uint32_t)(end - buf);
    if (lf < buf + len && *lf == '\r')
        lf++;
    if (lf == buf + len)
        return MK_E_AGAIN;
    if (*lf != '\n' && lf == end)
        return refuse(h, "control byte in the head");
    if (*lf != '\n' || (lf == end && kind == MK_RESPONSE_HTTP && !h->lenient))
        return refuse(h, "line does not end in CR LF");
    *line = (struct mk_str){buf + h->line, h->scanned - h->line};
    h->line = h->scanned = (uint32_t)(lf + 1 - buf);
    return 0;
}

static const char status_line_form[] = "HTTP/1.d ddd";

/** What speaks another protocol is refused at its first bytes. */
static bool may_be_status_line(const char *buf, size_t len)
{
    return memcmp(buf, status_line_form, len < 7 ? len : 7) == 0;
}

/** RFC 9112 section 4. The blank behind the status is often left out when there is no reason. */
static int take_status_line(struct mk_response_head *h, const char *buf, struct mk_str line)
{
    uint64_t minor;

    if (line.len < sizeof(status_line_form) - 1 || line.p[8] != ' ' ||
        mk_str_to_u64((struct mk_str){line.p + 7, 1}, 9, &minor) < 0)
        return refuse(h, "status line is not version SP status SP reason");
    h->minor = minor > 0;
    if (!take_status(h, buf, mk_str_skip(line, 9)))
        return refuse(h, "status is not a number from 100 to 599");
    h->fields_off = h->line;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int take_field(struct mk_response_head *h, struct mk_str line)
{
    const char *end = line.p + line.len, *colon = mk_chars_skip(line.p, end, MK_CHAR_TOKEN);

    if (is_blank(line.p[0]))
        return refuse(h, "folded field line");
    if (colon < end && colon > line.p && is_blank(*colon))
        return refuse(h, "blank before the colon of a field");
    if (colon == end || colon == line.p || *colon != ':')
        return refuse(h, "field name is not a token");
    if (h->nfields == MK_LIMIT_RESPONSE_FIELDS)
        return too_much(h, "too many fields");
    h->nfields++;
    return 0;
}

/** @return 1 behind the empty line. */
static int take_next(struct mk_response_head *h, enum mk_response_kind kind, const char *buf,
                     size_t len)
{
    uint32_t begin = h->line;
    struct mk_str line;
    int err = take_line(h, kind, buf, len, &line);

    if (err < 0)
        return err;
    if (kind == MK_RESPONSE_HTTP && h->status == 0)
        return take_status_line(h, buf, line);
    if (line.len > 0)
        return take_field(h, line);
    h->fields_len = begin - h->fields_off;
    err = judge_head(h, kind, buf);
    return err < 0 ? err : 1;
}

ssize_t mk_response_parse(struct mk_response_head *h, enum mk_response_kind kind, const char *buf,
                          size_t len, size_t max)
{
    size_t most = max < UINT32_MAX ? max : UINT32_MAX, allowed = len < most ? len : most;
    int ret = 0;

    if (kind == MK_RESPONSE_HTTP && !may_be_status_line(buf, allowed))
        return refuse(h, "no status line of HTTP/1");
    while (ret == 0)
        ret = take_next(h, kind, buf, allowed);
    if (ret == MK_E_AGAIN && len >= most)
        return too_much(h, "head too large");
    return ret > 0 ? (ssize_t)h->line : ret;
}

bool mk_response_next(const struct mk_response_head *h, const char *buf, uint32_t *at,
                      struct mk_str *name, struct mk_str *value)
{
    return mk_field_line_next(field_lines(h, buf), at, name, value);
}

struct mk_str mk_response_find(const struct mk_response_head *h, const char *buf,
                               struct mk_str name)
{
    return mk_field_line_find(field_lines(h, buf), name);
}
