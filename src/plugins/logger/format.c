/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include "kit/text/words.h"

#define SELF "\"%r\" %>s %b"
static const char common_text[] = "%h %l %u %t " SELF;
static const char combined_text[] = "%h %l %u %t " SELF " \"%{Referer}i\" \"%{User-Agent}i\"";
static const char json_text[] =
    "{\"time\":%t,\"peer\":%h,\"user\":%u,\"method\":%m,\"target\":%{target}r,\"protocol\":%H,"
    "\"host\":%V,\"site\":%v,\"status\":%s,\"bytes\":%B,\"duration_ms\":%{ms}T,"
    "\"referer\":%{Referer}i,\"agent\":%{User-Agent}i,\"whole\":%X}";

/* ---- fields ---- */

/* A field that may be absent: "-" in text, null in JSON, where the quotes are its own. */
static void put_field(struct logger_text *t, struct mk_str s, size_t max,
                      const struct logger_piece *piece)
{
    const bool json = piece->style == LOGGER_JSON;

    if (!s.p || (!json && s.len == 0)) {
        logger_put(t, json ? MK_STR("null") : MK_STR("-"));
        return;
    }
    if (json)
        logger_put(t, MK_STR("\""));
    logger_put_escaped(t, s, max, piece->style);
    if (json)
        logger_put(t, MK_STR("\""));
}

/* Not escaped: the server itself writes it. */
static void put_peer(struct logger_text *t, const struct logger_entry *e,
                     const struct logger_piece *piece)
{
    if (piece->style == LOGGER_JSON)
        logger_put(t, MK_STR("\""));
    logger_put(t, e->peer);
    if (piece->style == LOGGER_JSON)
        logger_put(t, MK_STR("\""));
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
        logger_put_escaped(t, e->facts->request_line, LOGGER_LONG_MAX, piece->style);
        return;
    }
    if (!e->facts->method.p || e->facts->request_line.p) { /* the line is empty */
        put_nothing(t, e, piece);
        return;
    }
    logger_put_escaped(t, e->facts->method, LOGGER_SHORT_MAX, piece->style);
    logger_put(t, MK_STR(" "));
    logger_put_escaped(t, e->facts->target, LOGGER_LONG_MAX, piece->style);
    logger_put(t, MK_STR(" "));
    logger_put(t, protocol(e));
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

