/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_head_int.h"

#include "http/chars_int.h"
#include "http/field_line_int.h"
#include "http/h1_field_id_int.h"

/*
 * The head is read once, front to back. Each function below takes one part of it from the
 * cursor, and where the bytes run out the next call goes on at h->scanned, in the part that the
 * results so far tell: no method, no target, in_fields, h->colon. So the verdict depends on the
 * bytes alone, never on how they were cut.
 *
 * Parts return 0 to go on, MK_E_AGAIN, or MK_E_BAD with h->fault set.
 */
struct cursor {
    const char *base, *p, *end; /* end: of the bytes received that the limit allows */
};

enum { MORE = 0, COMPLETE = 1 };

static const char version_form[] = "HTTP/d.d\r\n", usual_version[] = "HTTP/1.1\r\n";
enum { VERSION_LEN = sizeof(version_form) - 1 };

const char *mk_h1_fault_text(enum mk_h1_fault fault)
{
    switch (fault) {
#define MK_H1_FAULT_CASE(name, text, rfc)                                                          \
    case MK_H1_FAULT_##name:                                                                       \
        return text;
        MK_H1_FAULTS(MK_H1_FAULT_CASE)
#undef MK_H1_FAULT_CASE
    default:
        return "no fault";
    }
}

static uint32_t offset(const struct cursor *c, const char *p)
{
    return (uint32_t)(p - c->base);
}

static int refuse(struct mk_h1_head *h, enum mk_h1_fault fault)
{
    h->fault = (uint8_t)fault;
    return MK_E_BAD;
}

/** Refuse the byte at c->p, which ends a part too early: a bare LF, a CR, or anything else. */
__attribute__((noinline, cold)) static int refuse_byte(struct mk_h1_head *h, const struct cursor *c,
                                                       enum mk_h1_fault at_cr,
                                                       enum mk_h1_fault otherwise)
{
    if (*c->p == '\n')
        return refuse(h, MK_H1_FAULT_LINE_END);
    return refuse(h, *c->p == '\r' ? at_cr : otherwise);
}

