/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/records.h"

enum {
    VERSION = 1,
    REQUEST_ID = 1,
    RESPONDER = 1,
    KEEP_CONN = 1,
    BEGIN_BODY = 8,
    END_BODY = 8,
    SHORT_MAX = 127, /* lengths up to here take one byte, others four */
};

/* ---- writing ---- */

void fastcgi_put_header(char dst[FCGI_HEADER], enum fcgi_type type, size_t len)
{
    const unsigned char header[FCGI_HEADER] = {
        VERSION, (unsigned char)type, 0, REQUEST_ID, (unsigned char)(len >> 8), (unsigned char)len,
    };

    memcpy(dst, header, sizeof(header));
}

/* @return room for a record's header, or NULL. */
static char *add_header(struct fcgi_writer *w)
{
    char *header = w->buf + w->len;

    if (w->full || w->cap - w->len < FCGI_HEADER) {
        w->full = true;
        return NULL;
    }
    w->len += FCGI_HEADER;
    return header;
}

static void add_empty(struct fcgi_writer *w, enum fcgi_type type)
{
    char *header = add_header(w);

    if (header)
        fastcgi_put_header(header, type, 0);
}

static size_t content_of_record(const struct fcgi_writer *w)
{
    return w->len - w->record - FCGI_HEADER;
}

static void open_record(struct fcgi_writer *w)
{
    w->record = w->len;
    (void)add_header(w);
}

static void close_record(struct fcgi_writer *w)
{
    if (!w->full)
        fastcgi_put_header(w->buf + w->record, FCGI_PARAMS, content_of_record(w));
}

void fastcgi_writer_begin(struct fcgi_writer *w, char *buf, size_t cap, bool keep)
{
    const char body[BEGIN_BODY] = {0, RESPONDER, keep ? KEEP_CONN : 0};

    *w = (struct fcgi_writer){.buf = buf, .cap = cap};
    if (cap < FCGI_HEADER + BEGIN_BODY) {
        w->full = true;
        return;
    }
    fastcgi_put_header(buf, FCGI_BEGIN_REQUEST, BEGIN_BODY);
    memcpy(buf + FCGI_HEADER, body, sizeof(body));
    w->len = FCGI_HEADER + BEGIN_BODY;
    open_record(w);
}

static void put(struct fcgi_writer *w, const char *bytes, size_t len)
{
    while (len > 0 && !w->full) {
        size_t room = FCGI_CONTENT_MAX - content_of_record(w), n = len < room ? len : room;

        if (room == 0) {
            close_record(w);
            open_record(w);
            continue;
        }
        if (n > w->cap - w->len) {
            w->full = true;
            return;
        }
        memcpy(w->buf + w->len, bytes, n);
        w->len += n;
        bytes += n;
        len -= n;
    }
}

static void put_length(struct fcgi_writer *w, size_t len)
{
    const unsigned char bytes[] = {
        (unsigned char)(len >> 24 | 0x80),
        (unsigned char)(len >> 16),
        (unsigned char)(len >> 8),
        (unsigned char)len,
    };

    if (len > SHORT_MAX)
        put(w, (const char *)bytes, sizeof(bytes));
    else
        put(w, (const char *)bytes + 3, 1);
}

int fastcgi_writer_param(struct fcgi_writer *w, struct mk_str name, struct mk_str value)
{
    if (name.len > INT32_MAX || value.len > INT32_MAX)
        w->full = true;
    put_length(w, name.len);
    put_length(w, value.len);
    put(w, name.p, name.len);
    put(w, value.p, value.len);
    return w->full ? MK_E_LIMIT : 0;
}

ssize_t fastcgi_writer_end(struct fcgi_writer *w, bool has_body)
{
    bool any = !w->full && content_of_record(w) > 0;

    close_record(w);
    if (any) /* an empty record ends them by itself */
        add_empty(w, FCGI_PARAMS);
    if (!has_body)
        add_empty(w, FCGI_STDIN);
    return w->full ? MK_E_LIMIT : (ssize_t)w->len;
}

