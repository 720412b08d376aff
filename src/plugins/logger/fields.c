/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "kit/text/words.h"

static void put_quote(struct logger_text *t, const struct logger_piece *piece)
{
    if (piece->style == LOGGER_JSON)
        logger_put(t, MK_STR("\""));
}

/* A field that may be absent: "-" in text, null in JSON, where the quotes are its own. */
static void put_field(struct logger_text *t, struct mk_str s, size_t max,
                      const struct logger_piece *piece)
{
    const bool json = piece->style == LOGGER_JSON;

    if (!s.p || (!json && s.len == 0)) {
        logger_put(t, json ? MK_STR("null") : MK_STR("-"));
        return;
    }
    put_quote(t, piece);
    logger_put_escaped(t, s, max, piece->style);
    put_quote(t, piece);
}

/* Not escaped: the server itself writes it. */
static void put_peer(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    put_quote(t, piece);
    logger_put(t, e->peer);
    put_quote(t, piece);
}

static void put_nothing(struct logger_text *t, const struct logger_entry *e,
                        const struct logger_piece *piece)
{
    (void)e;
    put_field(t, (struct mk_str){NULL, 0}, 0, piece);
}

static void put_user(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    put_field(t, e->user, LOGGER_SHORT_MAX, piece);
}

static void put_time(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    (void)piece;
    logger_put(t, e->time);
}

static void put_wall_s(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, (uint64_t)e->wall_ms / 1000);
}

static void put_wall_ms(struct logger_text *t, const struct logger_entry *e,
                        const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, (uint64_t)e->wall_ms);
}

/* The last digits of a number. */
static void put_fraction(struct logger_text *t, uint64_t part, unsigned decimals)
{
    uint64_t unit = 1;

    for (unsigned i = 1; i < decimals; i++)
        unit *= 10;
    for (; decimals > 0; decimals--, unit /= 10)
        logger_put_uint(t, part / unit % 10);
}

/* RFC 3339 with milliseconds */
static void put_iso(struct logger_text *t, const struct logger_entry *e,
                    const struct logger_piece *piece)
{
    put_quote(t, piece);
    logger_put(t, e->day);
    logger_put(t, MK_STR("."));
    put_fraction(t, (uint64_t)e->wall_ms, 3);
    logger_put(t, e->zone);
    put_quote(t, piece);
}

static void put_msec_frac(struct logger_text *t, const struct logger_entry *e,
                          const struct logger_piece *piece)
{
    (void)piece;
    put_fraction(t, (uint64_t)e->wall_ms, 3);
}

static struct mk_str protocol(const struct logger_entry *e)
{
    if (!e->facts->method.p)
        return (struct mk_str){NULL, 0};
    return e->facts->protocol;
}

/* A head that was refused is shown as it was sent, whatever it is. */
static void put_request_line(struct logger_text *t, const struct logger_entry *e,
                             const struct logger_piece *piece)
{
    if (e->facts->request_line.len > 0) {
        put_field(t, e->facts->request_line, LOGGER_LONG_MAX, piece);
        return;
    }
    if (!e->facts->method.p || e->facts->request_line.p) { /* the line is empty */
        put_nothing(t, e, piece);
        return;
    }
    put_quote(t, piece);
    logger_put_escaped(t, e->facts->method, LOGGER_SHORT_MAX, piece->style);
    logger_put(t, MK_STR(" "));
    logger_put_escaped(t, e->facts->target, LOGGER_LONG_MAX, piece->style);
    logger_put(t, MK_STR(" "));
    logger_put(t, protocol(e));
    put_quote(t, piece);
}

static void put_method(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    put_field(t, e->facts->method, LOGGER_SHORT_MAX, piece);
}

static void put_target(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    put_field(t, e->facts->target, LOGGER_LONG_MAX, piece);
}

static void put_path(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    put_field(t, e->facts->path, LOGGER_LONG_MAX, piece);
}

/* With its question mark, and nothing at all without: %U%q is the whole. In JSON the value alone. */
static void put_query(struct logger_text *t, const struct logger_entry *e,
                      const struct logger_piece *piece)
{
    if (piece->style == LOGGER_JSON) {
        put_field(t, e->facts->query, LOGGER_LONG_MAX, piece);
        return;
    }
    if (!e->facts->query.p)
        return;
    logger_put(t, MK_STR("?"));
    logger_put_escaped(t, e->facts->query, LOGGER_LONG_MAX, piece->style);
}

static void put_protocol(struct logger_text *t, const struct logger_entry *e,
                         const struct logger_piece *piece)
{
    put_field(t, protocol(e), LOGGER_SHORT_MAX, piece);
}

static void put_host(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    put_field(t, e->facts->host, LOGGER_SHORT_MAX, piece);
}

static void put_site(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    put_field(t, mk_str_from(e->facts->site_name), LOGGER_SHORT_MAX, piece);
}

static void put_status(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->facts->status);
}

