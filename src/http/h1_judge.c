/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_head_int.h"

#include "base/str.h"
#include "http/h1_field_id_int.h"
#include "http/uri.h"

#include <monkey/field.h>

/* What the fields of a head mean for its framing and its connection. */

/* Most requests have no body and one plain Connection: their path stays short. */
#define OUT_OF_LINE __attribute__((noinline)) static

/**
 * Walks the list members of a known field over all its lines: RFC 9110 section 5.3. Nearly
 * always there is one line, which the parser remembers; only then are the lines not searched.
 */
struct members {
    const struct mk_h1_head *h;
    const char *buf;
    enum mk_field_id id;
    struct mk_str rest; /* of the current line */
    uint32_t at;        /* of the walk over the lines */
};

static struct members members_of(const struct mk_h1_head *h, const char *buf, enum mk_field_id id)
{
    struct members m = {.h = h, .buf = buf, .id = id};

    if (h->repeated >> id & 1)
        return m;
    m.rest = mk_h1_head_field(h, buf, id);
    m.at = UINT32_MAX;
    return m;
}

static bool next_line(struct members *m)
{
    struct mk_str name;
    size_t len;

    while (m->at != UINT32_MAX && mk_h1_head_next_field(m->h, m->buf, &m->at, &name, &m->rest)) {
        if (mk_field_id_at(name.p, name.p + name.len + 1, &len) == m->id)
            return true;
    }
    return false;
}

OUT_OF_LINE bool next_member(struct members *m, struct mk_str *member)
{
    while (!mk_list_next(&m->rest, member)) {
        if (!next_line(m))
            return false;
    }
    return true;
}

static bool is_repeated(const struct mk_h1_head *h, enum mk_field_id id)
{
    return h->repeated >> id & 1;
}

static bool has(const struct mk_h1_head *h, enum mk_field_id id)
{
    return h->known[id].off > 0;
}

/** RFC 9112 section 3.2. HTTP/1.0 knew no Host. */
static enum mk_h1_fault judge_host(const struct mk_h1_head *h, const char *buf)
{
    struct mk_str host;
    unsigned port;

    if (!has(h, MK_FIELD_HOST))
        return h->minor == 0 ? MK_H1_FAULT_NONE : MK_H1_FAULT_HOST_MISSING;
    if (is_repeated(h, MK_FIELD_HOST))
        return MK_H1_FAULT_HOST_REPEATED;
    if (mk_uri_authority(mk_h1_head_field(h, buf, MK_FIELD_HOST), &host, &port) < 0)
        return MK_H1_FAULT_HOST_BAD;
    return MK_H1_FAULT_NONE;
}

/** RFC 9110 section 8.6. Lists of equal lengths, which it allows to be mended, are refused. */
OUT_OF_LINE enum mk_h1_fault judge_length(struct mk_h1_head *h, const char *buf)
{
    struct mk_str text = mk_h1_head_field(h, buf, MK_FIELD_CONTENT_LENGTH);

    if (is_repeated(h, MK_FIELD_CONTENT_LENGTH))
        return MK_H1_FAULT_LENGTH_REPEATED;
    if (mk_str_to_u64(text, INT64_MAX, &h->content_length) < 0)
        return MK_H1_FAULT_LENGTH_BAD;
    h->has_length = true;
    return MK_H1_FAULT_NONE;
}

/** RFC 9112 sections 6.1 and 7. A list without chunked at all is one of unknown codings. */
OUT_OF_LINE enum mk_h1_fault judge_codings(struct mk_h1_head *h, const char *buf)
{
    struct members m = members_of(h, buf, MK_FIELD_TRANSFER_ENCODING);
    struct mk_str coding;
    bool unknown = false;

    while (next_member(&m, &coding)) {
        if (h->chunked)
            return MK_H1_FAULT_CODING_ORDER;
        h->chunked = mk_str_ieq(coding, MK_STR("chunked"));
        unknown = unknown || !h->chunked;
    }
    if (unknown)
        return MK_H1_FAULT_CODING_UNKNOWN;
    return h->chunked ? MK_H1_FAULT_NONE : MK_H1_FAULT_CODING_ORDER;
}

static enum mk_h1_fault judge_framing(struct mk_h1_head *h, const char *buf)
{
    bool coded = has(h, MK_FIELD_TRANSFER_ENCODING);

    if (coded && h->minor == 0)
        return MK_H1_FAULT_CODING_OLD;
    if (coded && has(h, MK_FIELD_CONTENT_LENGTH))
        return MK_H1_FAULT_LENGTH_AND_CODING;
    if (coded)
        return judge_codings(h, buf);
    return has(h, MK_FIELD_CONTENT_LENGTH) ? judge_length(h, buf) : MK_H1_FAULT_NONE;
}

/** RFC 9110 section 10.1.1: HTTP/1.0 never waits for a 100. */
OUT_OF_LINE enum mk_h1_fault judge_expect(struct mk_h1_head *h, const char *buf)
{
    struct members m = members_of(h, buf, MK_FIELD_EXPECT);
    struct mk_str expectation;

    while (next_member(&m, &expectation)) {
        if (!mk_str_ieq(expectation, MK_STR("100-continue")))
            return MK_H1_FAULT_EXPECTATION;
        h->expect_continue = h->minor > 0;
    }
    return MK_H1_FAULT_NONE;
}

/** RFC 9112 section 9.3: close wins, then HTTP/1.1 persists, HTTP/1.0 when it asks to. */
OUT_OF_LINE void judge_connection(struct mk_h1_head *h, const char *buf)
{
    struct members m = members_of(h, buf, MK_FIELD_CONNECTION);
    bool close = false, keep = h->minor > 0;
    struct mk_str option;

    while (next_member(&m, &option)) {
        if (mk_str_ieq(option, MK_STR("close")))
            close = true;
        else if (mk_str_ieq(option, MK_STR("keep-alive")))
            keep = true;
        else if (mk_str_ieq(option, MK_STR("upgrade")))
            h->upgrade = h->minor > 0 && has(h, MK_FIELD_UPGRADE);
    }
    h->keep_alive = keep && !close;
}

/** Is the one Connection field just what most clients send? Then no list needs a walk. */
static bool is_plain_keep_alive(const struct mk_h1_head *h, const char *buf)
{
    static const char usual[10] = {'k', 'e', 'e', 'p', '-', 'a', 'l', 'i', 'v', 'e'};
    const struct mk_piece *value = &h->known[MK_FIELD_CONNECTION];

    return value->len == sizeof(usual) && !is_repeated(h, MK_FIELD_CONNECTION) &&
           memcmp(buf + value->off, usual, sizeof(usual)) == 0;
}

enum mk_h1_fault mk_h1_fields_judge(struct mk_h1_head *h, const char *buf)
{
    enum mk_h1_fault fault = judge_host(h, buf);

    if (fault == MK_H1_FAULT_NONE)
        fault = judge_framing(h, buf);
    if (fault == MK_H1_FAULT_NONE && has(h, MK_FIELD_EXPECT))
        fault = judge_expect(h, buf);
    if (!has(h, MK_FIELD_CONNECTION))
        h->keep_alive = h->minor > 0;
    else if (is_plain_keep_alive(h, buf))
        h->keep_alive = true;
    else
        judge_connection(h, buf);
    return fault;
}