/* ---- reading ---- */

static int refuse(struct fcgi_reader *f, const char *why)
{
    if (!f->why)
        f->why = why;
    return MK_E_BAD;
}

static int judge_header(struct fcgi_reader *f)
{
    const unsigned char *h = f->header;

    if (h[0] != VERSION)
        return refuse(f, "not a FastCGI record of version 1");
    if (h[2] != 0 || h[3] != REQUEST_ID)
        return refuse(f, "a record of another request");
    f->content = f->left = (uint16_t)(h[4] << 8 | h[5]);
    f->padding = h[6];
    switch (h[1]) {
    case FCGI_STDOUT:
        return f->out_ended && f->left > 0 ? refuse(f, "output after its end") : 0;
    case FCGI_STDERR:
        return 0;
    case FCGI_END_REQUEST:
        return f->left == END_BODY ? 0 : refuse(f, "an end record of the wrong size");
    default:
        return refuse(f, "a record of a type that no application sends");
    }
}

/* @return how many of the bytes at buf are content of the open record. @param piece  out: those that are somebody else's to read */
static size_t take_content(struct fcgi_reader *f, const char *buf, size_t len, struct mk_str *piece)
{
    size_t n = f->left < len ? f->left : len;

    if (f->header[1] == FCGI_END_REQUEST)
        memcpy(f->end + (END_BODY - f->left), buf, n);
    else
        *piece = (struct mk_str){buf, n};
    f->left -= (uint16_t)n;
    return n;
}

static size_t take_padding(struct fcgi_reader *f, size_t len)
{
    size_t n = f->padding < len ? f->padding : len;

    f->padding -= (uint8_t)n;
    return n;
}

/* The open record is complete. @return what that says by itself. */
static enum fcgi_piece end_record(struct fcgi_reader *f)
{
    f->have = 0;
    if (f->header[1] == FCGI_END_REQUEST) {
        f->ended = true;
        f->app_status = (uint32_t)f->end[0] << 24 | (uint32_t)f->end[1] << 16 |
                        (uint32_t)f->end[2] << 8 | f->end[3];
        f->protocol_status = f->end[4];
        return FCGI_PIECE_END;
    }
    if (f->header[1] == FCGI_STDOUT && f->content == 0 && !f->out_ended) {
        f->out_ended = true;
        return FCGI_PIECE_OUT_END;
    }
    return FCGI_PIECE_MORE;
}

static int take_header(struct fcgi_reader *f, const char *buf, size_t len, size_t *used)
{
    size_t missing = FCGI_HEADER - (size_t)f->have, n = len - *used;

    if (n > missing)
        n = missing;
    memcpy(f->header + f->have, buf + *used, n);
    f->have += (uint8_t)n;
    *used += n;
    return n == missing ? judge_header(f) : MK_E_AGAIN;
}

int fastcgi_read(struct fcgi_reader *f, const char *buf, size_t len, size_t *used,
                 struct mk_str *piece)
{
    *used = 0;
    *piece = (struct mk_str){buf, 0};
    if (f->why)
        return MK_E_BAD;
    while (*used < len) {
        enum fcgi_piece end = FCGI_PIECE_MORE;
        int err = 0;

        if (f->ended)
            return refuse(f, "a record after the end of the request");
        if (f->have < FCGI_HEADER)
            err = take_header(f, buf, len, used);
        if (err < 0)
            return err == MK_E_AGAIN ? FCGI_PIECE_MORE : err;
        *used += take_content(f, buf + *used, len - *used, piece);
        if (f->left == 0)
            *used += take_padding(f, len - *used);
        if (f->left == 0 && f->padding == 0)
            end = end_record(f);
        if (piece->len > 0)
            return f->header[1] == FCGI_STDOUT ? FCGI_PIECE_OUT : FCGI_PIECE_ERR;
        if (end != FCGI_PIECE_MORE)
            return (int)end;
    }
    return FCGI_PIECE_MORE;
}
