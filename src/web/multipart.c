/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/multipart.h>

#include "base/heap.h"
#include "base/str.h"
#include "http/field.h"
#include "kit/text/words.h"
#include "web/parameter.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Bytes are compared with the delimiter, CR LF "--" boundary, as they pass. A CR stands only at its beginning, so where the
 * comparison fails, what matched so far is content, and the next delimiter begins at the failing byte or later.
 */

#define MULTIPART_STATES(X)                                                                        \
    X(PREAMBLE, "before the first boundary")                                                       \
    X(AFTER, "behind a boundary: blanks, then a line end, or two dashes at the very end")          \
    X(HEAD, "fields of a part")                                                                    \
    X(DATA, "its content")                                                                         \
    X(EPILOGUE, "behind the last boundary")

enum state {
#define STATE(name, text) name,
    MULTIPART_STATES(STATE)
#undef STATE
};

enum { DELIMITER_MAX = 4 + MK_MULTIPART_BOUNDARY, BLANKS_MAX = 64 };

struct mk_multipart {
    const struct mk_multipart_calls *calls;
    void *arg;
    int error;
    uint8_t state, matched, delimiter_len;
    uint8_t imagined; /* of `matched`: bytes at its front that are not of the content */
    uint8_t nafter;   /* bytes behind the boundary that are kept in `head` */
    char delimiter[DELIMITER_MAX];
    size_t head_len;
    char head[MK_MULTIPART_HEAD];
};

/* ---- Content-Type of the request ---- */

/* RFC 2046 section 5.1.1: bchars, not ending in a blank. */
static bool is_boundary(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = mk_char_lower(text.p[i]);

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || !strchr("'()+_,-./:=? ", c)))
            return false;
    }
    return text.len > 0 && text.len <= MK_MULTIPART_BOUNDARY && text.p[text.len - 1] != ' ';
}

static int find_boundary(struct mk_str content_type, struct mk_str *boundary)
{
    const struct mk_str type = MK_STR("multipart/form-data");
    struct mk_str name, value, rest = mk_str_skip(content_type, type.len);
    int more;

    *boundary = (struct mk_str){NULL, 0};
    if (!text_begins(content_type, type) || (rest.len > 0 && !strchr("; \t", rest.p[0])))
        return MK_E_UNSUPPORTED;
    while ((more = mk_parameter_next(&rest, &name, &value)) > 0) {
        if (!mk_str_ieq(name, MK_STR("boundary")))
            continue;
        if (boundary->p)
            return MK_E_BAD;
        *boundary = mk_parameter_unquoted(value);
    }
    if (more < 0 || !boundary->p || !is_boundary(*boundary))
        return MK_E_BAD;
    return 0;
}

int mk_multipart_new(struct mk_multipart **out, struct mk_str content_type,
                     const struct mk_multipart_calls *calls, void *arg)
{
    struct mk_multipart *m;
    struct mk_str boundary;
    int err = out && calls ? find_boundary(content_type, &boundary) : MK_E_INVALID;

    if (err < 0)
        return err;
    m = mk_heap_zalloc(1, sizeof(*m));
    if (!m)
        return MK_E_NOMEM;
    m->calls = calls;
    m->arg = arg;
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary.p, boundary.len);
    m->delimiter_len = (uint8_t)(4 + boundary.len);
    m->matched = m->imagined =
        2; /* the body may begin with a boundary, as if a line end stood before it */
    *out = m;
    return 0;
}

void mk_multipart_free(struct mk_multipart *m)
{
    mk_heap_free(m);
}

/* ---- the fields of a part ---- */

struct fields {
    struct mk_part part;
    bool has_disposition;
};

/* Browsers write %22, %0D and %0A for what a quoted text cannot hold; some programs write \" */
static size_t decode_quoted(char *dst, struct mk_str text)
{
    size_t len = 0;

    while (text.len > 0) {
        size_t used = 1;
        char c = text.p[0];

        if (c == '\\' && text.len > 1 && text.p[1] == '"') {
            c = '"';
            used = 2;
        } else if (c == '%' && text.len > 2) {
            const struct mk_str escape = {text.p, 3};
            const char decoded = mk_str_eq(escape, MK_STR("%22"))    ? '"'
                                 : mk_str_ieq(escape, MK_STR("%0D")) ? '\r'
                                 : mk_str_ieq(escape, MK_STR("%0A")) ? '\n'
                                                                     : c;

            used = decoded == c ? 1 : 3;
            c = decoded;
        }
        dst[len++] = c;
        text = mk_str_skip(text, used);
    }
    return len;
}

