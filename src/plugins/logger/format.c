/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include "fields.h"

#include "kit/text/words.h"

#define TOO_LONG "a format of at most 1024 bytes"
#define SELF "\"%r\" %>s %b"
static const char common_text[] = "%h %l %u %t " SELF;
static const char combined_text[] = "%h %l %u %t " SELF " \"%{Referer}i\" \"%{User-Agent}i\"";
static const char json_text[] =
    "{\"time\":%t,\"peer\":%h,\"user\":%u,\"method\":%m,\"target\":%{target}r,\"protocol\":%H,"
    "\"host\":%V,\"site\":%v,\"status\":%s,\"bytes\":%B,\"duration_ms\":%{ms}T,"
    "\"referer\":%{Referer}i,\"agent\":%{User-Agent}i,\"whole\":%X}";

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
        refuse(c, TOO_LONG);
    else
        c->f->texts[c->used++] = byte;
}

static void add_escaped(struct compiler *c, struct mk_str s)
{
    char *texts = c->f->texts;
    struct logger_text t = {.at = texts + c->used, .end = texts + sizeof(c->f->texts)};

    logger_put_escaped(&t, s, sizeof(c->f->texts) + 1, LOGGER_JSON); /* so much never fits */
    if (t.full)
        refuse(c, TOO_LONG);
    c->used = (size_t)(t.at - texts);
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

/* A list of different names in the format, to which those of %{NAME}i and %{NAME}n are added. */
struct names {
    struct mk_str *all;
    size_t *count, max;
    const char *too_many;
};

/* @return index of the name among them, to which it is added, terminated. */
static size_t index_of(struct compiler *c, const struct names *n, struct mk_str name)
{
    size_t i = 0;

    while (i < *n->count && !text_is_word(n->all[i], name))
        i++;
    if (i == n->max) {
        refuse(c, n->too_many);
        return 0;
    }
    if (i == *n->count) {
        n->all[(*n->count)++] = (struct mk_str){c->f->texts + c->used, name.len};
        for (size_t k = 0; k < name.len; k++)
            add_byte(c, name.p[k]);
        add_byte(c, '\0');
        c->lead = c->used;
    }
    return i;
}

static void add_named(struct compiler *c, logger_piece_fn put, const struct names *n,
                      struct mk_str name)
{
    struct logger_piece *piece = add_piece(c, put);

    if (name.len == 0)
        refuse(c, "a name in %{NAME}i and %{NAME}n");
    else if (piece)
        piece->index = (uint8_t)index_of(c, n, name);
}

static void add_header(struct compiler *c, struct mk_str name)
{
    const struct names headers = {c->f->headers, &c->f->nheaders, LOGGER_HEADERS_MAX,
                                  "a format with at most 16 different header fields"};

    add_named(c, logger_field_header, &headers, name);
}

static void add_note(struct compiler *c, struct mk_str name)
{
    const struct names notes = {c->f->notes, &c->f->nnotes, LOGGER_NOTES_MAX,
                                "a format with at most 16 different notes"};

    add_named(c, logger_field_note, &notes, name);
}

static void add_request_variable(struct compiler *c, int which)
{
    struct logger_format *f = c->f;
    struct logger_piece *piece = add_piece(c, logger_field_variable);
    size_t i = 0;

    while (i < f->nvariables && f->variables[i] != which)
        i++;
    if (i == f->nvariables)
        f->variables[f->nvariables++] = (uint8_t)which;
    if (piece)
        piece->index = (uint8_t)i;
}

static void add_variable(struct compiler *c, char letter, struct mk_str parameter)
{
    const struct logger_field *field;
    struct logger_piece *piece;

    if (letter == 'i' && parameter.p) {
        add_header(c, parameter);
        return;
    }
    if (letter == 'n' && parameter.p) {
        add_note(c, parameter);
        return;
    }
    field = logger_field_find(letter, parameter);
    if (field) {
        piece = add_piece(c, field->put);
        if (piece)
            piece->is_late = field->is_late;
        c->f->has_ms = c->f->has_ms || (letter == 't' && parameter.p);
        return;
    }
    refuse(c,
           "one of %h %a %l %u %t %{iso}t %{sec}t %{msec}t %{msec_frac}t %r %{target}r %m %U %q %H "
           "%V %v %s %b %B %{received}B %T %{ms}T %D %X %{NAME}n %{SSL_PROTOCOL}x %{SSL_CIPHER}x "
           "%{SSL_CLIENT_S_DN}x %{NAME}i %% after a percent sign");
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

static void read_text(struct compiler *c, struct mk_str s)
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
}

/* A value of the environment has no signs with a meaning. */
static void read_format(struct compiler *c, const struct mk_template_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].which == MK_VARIABLE_TEXT)
            read_text(c, pieces[i].text);
        else if (pieces[i].which != MK_VARIABLE_ENVIRONMENT)
            add_request_variable(c, pieces[i].which);
        else
            for (size_t k = 0; k < pieces[i].text.len; k++)
                add_byte(c, pieces[i].text.p[k]);
    }
    add_byte(c, '\n');
    (void)add_piece(c, NULL);
}