/* With its question mark, and nothing at all without: %U%q is the whole. */
static void put_query(struct logger_text *t, const struct logger_entry *e,
                      const struct logger_piece *piece)
{
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

static void put_bytes_or_dash(struct logger_text *t, const struct logger_entry *e,
                              const struct logger_piece *piece)
{
    if (e->facts->body_sent == 0)
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

static void put_header(struct logger_text *t, const struct logger_entry *e,
                       const struct logger_piece *piece)
{
    put_field(t, e->headers[piece->header], LOGGER_LONG_MAX, piece);
}

/* What stands behind a percent sign: docs/man/monkey-logger.5 has the same list. */
static const struct variable {
    char letter;
    const char *parameter; /* NULL: none */
    logger_piece_fn put;
} variables[] = {
    {'h', NULL, put_peer},
    {'a', NULL, put_peer},
    {'l', NULL, put_nothing},
    {'u', NULL, put_user},
    {'t', NULL, put_time},
    {'r', NULL, put_request_line},
    {'r', "target", put_target},
    {'m', NULL, put_method},
    {'U', NULL, put_path},
    {'q', NULL, put_query},
    {'H', NULL, put_protocol},
    {'V', NULL, put_host},
    {'v', NULL, put_site},
    {'s', NULL, put_status},
    {'b', NULL, put_bytes_or_dash},
    {'B', NULL, put_bytes},
    {'T', NULL, put_seconds},
    {'T', "s", put_seconds},
    {'T', "ms", put_milliseconds},
    {'T', "us", put_microseconds},
    {'D', NULL, put_microseconds},
    {'X', NULL, put_whole},
    {'x', "SSL_CLIENT_S_DN", put_subject}, /* names that Apache has, too */
    {'x', "SSL_PROTOCOL", put_tls_version},
    {'x', "SSL_CIPHER", put_tls_cipher},
};

/* ---- compiling ---- */

struct compiler {
    struct logger_format *f;
    size_t used;     /* of f->texts */
    size_t lead;     /* where the present lead begins there */
    const char *why; /* the first thing that is wrong */
};

static void refuse(struct compiler *c, const char *why)
{
    if (!c->why)
        c->why = why;
}

static void add_byte(struct compiler *c, char byte)
{
    if (c->used == sizeof(c->f->texts))
        refuse(c, "a format of at most 1024 bytes");
    else
        c->f->texts[c->used++] = byte;
}

static struct logger_piece *add_piece(struct compiler *c, logger_piece_fn put)
{
    struct logger_format *f = c->f;
    struct logger_piece *piece;

    if (f->npieces == LOGGER_PIECES_MAX) {
        refuse(c, "a format with at most 63 fields");
        return NULL;
    }
    piece = &f->pieces[f->npieces++];
    *piece = (struct logger_piece){
        .lead = {f->texts + c->lead, c->used - c->lead}, .put = put, .style = (uint8_t)f->style};
    c->lead = c->used;
    return piece;
}

/* @return index of the name among the format's, to which it is added. */
static size_t header_index(struct compiler *c, struct mk_str name)
{
    struct logger_format *f = c->f;
    size_t i = 0;

    while (i < f->nheaders && !text_is_word(f->headers[i], name))
        i++;
    if (i == LOGGER_HEADERS_MAX) {
        refuse(c, "a format with at most 16 different header fields");
        return 0;
    }
    if (i == f->nheaders) {
        f->headers[f->nheaders++] = (struct mk_str){f->texts + c->used, name.len};
        for (size_t k = 0; k < name.len; k++)
            add_byte(c, name.p[k]);
        c->lead = c->used;
    }
    return i;
}

static void add_header(struct compiler *c, struct mk_str name)
{
    struct logger_piece *piece = add_piece(c, put_header);

    if (name.len == 0)
        refuse(c, "a name in %{NAME}i");
    else if (piece)
        piece->header = (uint8_t)header_index(c, name);
}

static void add_variable(struct compiler *c, char letter, struct mk_str parameter)
{
    if (letter == 'i' && parameter.p) {
        add_header(c, parameter);
        return;
    }
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct variable *v = &variables[i];
        struct mk_str wanted = mk_str_from(v->parameter);

        if (v->letter == letter && !wanted.p == !parameter.p &&
            (!wanted.p || text_is_word(wanted, parameter))) {
            (void)add_piece(c, v->put);
            return;
        }
    }
    refuse(c,
           "one of %h %a %l %u %t %r %{target}r %m %U %q %H %V %v %s %b %B %T %{ms}T %D %X "
           "%{SSL_PROTOCOL}x %{SSL_CIPHER}x %{SSL_CLIENT_S_DN}x %{NAME}i %% after a percent sign");
}

/* @return bytes used of what stands behind a percent sign. */
static size_t read_variable(struct compiler *c, struct mk_str s)
{
    struct mk_str parameter = {NULL, 0};
    size_t at = 0;

    if (s.len > 0 && s.p[0] == '%') {
        add_byte(c, '%');
        return 1;
    }
    if (s.len > 0 && s.p[0] == '{') {
        const char *close = memchr(s.p, '}', s.len);

        if (!close) {
            refuse(c, "a } behind every %{");
            return s.len;
        }
        parameter = (struct mk_str){s.p + 1, (size_t)(close - s.p) - 1};
        at = parameter.len + 2;
    }
    if (at < s.len && s.p[at] == '>') /* of internal redirects the last: there are no others here */
        at++;
    add_variable(c, at < s.len ? s.p[at] : '\0', parameter);
    return at < s.len ? at + 1 : at;
}

/* In Apache's configuration quotes stand behind a backslash: formats are copied from there. */
static char unescaped(char c)
{
    return c == 't' ? '\t' : c;
}

static void read_format(struct compiler *c, struct mk_str s)
{
    for (size_t i = 0; i < s.len && !c->why; i++) {
        if (s.p[i] == '%')
            i += read_variable(c, (struct mk_str){s.p + i + 1, s.len - i - 1});
        else if (s.p[i] == '\\' && i + 1 < s.len && strchr("\\\"'t", s.p[i + 1]))
            add_byte(c, unescaped(s.p[++i]));
        else if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t')
            refuse(c, "a format without control characters");
        else
            add_byte(c, s.p[i]);
    }
    add_byte(c, '\n');
    (void)add_piece(c, NULL);
}

static const struct {
    const char *name, *text;
    enum logger_style style;
} named[] = {
    {"common", common_text, LOGGER_TEXT},
    {"combined", combined_text, LOGGER_TEXT},
    {"json", json_text, LOGGER_JSON},
};

/* @return the text to compile; p NULL when it is none. */
static struct mk_str format_text(struct mk_str text, enum logger_style *style)
{
    *style = LOGGER_TEXT;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (text_is_word(text, mk_str_from(named[i].name))) {
            *style = named[i].style;
            return mk_str_from(named[i].text);
        }
    }
    if (text.len > 2 && (text.p[0] == '\'' || text.p[0] == '"') &&
        text.p[text.len - 1] == text.p[0])
        return (struct mk_str){text.p + 1, text.len - 2};
    return (struct mk_str){NULL, 0};
}

int logger_format_compile(struct logger_format *f, struct mk_str text, const char **why)
{
    struct compiler c = {.f = f};
    struct mk_str source;

    memset(f, 0, sizeof(*f));
    source = format_text(text, &f->style);
    if (!source.p)
        refuse(&c, "common, combined, json or a format in quotes");
    else
        read_format(&c, source);
    *why = c.why;
    return c.why ? MK_E_INVALID : 0;
}

void logger_format_line(const struct logger_format *f, const struct logger_entry *e,
                        struct logger_text *t)
{
    for (size_t i = 0; i < f->npieces && !t->full; i++) {
        const struct logger_piece *piece = &f->pieces[i];

        logger_put(t, piece->lead);
        if (piece->put && !t->full)
            piece->put(t, e, piece);
    }
}
