/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/entity.h>

#include <monkey/events.h>

#include "base/limits.h"
#include "base/str.h"
#include "http/byteranges.h"
#include "http/date.h"
#include "http/preconditions.h"
#include "kit/pure/hash.h"

#include <stdio.h>

/* Contents of handlers with validators and ranges. */

/* From two starts: 128 bits, of which the second half sees each byte in another state. */
struct mk_str mk_etag_write(char dst[MK_ETAG_TEXT], struct mk_str bytes, bool is_weak)
{
    const uint64_t first = hash_64(HASH_START_64, bytes.p, bytes.len);
    const uint64_t second = hash_64(first ^ 0x9e3779b97f4a7c15U ^ bytes.len, bytes.p, bytes.len);
    int len = 0;

    if (dst)
        len = snprintf(dst, MK_ETAG_TEXT, "%s\"%016llx%016llx\"", is_weak ? "W/" : "",
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
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_preconditions p;
    struct mk_validators v;

    if (!r || !e)
        return 412;
    p = conditions_of(r, e);
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

    if (!r)
        return MK_VERDICT_DONE;
    if (status != 304 || !e)
        return mk_reply_error(r, e ? status : 500, NULL);
    if (mk_reply_begin(&p, r, status) == 0) {
        add_validators(&p, e);
        (void)!mk_reply_end(&p, 0);
    }
    return MK_VERDICT_DONE;
}

/* What is left of a range that is being sent, or of the whole content. */
struct piece {
    mk_entity_fn give;
    void *arg;
    uint64_t at, left;
    bool has_length;
};

/* An answer that is being made. */
struct sending {
    struct mk_request *r;
    const struct mk_entity *e;
    mk_entity_fn give;
    void *arg;
    int count; /* of ranges; 0: the whole */
    struct mk_range ranges[MK_LIMIT_RANGES];
};

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct piece *s = arg;
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

/* @return 200, 206 with ranges, or 416. */
static unsigned judge_ranges(struct sending *s)
{
    const struct mk_str wanted = mk_request_header(s->r, MK_STR("Range"));
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_validators v;
    int count;

    mk_request_facts(s->r, &facts);
    v = validators_of(s->e, &facts);
    if (!wanted.p || s->e->length < 0 || !mk_str_eq(facts.method, MK_STR("GET")) ||
        !mk_if_range_holds(mk_request_header(s->r, MK_STR("If-Range")), &v))
        return 200;
    count = mk_range_parse(wanted, (uint64_t)s->e->length, s->ranges, MK_LIMIT_RANGES);
    s->count = count > 0 ? count : 0;
    return count > 0 ? 206 : count < 0 ? 416 : 200;
}

static enum mk_verdict refuse_ranges(struct mk_request *r, const struct mk_entity *e)
{
    const char *line =
        mk_request_printf(r, "Content-Range: bytes */%lld\r\n", (long long)e->length);

    return mk_reply_error(r, line ? 416 : 500, line);
}

/*
 * @param type   NULL: none
 * @param range  the only one; NULL: there is none, or there are several
 */
static int write_head(const struct sending *s, const char *type, const struct mk_range *range,
                      int64_t length)
{
    struct mk_reply p;
    char text[96];
    int err = mk_reply_begin(&p, s->r, s->count > 0 ? 206 : 200);

    if (err < 0)
        return err;
    if (type)
        mk_reply_line(&p, MK_STR("Content-Type"), mk_str_from(type));
    if (s->e->length >= 0)
        mk_reply_line(&p, MK_STR("Accept-Ranges"), MK_STR("bytes"));
    if (range) {
        (void)snprintf(text, sizeof(text), "bytes %llu-%llu/%lld", (unsigned long long)range->first,
                       (unsigned long long)range->last, (long long)s->e->length);
        mk_reply_line(&p, MK_STR("Content-Range"), mk_str_from(text));
    }
    add_validators(&p, s->e);
    return mk_reply_end(&p, length);
}

static uint64_t length_of(const struct mk_range *range)
{
    return range->last - range->first + 1;
}

/* After the head, so that an answer without memory is broken off. */
static int queue_piece(const struct sending *s, uint64_t at, uint64_t length, bool has_length)
{
    struct piece *piece;

    if (length == 0)
        return 0;
    piece = mk_request_alloc(s->r, sizeof(*piece));
    if (!piece)
        return MK_E_NOMEM;
    *piece = (struct piece){s->give, s->arg, at, length, has_length};
    return mk_reply_producer(s->r, produce, piece);
}

static int send_all(const struct sending *s)
{
    const int64_t length = s->e->length;
    const bool has_length = length >= 0;
    int err = write_head(s, s->e->type, NULL, length);

    return err < 0 ? err
                   : queue_piece(s, 0, has_length ? (uint64_t)length : UINT64_MAX, has_length);
}

static int send_one(const struct sending *s)
{
    const uint64_t length = length_of(&s->ranges[0]);
    int err = write_head(s, s->e->type, &s->ranges[0], (int64_t)length);

    return err < 0 ? err : queue_piece(s, s->ranges[0].first, length, true);
}

/* ---- several ranges: multipart/byteranges (RFC 9110 section 14.6) ---- */

static int queue_parts(const struct sending *s, const struct mk_str *separators)
{
    for (int i = 0; i <= s->count; i++) {
        int err = mk_reply_memory(s->r, separators[i]);

        if (err == 0 && i < s->count)
            err = queue_piece(s, s->ranges[i].first, length_of(&s->ranges[i]), true);
        if (err < 0)
            return err;
    }
    return 0;
}

static int send_several(const struct sending *s)
{
    struct mk_byteranges parts = {
        .ranges = s->ranges,
        .count = s->count,
        .size = (uint64_t)s->e->length,
        .type = {s->e->type, s->e->type ? strlen(s->e->type) : 0},
    };
    const uint64_t ticket = mk_request_ticket(s->r);
    const uint64_t hash = hash_64(HASH_START_64, &ticket, sizeof(ticket));
    struct mk_str separators[MK_LIMIT_RANGES + 1];
    char *text = mk_request_alloc(s->r, mk_byteranges_room(&parts));
    uint64_t length;
    int err;

    if (ticket == 0 || !text)
        return MK_E_NOMEM;
    length =
        mk_byteranges_write(&parts, text, separators, hash_64(hash, s->e->etag.p, s->e->etag.len));
    err = write_head(s, parts.content_type, NULL, (int64_t)length);
    return err < 0 ? err : queue_parts(s, separators);
}

enum mk_verdict mk_reply_entity(struct mk_request *r, const struct mk_entity *e, mk_entity_fn give,
                                void *arg)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct sending s = {.r = r, .e = e, .give = give, .arg = arg};
    unsigned status;
    int err;

    if (!r || !e || !give)
        return r ? mk_reply_error(r, 500, NULL) : MK_VERDICT_DONE;
    status = mk_entity_check(r, e);
    if (status != 200)
        return mk_reply_unchanged(r, e, status);
    if (judge_ranges(&s) == 416)
        return refuse_ranges(r, e);
    err = s.count > 1 ? send_several(&s) : s.count == 1 ? send_one(&s) : send_all(&s);
    if (err != MK_E_NOMEM)
        return MK_VERDICT_DONE;
    mk_request_facts(r, &facts);
    if (facts.status == 0)
        return mk_reply_error(r, 500, NULL);
    mk_reply_abort(r);
    return MK_VERDICT_DONE;
}
