/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_H2_OWNER_H
#define TEST_H2_OWNER_H

#include "kit/h2/session.h"

#include "failing.h"
#include "frames.h"

#include <stdio.h>

/* An owner of a session, which keeps a record of what it is told and of what leaves. */

struct stream {
    struct h2_stream base;
    size_t body; /* bytes of its body that are left */
    bool has_trailers;
    struct stream *next;
};

static struct {
    struct h2_session session;
    struct h2_out out;
    char bytes[4 * (H2_FRAME_HEAD + H2_FRAME_MAX)], room[HPACK_FIELD_MAX];
    char record[1 << 16];
    size_t len, sum;
    struct stream *streams;
    unsigned nalive;
    int refuses_at; /* the begin that has no memory; 0: none */
    bool is_starved, holds_data, uses_data;
} w;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    w.len += (size_t)vsnprintf(w.record + w.len, sizeof(w.record) - w.len, format, args);
    va_end(args);
}

static struct stream *whole(struct h2_stream *st)
{
    return (struct stream *)(void *)st;
}

static struct stream *add_stream(void)
{
    struct stream *st = calloc(1, sizeof(*st));

    assert_non_null(st);
    st->next = w.streams;
    w.streams = st;
    w.nalive++;
    return st;
}

static int field(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f)
{
    if (kind == H2_FIELD_OTHER)
        say("%s %u %.*s=%.*s; ", st->message.is_trailer ? "trailer" : "field", st->id,
            (int)f->name.len, f->name.p, (int)f->value.len, f->value.p);
    return 0;
}

static int data(struct h2_stream *st, const uint8_t *bytes, size_t len)
{
    (void)bytes;
    if (w.holds_data)
        return 0;
    say("data %u %zu; ", st->id, len);
    if (w.uses_data)
        h2_stream_use(st, len);
    return 0;
}

static void end(struct h2_stream *st)
{
    say("end %u; ", st->id);
}

static ssize_t give(struct h2_stream *st, char *dst, size_t len, enum h2_last *last)
{
    struct stream *s = whole(st);
    size_t n = s->body < len ? s->body : len;

    if (w.is_starved)
        return MK_E_AGAIN;
    memset(dst, 'x', n);
    s->body -= n;
    if (s->body == 0)
        *last = s->has_trailers ? H2_LAST_TRAILERS : H2_LAST_END;
    return (ssize_t)n;
}

static bool trailers(struct h2_stream *st)
{
    struct h2_head h;

    if (!h2_head_begin(&h, st, 100))
        return false;
    h2_head_add(&h, MK_STR("x"), MK_STR("y"));
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    return true;
}

static void answered(struct h2_stream *st)
{
    say("answered %u; ", st->id);
}

static void over(struct h2_stream *st)
{
    struct stream **at = &w.streams;

    say("over %u %u; ", st->id, st->error);
    while (*at != whole(st))
        at = &(*at)->next;
    *at = whole(st)->next;
    free(st);
    w.nalive--;
}

static void close_session(void)
{
    while (w.streams) {
        struct stream *s = w.streams;

        w.streams = s->next;
        free(s);
    }
    h2_session_fini(&w.session);
    assert_int_equal(w.sum, 0);
}

/* The frames that leave, as `type/flags/stream:length` with the numbers of those that have some. */
static void say_output(void)
{
    const uint8_t *at = (const uint8_t *)w.out.p, *stop = at + w.out.used;

    while (at < stop) {
        const struct h2_frame f = h2_frame_read(at);

        at += H2_FRAME_HEAD;
        say("<%u/%u/%u:%u", f.type, f.flags, f.id, f.length);
        if (f.type == H2_RST_STREAM || f.type == H2_WINDOW_UPDATE)
            say("=%u", h2_number(at));
        if (f.type == H2_GOAWAY)
            say("=%u,%u", h2_number(at), h2_number(at + 4));
        say("> ");
        at += f.length;
    }
    assert_ptr_equal(at, stop);
    w.out.used = 0;
}

static void flush(void)
{
    bool has_more;

    do {
        has_more = h2_session_write(&w.session);
        say_output();
    } while (has_more);
    h2_session_sweep(&w.session);
}

static struct bytes b;

/* What was put, at once; then what leaves. */
static const char *feed(void)
{
    w.len = 0;
    w.record[0] = '\0';
    h2_session_receive(&w.session, b.p, b.len);
    h2_session_sweep(&w.session);
    flush();
    b.len = 0;
    return w.record;
}

/* A block of HEADERS whose fields are literals, which change no table. */
static inline void put_block(unsigned flags, uint32_t id, const char *fields)
{
    uint8_t block[512];
    size_t len = 0;

    while (*fields) {
        size_t name_len = strcspn(fields, "="), value_len = strcspn(fields, "\n") - name_len - 1;

        block[len++] = 0;
        block[len++] = (uint8_t)name_len;
        memcpy(block + len, fields, name_len);
        len += name_len;
        block[len++] = (uint8_t)value_len;
        memcpy(block + len, fields + name_len + 1, value_len);
        len += value_len;
        fields += name_len + value_len + 2;
    }
    put_frame(&b, H2_HEADERS, flags | H2_FLAG_END_HEADERS, id, block, len);
}

static inline void put_number(unsigned type, uint32_t id, uint32_t number)
{
    uint8_t payload[4];

    (void)h2_put_number(payload, number);
    put_frame(&b, type, 0, id, payload, 4);
}

static struct h2_stream *stream(uint32_t id)
{
    for (struct stream *s = w.streams; s; s = s->next) {
        if (s->base.id == id)
            return &s->base;
    }
    fail_msg("no stream %u", id);
    return NULL;
}

#endif
