/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include "kit/text/utc.h"

#include <monkey/events.h>

#include <stdio.h>
#include <time.h>

/* [21/Nov/2026:10:00:00 +0000], whose months are English everywhere. */
static int write_common_time(char *dst, const struct tm *tm, char sign, long minutes)
{
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    return snprintf(dst, LOGGER_TIME_MAX, "[%02d/%s/%04d:%02d:%02d:%02d %c%02d%02d]", tm->tm_mday,
                    months[tm->tm_mon], tm->tm_year + 1900, tm->tm_hour, tm->tm_min, tm->tm_sec,
                    sign, (int)(minutes / 60), (int)(minutes % 60));
}

/* RFC 3339 */
static int write_json_time(char *dst, const struct tm *tm, char sign, long minutes)
{
    return snprintf(dst, LOGGER_TIME_MAX, "\"%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d\"",
                    tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min,
                    tm->tm_sec, sign, (int)(minutes / 60), (int)(minutes % 60));
}

static void write_zone(char dst[LOGGER_ZONE_MAX], const struct tm *tm)
{
    const long minutes = tm->tm_gmtoff / 60, size = minutes < 0 ? -minutes : minutes;

    (void)snprintf(dst, LOGGER_ZONE_MAX, "%c%02u:%02u", minutes < 0 ? '-' : '+',
                   (unsigned)(size / 60) % 100, (unsigned)(size % 60));
}

static struct mk_str time_text(struct logger_texts *c, int64_t now_s, enum logger_style style)
{
    if (c->at_s != now_s || c->style != style) {
        time_t t = (time_t)now_s;
        struct tm tm;
        long minutes;
        int len;

        (void)localtime_r(&t, &tm);
        minutes = tm.tm_gmtoff / 60;
        len = (style == LOGGER_JSON ? write_json_time : write_common_time)(
            c->time, &tm, minutes < 0 ? '-' : '+', minutes < 0 ? -minutes : minutes);
        c->time_len = len > 0 && len < LOGGER_TIME_MAX ? (size_t)len : 0;
        c->at_s = now_s;
        c->style = style;
    }
    return (struct mk_str){c->time, c->time_len};
}

/* What a time with milliseconds has around them. */
static void put_day(struct logger_texts *c, struct logger_entry *e)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (c->day_s != now.tv_sec) {
        struct tm tm;

        (void)localtime_r(&now.tv_sec, &tm);
        (void)strftime(c->day, sizeof(c->day), "%Y-%m-%dT%H:%M:%S", &tm);
        write_zone(c->zone, &tm);
        c->day_s = now.tv_sec;
    }
    e->wall_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    e->day = mk_str_from(c->day);
    e->zone = mk_str_from(c->zone);
}

/* Clients send several requests, and those of a proxy have all one address. */
static struct mk_str peer_text(struct logger_texts *t, const struct logger_line *line)
{
    const struct mk_conn_facts *conn = &line->conn;

    if (t->peer_len == 0 || t->peer_is_unix != conn->peer_is_unix ||
        memcmp(t->peer_ip, conn->peer_ip, sizeof(t->peer_ip)) != 0) {
        t->peer_is_unix = conn->peer_is_unix;
        memcpy(t->peer_ip, conn->peer_ip, sizeof(t->peer_ip));
        t->peer_len = mk_conn_peer(line->facts.conn, t->peer);
    }
    return (struct mk_str){t->peer, t->peer_len};
}

static void put_times(struct logger_entry *e, enum logger_style style, const struct mk_worker *w,
                      int64_t began_ms, struct logger_texts *texts)
{
    const int64_t took = mk_worker_now_ms(w) - began_ms;

    e->time = time_text(texts, mk_worker_wall_s(w), style);
    e->duration_ms = took > 0 ? (uint64_t)took : 0;
}

void logger_line_times(struct logger_entry *e, enum logger_style style, const struct mk_worker *w,
                       int64_t began_ms, struct logger_texts *texts)
{
    put_times(e, style, w, began_ms, texts);
    put_day(texts, e);
}

