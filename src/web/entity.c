/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/entity.h>

#include <monkey/events.h>

#include "base/str.h"
#include "http/date.h"
#include "http/preconditions.h"
#include "http/range.h"

#include <stdio.h>

/* Contents of handlers with validators and ranges. */

/* FNV-1a, from two starts: 128 bits, of which the second half sees each byte in another state. */
static uint64_t hash(uint64_t start, struct mk_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        start = (start ^ (unsigned char)bytes.p[i]) * 1099511628211U;
    return start;
}

struct mk_str mk_etag_write(char dst[MK_ETAG_TEXT], struct mk_str bytes, bool is_weak)
{
    const uint64_t first = hash(14695981039346656037U, bytes);
    const uint64_t second = hash(first ^ 0x9e3779b97f4a7c15U ^ bytes.len, bytes);
    int len = snprintf(dst, MK_ETAG_TEXT, "%s\"%016llx%016llx\"", is_weak ? "W/" : "",
                       (unsigned long long)first, (unsigned long long)second);

    return (struct mk_str){dst, (size_t)len};
}

/* ---- preconditions ---- */

static struct mk_validators validators_of(const struct mk_entity *e,
                                          const struct mk_request_facts *facts)
{
    return (struct mk_validators){
        .etag = e->etag,
        .last_modified = e->has_modified ? e->modified : INT64_MAX,
        .now = mk_worker_wall_s(facts->worker),
    };
}

/* A date is compared with a date only (RFC 9110 sections 13.1.3, 13.1.4). */
static struct mk_preconditions conditions_of(const struct mk_request *r, const struct mk_entity *e)
{
    struct mk_preconditions p = {
        .if_match = mk_request_header(r, MK_STR("If-Match")),
        .if_none_match = mk_request_header(r, MK_STR("If-None-Match")),
        .if_range = mk_request_header(r, MK_STR("If-Range")),
    };

    if (e->has_modified) {
        p.if_modified_since = mk_request_header(r, MK_STR("If-Modified-Since"));
        p.if_unmodified_since = mk_request_header(r, MK_STR("If-Unmodified-Since"));
    }
    return p;
}

static bool is_read(const struct mk_request_facts *facts)
{
    return mk_str_eq(facts->method, MK_STR("GET")) || mk_str_eq(facts->method, MK_STR("HEAD"));
}

unsigned mk_entity_check(const struct mk_request *r, const struct mk_entity *e)
{
    const struct mk_preconditions p = conditions_of(r, e);
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_validators v;

    if (e->is_missing)
        return p.if_match.p ? 412 : 200;
    mk_request_facts(r, &facts);
    v = validators_of(e, &facts);
    switch (mk_preconditions_eval(&p, &v, is_read(&facts))) {
    case MK_PRECONDITION_NOT_MODIFIED:
        return 304;
    case MK_PRECONDITION_FAILED:
        return 412;
    case MK_PRECONDITION_PASS:
        break;
    }
    return 200;
}

/* ---- answers ---- */

static void add_validators(struct mk_reply *p, const struct mk_entity *e)
{
    char date[MK_DATE_LEN];

    if (e->etag.p)
        mk_reply_line(p, MK_STR("ETag"), e->etag);
    if (e->has_modified) {
        mk_date_format(date, e->modified);
        mk_reply_line(p, MK_STR("Last-Modified"), (struct mk_str){date, sizeof(date)});
    }
}

enum mk_verdict mk_reply_unchanged(struct mk_request *r, const struct mk_entity *e, unsigned status)
{
    struct mk_reply p;

    if (status != 304)
        return mk_reply_error(r, status, NULL);
    if (mk_reply_begin(&p, r, status) == 0) {
        add_validators(&p, e);
        (void)!mk_reply_end(&p, 0);
    }
    return MK_VERDICT_DONE;
}

/* What is left of a content that is being sent. */
struct sending {
    mk_entity_fn give;
    void *arg;
    uint64_t at, left;
    bool has_length;
};

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct sending *s = arg;
    ssize_t got;

    if (s->left == 0)
        return 0;
    if (len > s->left)
        len = (size_t)s->left;
    got = s->give(r, s->arg, s->at, dst, len);
    if (got == 0 && s->has_length)
        return MK_E_BAD; /* less than was promised */
    if (got > 0) {
        s->at += (uint64_t)got;
        s->left -= (uint64_t)got;
    }
    return got;
}

/*
 * @param range  out: what is to be sent
 * @return 200, 206 or 416.
 */
static unsigned judge_range(const struct mk_request *r, const struct mk_entity *e,
                            struct mk_range *range)
{
    const struct mk_str wanted = mk_request_header(r, MK_STR("Range"));
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_validators v;
    int count;

    mk_request_facts(r, &facts);
    v = validators_of(e, &facts);
    if (!wanted.p || e->length < 0 || !mk_str_eq(facts.method, MK_STR("GET")) ||
        !mk_if_range_holds(mk_request_header(r, MK_STR("If-Range")), &v))
        return 200;
    count = mk_range_parse(wanted, (uint64_t)e->length, range, 1);
    return count == 1 ? 206 : count < 0 ? 416 : 200;
}

static enum mk_verdict refuse_range(struct mk_request *r, const struct mk_entity *e)
{
    const char *line =
        mk_request_printf(r, "Content-Range: bytes */%lld\r\n", (long long)e->length);

    return mk_reply_error(r, line ? 416 : 500, line);
}

static int write_head(struct mk_request *r, const struct mk_entity *e, unsigned status,
                      const struct mk_range *range, int64_t length)
{
    struct mk_reply p;
    char text[96];
    int err = mk_reply_begin(&p, r, status);

    if (err < 0)
        return err;
    if (e->type)
        mk_reply_line(&p, MK_STR("Content-Type"), mk_str_from(e->type));
    if (e->length >= 0)
        mk_reply_line(&p, MK_STR("Accept-Ranges"), MK_STR("bytes"));
    if (status == 206) {
        (void)snprintf(text, sizeof(text), "bytes %llu-%llu/%lld", (unsigned long long)range->first,
                       (unsigned long long)range->last, (long long)e->length);
        mk_reply_line(&p, MK_STR("Content-Range"), mk_str_from(text));
    }
    add_validators(&p, e);
    return mk_reply_end(&p, length);
}

static enum mk_verdict send(struct mk_request *r, const struct mk_entity *e, struct sending *s)
{
    struct mk_range range = {0, 0};
    const unsigned status = judge_range(r, e, &range);
    int64_t length = e->length;

    if (status == 416)
        return refuse_range(r, e);
    if (status == 206) {
        s->at = range.first;
        length = (int64_t)(range.last - range.first + 1);
    }
    s->left = length < 0 ? UINT64_MAX : (uint64_t)length;
    s->has_length = length >= 0;
    if (write_head(r, e, status, &range, length) == 0 && s->left > 0)
        (void)!mk_reply_producer(r, produce, s);
    return MK_VERDICT_DONE;
}

enum mk_verdict mk_reply_entity(struct mk_request *r, const struct mk_entity *e, mk_entity_fn give,
                                void *arg)
{
    const unsigned status = mk_entity_check(r, e);
    struct sending *s;

    if (status != 200)
        return mk_reply_unchanged(r, e, status);
    s = mk_request_alloc(r, sizeof(*s));
    if (!s)
        return mk_reply_error(r, 500, NULL);
    *s = (struct sending){.give = give, .arg = arg};
    return send(r, e, s);
}