/* ---- members of JSON lines ---- */

/* Names after `json`: docs/man/monkey-logger.5 has the same list. */
static const struct {
    const char *name, *variable;
} members[] = {
    {"time", "t"},
    {"timestamp", "{iso}t"},
    {"time_ms", "{msec}t"},
    {"peer", "h"},
    {"user", "u"},
    {"request", "r"},
    {"method", "m"},
    {"target", "{target}r"},
    {"path", "U"},
    {"query", "q"},
    {"protocol", "H"},
    {"host", "V"},
    {"site", "v"},
    {"status", "s"},
    {"bytes", "B"},
    {"bytes_received", "{received}B"},
    {"duration_ms", "{ms}T"},
    {"referer", "{Referer}i"},
    {"agent", "{User-Agent}i"},
    {"whole", "X"},
    {"tls_version", "{SSL_PROTOCOL}x"},
    {"tls_cipher", "{SSL_CIPHER}x"},
    {"tls_subject", "{SSL_CLIENT_S_DN}x"},
    {"backend", "{backend}n"},
    {"backend_address", "{backend_address}n"},
    {"backend_connect_ms", "{backend_connect_ms}n"},
    {"backend_first_ms", "{backend_first_ms}n"},
    {"backend_whole_ms", "{backend_whole_ms}n"},
    {"request_id", "{request_id}n"},
    {"trace_id", "{trace_id}n"},
    {"span_id", "{span_id}n"},
    {"parent_id", "{parent_id}n"},
};

static void add_key(struct compiler *c, struct mk_str key)
{
    add_byte(c, c->used == 0 ? '{' : ',');
    add_byte(c, '"');
    for (size_t i = 0; i < key.len; i++) {
        const char b = text_lower(key.p[i]);

        if (!((b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || (b && strchr("_-.", b))))
            refuse(c, "keys of letters, digits, `_`, `-` and `.` before = in a json format");
        else
            add_byte(c, key.p[i]);
    }
    add_byte(c, '"');
    add_byte(c, ':');
}

/* @return the variable of a name, without its percent sign; p NULL: it has none. */
static struct mk_str member_variable(struct mk_str name)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (text_is(mk_str_from(members[i].name), name))
            return mk_str_from(members[i].variable);
    }
    return (struct mk_str){NULL, 0};
}

/* NAME, or KEY=%VARIABLE. */
static void add_member(struct compiler *c, struct mk_str word)
{
    const bool has_own = memchr(word.p, '=', word.len) != NULL;
    struct mk_str variable = word, key = text_cut(&variable, '=');

    if (!has_own)
        variable = member_variable(key);
    else if (variable.len > 1 && variable.p[0] == '%' && variable.p[1] != '%' && key.len > 0)
        variable = (struct mk_str){variable.p + 1, variable.len - 1};
    else
        variable.p = NULL;
    if (!variable.p) {
        refuse(c, "after json names such as timestamp, status or backend, or KEY=%VARIABLE");
        return;
    }
    add_key(c, key);
    if (read_variable(c, variable) != variable.len)
        refuse(c, "one variable such as %{X-Name}i after = in a json format");
}

/* Words between variables. @return the key of `KEY=` at the end, which waits for its value; p NULL: there is none. */
static struct mk_str read_words(struct compiler *c, struct mk_str rest, bool is_last)
{
    const char *end = rest.p + rest.len;

    for (struct mk_str word; !c->why && (word = text_next_word(&rest)).p;) {
        const bool touches = !is_last && word.p + word.len == end;

        if (touches && word.len > 1 && word.p[word.len - 1] == '=')
            return (struct mk_str){word.p, word.len - 1};
        if (touches)
            refuse(c, "a blank or KEY= before a variable in a json format");
        add_member(c, word);
    }
    return (struct mk_str){NULL, 0};
}