/** Take CR LF; the CR is known to be at c->p. */
static int take_line_end(struct mk_h1_head *h, struct cursor *c)
{
    if (c->end - c->p < 2)
        return MK_E_AGAIN;
    if (c->p[1] != '\n')
        return refuse(h, MK_H1_FAULT_LINE_END);
    c->p += 2;
    return MORE;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

__attribute__((noinline)) static int take_method(struct mk_h1_head *h, struct cursor *c)
{
    if (c->p == c->base && c->p < c->end && *c->p == '\r') {
        int err = take_line_end(h, c);

        if (err < 0)
            return err;
        h->line = offset(c, c->p);
    }
    c->p = mk_chars_skip(c->p, c->end, MK_CHAR_TOKEN);
    if (c->p == c->end)
        return MK_E_AGAIN;
    h->method_name = (struct mk_piece){h->line, offset(c, c->p) - h->line};
    if (h->method_name.len == 0 || *c->p != ' ')
        return refuse_byte(h, c, MK_H1_FAULT_LINE, MK_H1_FAULT_METHOD);
    h->method =
        (uint8_t)mk_method_from((struct mk_str){c->base + h->method_name.off, h->method_name.len});
    c->p++;
    h->target.off = offset(c, c->p);
    return MORE;
}

static int take_target(struct mk_h1_head *h, struct cursor *c, uint32_t max)
{
    const char *begin = c->base + h->target.off, *stop = c->end;
    bool is_long = (size_t)(stop - begin) > max;

    if (is_long)
        stop = begin + max + 1; /* a blank may stand there, at the latest */
    if (h->query.off == 0) {
        c->p = mk_chars_skip(c->p, stop, MK_CHAR_PATH);
        if (c->p < stop && *c->p == '?') {
            c->p++;
            h->query.off = offset(c, c->p);
        }
    }
    if (h->query.off > 0)
        c->p = mk_chars_skip(c->p, stop, MK_CHAR_TARGET);
    if (c->p == stop)
        return is_long ? refuse(h, MK_H1_FAULT_TARGET_LONG) : MK_E_AGAIN;
    if (*c->p != ' ')
        return refuse_byte(h, c, MK_H1_FAULT_LINE, MK_H1_FAULT_TARGET);
    h->target.len = (uint32_t)(c->p - begin);
    if (h->target.len == 0)
        return refuse(h, MK_H1_FAULT_LINE);
    if (h->query.off > 0)
        h->query.len = offset(c, c->p) - h->query.off;
    c->p++;
    return MORE;
}

/** Check the version and its line end byte by byte, as far as they have come. */
__attribute__((noinline, cold)) static int check_version(struct mk_h1_head *h,
                                                         const struct cursor *c)
{
    struct cursor at = *c;

    for (int i = 0; i < VERSION_LEN && at.p < at.end; i++, at.p++) {
        bool is_digit = *at.p >= '0' && *at.p <= '9';

        if (version_form[i] == 'd' ? is_digit : *at.p == version_form[i])
            continue;
        if (i == VERSION_LEN - 1)
            return refuse(h, MK_H1_FAULT_LINE_END);
        if (*at.p == ' ')
            return refuse(h, MK_H1_FAULT_LINE);
        return refuse_byte(h, &at, i == 0 ? MK_H1_FAULT_LINE : MK_H1_FAULT_VERSION,
                           MK_H1_FAULT_VERSION);
    }
    return at.p - c->p == VERSION_LEN ? MORE : MK_E_AGAIN;
}

static int take_version(struct mk_h1_head *h, struct cursor *c)
{
    int err = MORE;

    if (c->end - c->p < VERSION_LEN || memcmp(c->p, usual_version, VERSION_LEN) != 0)
        err = check_version(h, c);
    if (err < 0)
        return err;
    if (c->p[5] != '1')
        return refuse(h, MK_H1_FAULT_VERSION_MAJOR);
    h->minor = c->p[7] != '0';
    h->fault = (uint8_t)mk_h1_target_judge(h, c->base);
    if (h->fault)
        return MK_E_BAD;
    c->p += VERSION_LEN;
    h->line = h->fields.off = offset(c, c->p);
    h->in_fields = true;
    return MORE;
}

/** GET, which nearly all requests are, all of it there. */
static bool take_get(struct mk_h1_head *h, struct cursor *c)
{
    if (c->p != c->base || c->end - c->p < 4 || memcmp(c->p, "GET ", 4) != 0)
        return false;
    h->method_name = (struct mk_piece){0, 3};
    h->method = MK_METHOD_GET;
    h->target.off = 4;
    c->p += 4;
    return true;
}

static int take_request_line(struct mk_h1_head *h, struct cursor *c,
                             const struct mk_h1_limits *limits)
{
    int err = MORE;

    if (h->target.off == 0 && !take_get(h, c))
        err = take_method(h, c);
    if (err == MORE && h->target.len == 0)
        err = take_target(h, c, limits->target);
    if (err == MORE)
        err = take_version(h, c);
    return err;
}

/** Take the empty line that ends the head, whose CR has come. */
static int take_end(struct mk_h1_head *h, struct cursor *c)
{
    int err = take_line_end(h, c);

    if (err < 0)
        return err;
    h->fields.len = h->line - h->fields.off;
    h->fault = (uint8_t)mk_h1_fields_judge(h, c->base);
    return h->fault ? MK_E_BAD : COMPLETE;
}

/** Keep the value of a known field. */
static void keep_value(struct mk_h1_head *h, enum mk_field_id id, struct mk_piece value)
{
    if (h->known[id].off)
        h->repeated |= UINT32_C(1) << id;
    else
        h->known[id] = value;
}

/** @return the colon behind the field name at c->p, of which *id is known; NULL: not there. */
static const char *find_colon(const struct cursor *c, enum mk_field_id *id)
{
    const char *colon;
    size_t len;

    *id = mk_field_id_at(c->p, c->end, &len);
    if (*id != MK_FIELD_COUNT)
        return c->p + len;
    colon = mk_chars_skip(c->p, c->end, MK_CHAR_TOKEN);
    return colon > c->p && colon < c->end && *colon == ':' ? colon : NULL;
}

/**
 * Take a whole field line as most are: nothing missing, nothing wrong, a value with one blank
 * before it and none behind.
 * @return false when it is anything else; then nothing was taken.
 */
static bool take_usual_field(struct mk_h1_head *h, struct cursor *c)
{
    enum mk_field_id id;
    const char *colon = find_colon(c, &id), *begin, *end;

    if (!colon || c->end - colon < 5 || colon[1] != ' ')
        return false;
    begin = colon + 2;
    end = mk_chars_skip_text(begin, c->end);
    if (c->end - end < 2 || memcmp(end, "\r\n", 2) != 0)
        return false;
    if ((unsigned char)*begin <= ' ' || (unsigned char)end[-1] <= ' ')
        return false;
    if (id != MK_FIELD_COUNT)
        keep_value(h, id, (struct mk_piece){offset(c, begin), (uint32_t)(end - begin)});
    c->p = end + 2;
    return true;
}

/** Take a field name up to its colon. */
static int take_name(struct mk_h1_head *h, struct cursor *c)
{
    const char *begin = c->base + h->line;
    size_t len;

    c->p = mk_chars_skip(c->p, c->end, MK_CHAR_TOKEN);
    if (c->p >= c->end)
        return MK_E_AGAIN;
    if (is_blank(*c->p) && c->p == begin)
        return refuse(h, MK_H1_FAULT_FIELD_FOLD);
    if (c->p == begin || *c->p != ':') {
        return refuse_byte(h, c, MK_H1_FAULT_FIELD_NAME,
                           is_blank(*c->p) ? MK_H1_FAULT_FIELD_COLON : MK_H1_FAULT_FIELD_NAME);
    }
    h->field = (uint8_t)mk_field_id_at(begin, c->p + 1, &len);
    h->colon = offset(c, c->p);
    c->p++;
    return MORE;
}

/** Keep a value without its blanks. */
static void trim_value(struct mk_h1_head *h, const struct cursor *c)
{
    const char *begin = c->base + h->colon + 1, *end = c->p;

    while (is_blank(end[-1])) /* the colon stops it */
        end--;
    while (begin < end && is_blank(*begin))
        begin++;
    keep_value(h, (enum mk_field_id)h->field,
               (struct mk_piece){offset(c, begin), (uint32_t)(end - begin)});
}

static int take_value(struct mk_h1_head *h, struct cursor *c)
{
    struct cursor value;
    int err;

    c->p = mk_chars_skip(c->p, c->end, MK_CHAR_TEXT);
    if (c->p == c->end)
        return MK_E_AGAIN;
    if (*c->p != '\r')
        return refuse_byte(h, c, MK_H1_FAULT_LINE_END, MK_H1_FAULT_FIELD_VALUE);
    value = *c;
    err = take_line_end(h, c);
    if (err < 0)
        return err;
    if (h->field != MK_FIELD_COUNT)
        trim_value(h, &value);
    h->colon = 0;
    return MORE;
}

/** Take a field line of any kind, or the rest of one. Out of line: it is rare. */
__attribute__((noinline, cold)) static int take_field(struct mk_h1_head *h, struct cursor *c)
{
    int err = h->colon ? MORE : take_name(h, c);

    return err == MORE ? take_value(h, c) : err;
}

static int take_fields(struct mk_h1_head *h, struct cursor *c, unsigned max)
{
    bool at_line = offset(c, c->p) == h->line;
    int err = MORE;

    for (;;) {
        if (at_line && c->p < c->end && *c->p == '\r')
            return take_end(h, c);
        if (!at_line || !take_usual_field(h, c))
            err = take_field(h, c);
        if (err != MORE)
            return err;
        h->line = offset(c, c->p);
        at_line = true;
        if (h->nfields++ == max)
            return refuse(h, MK_H1_FAULT_FIELDS_MANY);
    }
}

ssize_t mk_h1_head_parse(struct mk_h1_head *h, const char *buf, size_t len,
                         const struct mk_h1_limits *limits)
{
    size_t allowed = len < limits->head ? len : limits->head;
    struct cursor c = {.base = buf, .p = buf + h->scanned, .end = buf + allowed};
    int err = MORE;

    if (!h->in_fields)
        err = take_request_line(h, &c, limits);
    if (err == MORE)
        err = take_fields(h, &c, limits->fields < UINT16_MAX ? limits->fields : UINT16_MAX);
    h->scanned = offset(&c, c.p);
    if (err == COMPLETE)
        return (ssize_t)h->scanned;
    if (err == MK_E_AGAIN && len >= limits->head)
        return refuse(h, MK_H1_FAULT_HEAD_LONG);
    return err;
}

bool mk_h1_head_next_field(const struct mk_h1_head *h, const char *buf, uint32_t *at,
                           struct mk_str *name, struct mk_str *value)
{
    return mk_field_line_next(mk_piece_str(h->fields, buf), at, name, value);
}

/* @return the known field of that name; MK_FIELD_COUNT: it is none. */
static enum mk_field_id known_field(struct mk_str name)
{
    unsigned id;

    if (name.len < 4)
        return MK_FIELD_COUNT;
    id = mk_field_slots[mk_field_slot(name.p)];
    do {
        if (mk_field_names[id].len == name.len &&
            mk_field_same(name.p, mk_field_names[id].text, name.len))
            return (enum mk_field_id)id;
        id = mk_field_others[id];
    } while (id != 0);
    return MK_FIELD_COUNT;
}

struct mk_str mk_h1_head_find(const struct mk_h1_head *h, const char *buf, struct mk_str name)
{
    enum mk_field_id id = known_field(name);

    if (id != MK_FIELD_COUNT)
        return mk_piece_str(h->known[id], buf);
    return mk_field_line_find(mk_piece_str(h->fields, buf), name);
}