static void put_bytes(struct logger_text *t, const struct logger_entry *e,
                      const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->facts->body_sent);
}

static void put_received(struct logger_text *t, const struct logger_entry *e,
                         const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->facts->body_received);
}

static void put_bytes_or_dash(struct logger_text *t, const struct logger_entry *e,
                              const struct logger_piece *piece)
{
    if (e->facts->body_sent == 0 && piece->style != LOGGER_JSON)
        logger_put(t, MK_STR("-"));
    else
        put_bytes(t, e, piece);
}

static void put_seconds(struct logger_text *t, const struct logger_entry *e,
                        const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->duration_ms / 1000);
}

static void put_milliseconds(struct logger_text *t, const struct logger_entry *e,
                             const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->duration_ms);
}

static void put_microseconds(struct logger_text *t, const struct logger_entry *e,
                             const struct logger_piece *piece)
{
    (void)piece;
    logger_put_uint(t, e->duration_ms * 1000);
}

static void put_whole(struct logger_text *t, const struct logger_entry *e,
                      const struct logger_piece *piece)
{
    const bool whole = e->facts->whole;

    if (piece->style == LOGGER_JSON)
        logger_put(t, whole ? MK_STR("true") : MK_STR("false"));
    else
        logger_put(t, whole ? MK_STR("-") : MK_STR("X"));
}

/* A name that somebody else wrote into a certificate. */
static void put_subject(struct logger_text *t, const struct logger_entry *e,
                        const struct logger_piece *piece)
{
    put_field(t, e->subject, LOGGER_SHORT_MAX, piece);
}

static void put_tls_version(struct logger_text *t, const struct logger_entry *e,
                            const struct logger_piece *piece)
{
    put_field(t, e->tls_version, LOGGER_SHORT_MAX, piece);
}

static void put_tls_cipher(struct logger_text *t, const struct logger_entry *e,
                           const struct logger_piece *piece)
{
    put_field(t, e->tls_cipher, LOGGER_SHORT_MAX, piece);
}

void logger_field_header(struct logger_text *t, const struct logger_entry *e,
                         const struct logger_piece *piece)
{
    put_field(t, e->headers[piece->index], LOGGER_LONG_MAX, piece);
}

/* What other plugins say of the request. */
void logger_field_note(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    const struct mk_note *note = e->notes[piece->index];
    uint64_t whole, unit = 1;

    if (!note || note->text.p) {
        put_field(t, note ? note->text : (struct mk_str){NULL, 0}, LOGGER_LONG_MAX, piece);
        return;
    }
    whole = (uint64_t)note->number;
    for (unsigned i = 0; i < note->decimals; i++)
        unit *= 10;
    logger_put_uint(t, whole / unit);
    if (note->decimals > 0) {
        logger_put(t, MK_STR("."));
        put_fraction(t, whole, note->decimals);
    }
}

/* $NAME */
void logger_field_variable(struct logger_text *t, const struct logger_entry *e,
                           const struct logger_piece *piece)
{
    put_field(t, e->variables[piece->index], LOGGER_LONG_MAX, piece);
}

/* What stands behind a percent sign: docs/man/monkey-logger.5 has the same list. */
static const struct logger_field fields[] = {
    {'h', NULL, put_peer, false},
    {'a', NULL, put_peer, false},
    {'l', NULL, put_nothing, false},
    {'u', NULL, put_user, false},
    {'t', NULL, put_time, true},
    {'t', "sec", put_wall_s, true},
    {'t', "msec", put_wall_ms, true},
    {'t', "msec_frac", put_msec_frac, true},
    {'t', "iso", put_iso, true},
    {'r', NULL, put_request_line, false},
    {'r', "target", put_target, false},
    {'m', NULL, put_method, false},
    {'U', NULL, put_path, false},
    {'q', NULL, put_query, false},
    {'H', NULL, put_protocol, false},
    {'V', NULL, put_host, false},
    {'v', NULL, put_site, false},
    {'s', NULL, put_status, false},
    {'b', NULL, put_bytes_or_dash, true},
    {'B', NULL, put_bytes, true},
    {'B', "received", put_received, true},
    {'T', NULL, put_seconds, true},
    {'T', "s", put_seconds, true},
    {'T', "ms", put_milliseconds, true},
    {'T', "us", put_microseconds, true},
    {'D', NULL, put_microseconds, true},
    {'X', NULL, put_whole, true},
    {'x', "SSL_CLIENT_S_DN", put_subject, false}, /* names that Apache has, too */
    {'x', "SSL_PROTOCOL", put_tls_version, false},
    {'x', "SSL_CIPHER", put_tls_cipher, false},
};

const struct logger_field *logger_field_find(char letter, struct mk_str parameter)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct mk_str wanted = mk_str_from(fields[i].parameter);

        if (fields[i].letter == letter && !wanted.p == !parameter.p &&
            (!wanted.p || text_is_word(wanted, parameter)))
            return &fields[i];
    }
    return NULL;
}