/* KEY=$VARIABLE, KEY=${NAME}, or $VARIABLE, whose name is the key. */
static void read_value(struct compiler *c, const struct mk_template_piece *piece, struct mk_str key)
{
    if (!key.p && piece->which == MK_VARIABLE_ENVIRONMENT)
        refuse(c, "KEY= before a variable of the environment in a json format");
    else
        add_key(c, key.p ? key : (struct mk_str){piece->text.p + 1, piece->text.len - 1});
    if (piece->which != MK_VARIABLE_ENVIRONMENT) {
        add_request_variable(c, piece->which);
        return;
    }
    add_byte(c, '"');
    add_escaped(c, piece->text);
    add_byte(c, '"');
}

static void read_members(struct compiler *c, const struct mk_template_piece *pieces, size_t count)
{
    struct mk_str key = {NULL, 0};

    for (size_t i = 0; i < count && !c->why; i++) {
        const struct mk_str text = pieces[i].text;
        const bool is_text = pieces[i].which == MK_VARIABLE_TEXT;

        if (i > 0 && pieces[i - 1].which != MK_VARIABLE_TEXT &&
            !(is_text && text_is_blank(text.p[0])))
            refuse(c, "a blank after a variable in a json format");
        else if (is_text)
            key = read_words(c, text, i + 1 == count);
        else {
            read_value(c, &pieces[i], key);
            key.p = NULL;
        }
    }
    add_byte(c, '}');
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

/* @return whether it was common, combined or json alone. */
static bool read_named(struct compiler *c, const struct mk_template_piece *pieces, size_t count)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]) && count == 1; i++) {
        const struct mk_template_piece whole = {mk_str_from(named[i].text), MK_VARIABLE_TEXT};

        if (!text_is_word(pieces[0].text, mk_str_from(named[i].name)))
            continue;
        c->f->style = named[i].style;
        read_format(c, &whole, 1);
        return true;
    }
    return false;
}

/* Takes the quotes off. @return whether there were some, around something. */
static bool read_quoted(struct compiler *c, struct mk_template_piece *pieces, size_t count)
{
    struct mk_str *first = &pieces[0].text, *last = &pieces[count - 1].text;
    const bool are_texts = pieces[count - 1].which == MK_VARIABLE_TEXT;
    const char quote = first->p[0];

    if ((quote != '\'' && quote != '"') || !are_texts || last->p[last->len - 1] != quote ||
        (count == 1 && first->len < 3))
        return false;
    *first = (struct mk_str){first->p + 1, first->len - 1};
    last->len--;
    read_format(c, pieces, count);
    return true;
}

/* Takes the word json off. @return whether there was one, before names or variables. */
static bool read_json(struct compiler *c, struct mk_template_piece *pieces, size_t count)
{
    struct mk_str *first = &pieces[0].text;
    const struct mk_str word = text_next_word(first);

    if (!text_is_word(word, MK_STR("json")) ||
        (first->len == 0 && word.p + word.len == first->p && count > 1))
        return false;
    c->f->style = LOGGER_JSON;
    read_members(c, pieces, count);
    return true;
}

int logger_format_compile(struct logger_format *f, const struct mk_template *from, const char **why)
{
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct compiler c = {.f = f};
    bool is_read;

    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < from->count; i++)
        pieces[i] = from->pieces[i];
    is_read = from->count > 0 && pieces[0].which == MK_VARIABLE_TEXT &&
              (read_named(&c, pieces, from->count) || read_quoted(&c, pieces, from->count) ||
               read_json(&c, pieces, from->count));
    if (!is_read)
        refuse(&c, "common, combined, json, json with names, or a format in quotes");
    f->has_more = f->has_ms || f->nnotes > 0 || f->nvariables > 0;
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

void logger_format_early(const struct logger_format *f, const struct logger_entry *e,
                         struct logger_text *t, struct logger_gaps *gaps)
{
    const char *start = t->at;

    gaps->count = 0;
    for (size_t i = 0; i < f->npieces && !t->full; i++) {
        const struct logger_piece *piece = &f->pieces[i];

        logger_put(t, piece->lead);
        if (t->full || !piece->put)
            continue;
        if (piece->is_late)
            gaps->all[gaps->count++] =
                (struct logger_gap){(size_t)(t->at - start), piece->put, piece->style};
        else
            piece->put(t, e, piece);
    }
}

void logger_format_late(struct mk_str early, const struct logger_gap *gaps, size_t ngaps,
                        const struct logger_entry *e, struct logger_text *t)
{
    size_t at = 0;

    for (size_t i = 0; i < ngaps && !t->full; i++) {
        const struct logger_piece piece = {.put = gaps[i].put, .style = gaps[i].style};

        logger_put_part(t, (struct mk_str){early.p + at, gaps[i].at - at});
        at = gaps[i].at;
        if (!t->full)
            piece.put(t, e, &piece);
    }
    if (!t->full)
        logger_put_part(t, (struct mk_str){early.p + at, early.len - at});
}