/* Decoded where it stands, in m->head. */
static int take_parameter(struct mk_multipart *m, struct mk_str value, struct mk_str *to)
{
    char *start = &m->head[value.p - m->head];

    if (to->p)
        return MK_E_BAD;
    if (value.p[0] != '"') {
        *to = value;
        return 0;
    }
    to->p = start + 1;
    to->len = decode_quoted(start + 1, mk_parameter_unquoted(value));
    return 0;
}

static int read_disposition(struct mk_multipart *m, struct mk_str value, struct fields *f)
{
    const struct mk_str type = MK_STR("form-data");
    struct mk_str name, text, rest = mk_str_skip(value, type.len);
    int more, err = 0;

    if (f->has_disposition || !text_begins(value, type))
        return MK_E_BAD;
    f->has_disposition = true;
    while (err == 0 && (more = mk_parameter_next(&rest, &name, &text)) != 0) {
        if (more < 0)
            return more;
        if (mk_str_ieq(name, MK_STR("name")))
            err = take_parameter(m, text, &f->part.name);
        else if (mk_str_ieq(name, MK_STR("filename")))
            err = take_parameter(m, text, &f->part.filename);
    }
    return err;
}

static int read_field(struct mk_multipart *m, struct mk_str line, struct fields *f)
{
    const char *colon = memchr(line.p, ':', line.len);
    struct mk_str name = {line.p, colon ? (size_t)(colon - line.p) : 0};
    struct mk_str value = mk_str_trim(mk_str_skip(line, name.len + 1));

    if (!mk_field_is_name(name) || !mk_field_is_value(line))
        return MK_E_BAD;
    if (mk_str_ieq(name, MK_STR("Content-Disposition")))
        return read_disposition(m, value, f);
    if (mk_str_ieq(name, MK_STR("Content-Type"))) {
        if (f->part.type.p)
            return MK_E_BAD;
        f->part.type = value;
    }
    if (mk_str_ieq(name, MK_STR("Content-Transfer-Encoding")) &&
        !mk_str_ieq(value, MK_STR("binary")) && !mk_str_ieq(value, MK_STR("8bit")) &&
        !mk_str_ieq(value, MK_STR("7bit")))
        return MK_E_BAD;
    return 0;
}

/* The head is complete in m->head, with its empty line: every line has its end. */
static int begin_part(struct mk_multipart *m)
{
    struct fields f = {.part = {.size = sizeof(f.part)}};
    size_t at = 0;

    while (at + 2 < m->head_len) {
        const char *line = m->head + at;
        const char *end = memmem(line, m->head_len - at, "\r\n", 2);
        const size_t len = (size_t)(end - line);
        int err = read_field(m, (struct mk_str){line, len}, &f);

        if (err < 0)
            return err;
        at += len + 2;
    }
    if (!f.has_disposition || f.part.name.len == 0)
        return MK_E_BAD;
    m->state = DATA;
    m->matched = m->imagined =
        2; /* an empty part's delimiter may begin with the line end of its head */
    return m->calls->part(m->arg, &f.part);
}

/* ---- bytes ---- */

static int feed_head(struct mk_multipart *m, char c)
{
    if (m->head_len == sizeof(m->head))
        return MK_E_LIMIT;
    m->head[m->head_len++] = c;
    if (m->head_len == 2 && memcmp(m->head, "\r\n", 2) == 0)
        return MK_E_BAD; /* no field at all */
    if (m->head_len < 4 || memcmp(m->head + m->head_len - 4, "\r\n\r\n", 4) != 0)
        return 0;
    return begin_part(m);
}

