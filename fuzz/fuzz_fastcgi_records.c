/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "exchange/records.h"

/*
 * What an application sends, whole, cut in two and dripped: output, complaints and verdict must be the same. And what we
 * write must hold what was given. Input: two bytes of cut, then records.
 */

struct seen {
    struct fcgi_reader reader;
    char *out, *err;
    size_t out_len, err_len, used;
    unsigned ends; /* of STDOUT, of the request */
    int verdict;   /* 0 or MK_E_BAD */
};

static void add(char *to, size_t *len, struct mk_str piece)
{
    require(piece.len > 0);
    memcpy(to + *len, piece.p, piece.len);
    *len += piece.len;
}

static void feed(struct seen *s, const uint8_t *data, size_t len)
{
    char *copy = exact_copy(data, len);
    size_t at = 0;

    while (s->verdict == 0) {
        struct mk_str piece;
        size_t used;
        int what = fastcgi_read(&s->reader, copy + at, len - at, &used, &piece);

        require(used <= len - at);
        require(piece.len == 0 ||
                (piece.p >= copy + at && piece.p + piece.len <= copy + at + used));
        at += used;
        if (what == FCGI_PIECE_OUT)
            add(s->out, &s->out_len, piece);
        else if (what == FCGI_PIECE_ERR)
            add(s->err, &s->err_len, piece);
        else if (what == FCGI_PIECE_OUT_END || what == FCGI_PIECE_END)
            s->ends++;
        else if (what < 0)
            s->verdict = what;
        else
            break;
    }
    require(s->verdict != 0 || at == len);
    require((s->verdict != 0) == (s->reader.why != NULL));
    s->used += at;
    free(copy);
}

static struct seen read_in_pieces(const uint8_t *data, size_t size, size_t first, size_t step)
{
    struct seen s = {.out = exact_copy(data, size), .err = exact_copy(data, size)};
    size_t n = first;

    for (size_t at = 0; at < size && s.verdict == 0; at += n, n = step)
        feed(&s, data + at, n = n < size - at ? n : size - at);
    require(s.out_len + s.err_len <= size && s.ends <= 2);
    return s;
}

static void require_same(const struct seen *a, struct seen b)
{
    require(a->verdict == b.verdict && a->ends == b.ends);
    require(a->out_len == b.out_len && memcmp(a->out, b.out, a->out_len) == 0);
    require(a->err_len == b.err_len && memcmp(a->err, b.err, a->err_len) == 0);
    require(a->reader.ended == b.reader.ended && a->reader.app_status == b.reader.app_status &&
            a->reader.protocol_status == b.reader.protocol_status);
    free(b.out);
    free(b.err);
}

/* One pair, cut out of the input, into a room that may be too small. */
static void check_writer(const uint8_t *data, size_t size, size_t cut)
{
    size_t name_len = size ? cut % (size + 1) : 0, cap = cut % 600;
    struct mk_str name = {(const char *)data, name_len};
    struct mk_str value = {(const char *)data + name_len, size - name_len};
    char *room = malloc(cap ? cap : 1);
    struct fcgi_writer w;
    ssize_t n;

    require(room != NULL);
    fastcgi_writer_begin(&w, room, cap, true);
    (void)!fastcgi_writer_param(&w, name, value);
    n = fastcgi_writer_end(&w, false);
    require(n == MK_E_LIMIT || (n > 0 && (size_t)n <= cap && (size_t)n >= 40 + size));
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t cut = take_byte(&data, &size);
    struct seen whole;

    cut = cut << 8 | take_byte(&data, &size);
    whole = read_in_pieces(data, size, size, size);
    require_same(&whole, read_in_pieces(data, size, size ? cut % size + 1 : 0, size));
    if (size < 2048)
        require_same(&whole, read_in_pieces(data, size, 1, 1));
    free(whole.out);
    free(whole.err);
    check_writer(data, size, cut);
    return 0;
}