/* What common formats have not. */
static void put_more(struct logger_line *line, struct logger_texts *texts)
{
    const struct logger_format *format = line->format;
    struct logger_entry *e = &line->entry;

    if (format->has_ms)
        put_day(texts, e);
    for (size_t i = 0; i < format->nnotes; i++)
        e->notes[i] = mk_request_note(line->request, format->notes[i].p);
    for (size_t i = 0; i < format->nvariables; i++)
        e->variables[i] = mk_request_variable(line->request, format->variables[i], line->rooms[i]);
}

void logger_line_begin(struct logger_line *line, const struct logger_format *format,
                       const struct mk_request *r, struct logger_texts *texts)
{
    struct logger_entry *e = &line->entry;

    line->format = format;
    line->request = r;
    line->facts.size = sizeof(line->facts);
    mk_request_facts(r, &line->facts);
    line->conn.size = sizeof(line->conn);
    mk_conn_facts(line->facts.conn, &line->conn);
    e->facts = &line->facts;
    e->peer = peer_text(texts, line);
    e->user = line->facts.user;
    e->subject = line->conn.client_subject;
    e->tls_version = mk_str_from(line->conn.tls_version);
    e->tls_cipher = mk_str_from(line->conn.tls_cipher);
    put_times(e, format->style, line->facts.worker, line->facts.began_ms, texts);
    for (size_t i = 0; i < format->nheaders; i++)
        e->headers[i] = mk_request_header(r, format->headers[i]);
    if (format->has_more)
        put_more(line, texts);
}

void logger_line_access(const void *arg, struct logger_text *t)
{
    const struct logger_line *line = arg;

    logger_format_line(line->format, &line->entry, t);
}

/* ---- lines of the error log ---- */

/* The beginning that lines of the server's own error log have. */
static void put_stamp(struct logger_text *t, unsigned status)
{
    char day[TEXT_UTC_MAX] = "", text[80];
    struct timespec now;
    int len;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)text_utc(day, now.tv_sec, 'T');
    len = snprintf(text, sizeof(text), "%.19s.%03dZ level=%s in=http", day,
                   (int)(now.tv_nsec / 1000000), status >= 500 ? "error" : "warn");
    logger_put(t, (struct mk_str){text, len > 0 && len < (int)sizeof(text) ? (size_t)len : 0});
}

static void put_named(struct logger_text *t, struct mk_str name, struct mk_str value)
{
    if (!value.p)
        return;
    logger_put(t, name);
    logger_put_escaped(t, value, LOGGER_LONG_MAX, LOGGER_TEXT);
    logger_put(t, MK_STR("\""));
}

static void put_noted(struct logger_text *t, struct mk_str name, const struct logger_line *line,
                      const char *which)
{
    const struct mk_note *note = mk_request_note(line->request, which);

    if (note)
        put_named(t, name, note->text);
}

void logger_line_error(const void *arg, struct logger_text *t)
{
    const struct logger_line *line = arg;
    const struct mk_request_facts *facts = &line->facts;
    const struct logger_entry *e = &line->entry;

    put_stamp(t, facts->status);
    logger_put(t, MK_STR(" request failed conn="));
    logger_put_uint(t, line->conn.id);
    logger_put(t, MK_STR(" peer="));
    logger_put(t, e->peer);
    logger_put(t, MK_STR(" status="));
    logger_put_uint(t, facts->status);
    put_noted(t, MK_STR(" request_id=\""), line, "request_id");
    put_noted(t, MK_STR(" trace_id=\""), line, "trace_id");
    put_named(t, MK_STR(" reason=\""), mk_str_from(facts->reason));
    if (facts->request_line.p) {
        put_named(t, MK_STR(" request=\""), facts->request_line);
    } else {
        put_named(t, MK_STR(" method=\""), facts->method);
        put_named(t, MK_STR(" target=\""), facts->target);
    }
    put_named(t, MK_STR(" host=\""), facts->host);
    put_named(t, MK_STR(" referer=\""), mk_request_header(line->request, MK_STR("Referer")));
    logger_put(t, MK_STR("\n"));
}