/* Behind a boundary: "--", or blanks (RFC 2046: transport padding) and a line end. */
static int feed_after(struct mk_multipart *m, char c)
{
    const char last = m->nafter > 0 ? m->head[m->nafter - 1] : ' ';

    if (m->nafter >= BLANKS_MAX)
        return MK_E_BAD;
    m->head[m->nafter++] = c;
    if (last == '-' && c == '-') {
        m->state = EPILOGUE;
    } else if (last == '\r' && c == '\n') {
        m->state = HEAD;
        m->head_len = 0;
    } else if (c == '-' ? m->nafter > 1
                        : (last == '-' || last == '\r' || !strchr("\r \t", c) || c == '\0')) {
        return MK_E_BAD;
    }
    return 0;
}

static int give(struct mk_multipart *m, const char *bytes, size_t len)
{
    if (m->state == PREAMBLE || len == 0)
        return 0;
    return m->calls->data(m->arg, (struct mk_str){bytes, len});
}

static int end_data(struct mk_multipart *m)
{
    const bool is_part = m->state == DATA;

    m->state = AFTER;
    m->matched = m->imagined = 0;
    m->nafter = 0;
    return is_part ? m->calls->end(m->arg) : 0;
}

/* What matched but is no delimiter is content. */
static int give_matched(struct mk_multipart *m)
{
    const size_t len = (size_t)(m->matched - m->imagined);
    const char *start = m->delimiter + m->imagined;

    m->matched = m->imagined = 0;
    return give(m, start, len);
}

/* The rest of a delimiter whose front ended the bytes before. @return bytes used, or an error */
static ssize_t feed_matched(struct mk_multipart *m, const char *bytes, size_t len)
{
    size_t n = 0;
    int err = 0;

    while (n < len && m->matched < m->delimiter_len && bytes[n] == m->delimiter[m->matched]) {
        m->matched++;
        n++;
    }
    if (m->matched == m->delimiter_len)
        err = end_data(m);
    else if (n < len)
        err = give_matched(m);
    return err < 0 ? err : (ssize_t)n;
}

/*
 * Content until the delimiter or the end of these bytes, in one piece: a file of many line ends costs no call for each.
 * @return bytes used, or an error.
 */
static ssize_t feed_data(struct mk_multipart *m, const char *bytes, size_t len)
{
    const char *end = bytes + len, *cr = memchr(bytes, '\r', len);
    size_t same = 0;
    int err;

    while (cr) {
        same = (size_t)(end - cr) < m->delimiter_len ? (size_t)(end - cr) : m->delimiter_len;
        if (memcmp(cr, m->delimiter, same) == 0)
            break;
        cr = memchr(cr + 1, '\r', (size_t)(end - cr) - 1);
    }
    if (!cr)
        same = 0;
    err = give(m, bytes, len = (size_t)((cr ? cr : end) - bytes));
    if (err < 0)
        return err;
    m->matched = (uint8_t)same;
    if (same == m->delimiter_len)
        err = end_data(m);
    return err < 0 ? err : (ssize_t)(len + same);
}

static ssize_t feed_some(struct mk_multipart *m, const char *bytes, size_t len)
{
    int err;

    switch ((enum state)m->state) {
    case PREAMBLE:
    case DATA:
        return m->matched > 0 ? feed_matched(m, bytes, len) : feed_data(m, bytes, len);
    case AFTER:
        err = feed_after(m, bytes[0]);
        return err < 0 ? err : 1;
    case HEAD:
        err = feed_head(m, bytes[0]);
        return err < 0 ? err : 1;
    case EPILOGUE:
        break;
    }
    return (ssize_t)len;
}

int mk_multipart_feed(struct mk_multipart *m, const char *bytes, size_t len)
{
    if (!m || (!bytes && len > 0))
        return MK_E_INVALID;
    while (m->error == 0 && len > 0) {
        ssize_t used = feed_some(m, bytes, len);

        if (used < 0) {
            m->error = (int)used;
            break;
        }
        bytes += used;
        len -= (size_t)used;
    }
    return m->error;
}

int mk_multipart_end(const struct mk_multipart *m)
{
    if (!m || m->error < 0)
        return m ? m->error : MK_E_INVALID;
    return m->state == EPILOGUE ? 0 : MK_E_BAD;
}
