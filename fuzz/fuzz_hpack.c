/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "kit/h2/hpack.h"

#ifdef HAVE_NGHTTP2
#include <nghttp2/nghttp2.h>
#endif

/*
 * Any bytes as field blocks, in pieces. nghttp2, where it is, decodes the same blocks to the same fields or refuses them too,
 * and finds the fields again in what the encoder makes of them; so does a second decoder.
 * Input: a byte, of how many the pieces are; then blocks, each behind a byte for the encoder's table and its own length.
 */

enum { FIELDS_MAX = 1024 };

struct fields {
    struct mk_str names[FIELDS_MAX], values[FIELDS_MAX];
    bool are_never[FIELDS_MAX];
    size_t count;
};

static struct fields got;
static char room[HPACK_FIELD_MAX];

static struct mk_str copy_of(struct mk_str s)
{
    return (struct mk_str){exact_copy(s.p, s.len), s.len};
}

static void drop(struct mk_str s)
{
    free((void *)(uintptr_t)s.p);
}

static bool keep(struct mk_str name, struct mk_str value, bool is_never)
{
    if (got.count == FIELDS_MAX)
        return false;
    got.names[got.count] = copy_of(name);
    got.values[got.count] = copy_of(value);
    got.are_never[got.count++] = is_never;
    return true;
}

static void forget_fields(void)
{
    while (got.count > 0) {
        got.count--;
        drop(got.names[got.count]);
        drop(got.values[got.count]);
    }
}

static bool are_same(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Of a field that begins at bytes, so many of them at a time; the texts are copied before the piece goes. */
static ssize_t decode_field(struct hpack_decoder *d, const uint8_t *bytes, size_t len, size_t piece)
{
    for (size_t have = piece < len ? piece : len;; have = len - have > piece ? have + piece : len) {
        char *copy = exact_copy(bytes, have);
        struct hpack_field f;
        ssize_t n = hpack_decode(d, (uint8_t *)copy, have, room, &f);
        bool is_full;

        require(n <= (ssize_t)have);
        is_full = n > 0 && f.name.p && !keep(f.name, f.value, f.is_never);
        require(n <= 0 || !f.name.p || f.name.len + f.value.len <= HPACK_FIELD_MAX);
        free(copy);
        if (n != 0 || have == len || is_full)
            return is_full ? MK_E_LIMIT : n;
    }
}

/* @return where the block is refused; NULL: all of it was decoded. */
static const uint8_t *decode_block(struct hpack_decoder *d, const uint8_t *bytes, size_t len,
                                   size_t piece)
{
    const uint8_t *const end = bytes + len;

    hpack_decoder_begin(d);
    while (bytes < end) {
        ssize_t n = decode_field(d, bytes, (size_t)(end - bytes), piece);

        require(d->table.size <= d->table.max && hpack_table_held(&d->table) <= 5632);
        if (n <= 0)
            return bytes;
        bytes += n;
    }
    return NULL;
}

/* No text of HTTP, but bytes that a peer may send: the encoder never meets them. */
static bool is_name(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.p[i] < 0x21 || name.p[i] == 0x7f || (name.p[i] >= 'A' && name.p[i] <= 'Z'))
            return false;
    return true;
}

static void drop_other_names(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < got.count; i++) {
        if (!is_name(got.names[i])) {
            drop(got.names[i]);
            drop(got.values[i]);
            continue;
        }
        got.names[kept] = got.names[i];
        got.values[kept++] = got.values[i];
    }
    got.count = kept;
}

static uint8_t *encode_fields(struct hpack_encoder *e, size_t *len)
{
    size_t max = HPACK_BEGIN_MAX;
    uint8_t *block, *end;

    for (size_t i = 0; i < got.count; i++)
        max += hpack_encoded_max(got.names[i].len, got.values[i].len);
    block = malloc(max);
    require(block != NULL);
    end = hpack_encode_begin(e, block);
    require(end - block <= HPACK_BEGIN_MAX);
    for (size_t i = 0; i < got.count; i++) {
        const uint8_t *begin = end;

        end = hpack_encode(e, end, got.names[i], got.values[i]);
        require((size_t)(end - begin) <= hpack_encoded_max(got.names[i].len, got.values[i].len));
    }
    *len = (size_t)(end - block);
    return block;
}

static void check_again(struct hpack_decoder *d, const uint8_t *bytes, size_t len)
{
    size_t count = 0;

    hpack_decoder_begin(d);
    while (len > 0) {
        struct hpack_field f;
        ssize_t n = hpack_decode(d, bytes, len, room, &f);

        require(n > 0);
        bytes += n;
        len -= (size_t)n;
        if (!f.name.p)
            continue;
        require(count < got.count && are_same(f.name, got.names[count]));
        require(are_same(f.value, got.values[count++]));
    }
    require(count == got.count);
}

#ifdef HAVE_NGHTTP2

/* @return whether the block is accepted; its fields are then those that were found before, if they are compared. */
static bool inflate(nghttp2_hd_inflater *inflater, const uint8_t *bytes, size_t len, bool compares,
                    bool has_flags)
{
    size_t count = 0;

    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t n = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, bytes, len, 1);

        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            const struct mk_str name = {(const char *)nv.name, nv.namelen};
            const struct mk_str value = {(const char *)nv.value, nv.valuelen};

            require(!compares || (count < got.count && are_same(name, got.names[count]) &&
                                  are_same(value, got.values[count])));
            require(!compares || !has_flags ||
                    got.are_never[count] == ((nv.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0));
            count++;
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL)
            break;
        require((flags & NGHTTP2_HD_INFLATE_EMIT) || len > 0);
    }
    nghttp2_hd_inflate_end_headers(inflater);
    require(!compares || count == got.count);
    return true;
}

/* What is refused here alone: a third change of the table's size, numbers longer than the largest needs. */
static bool is_stricter(const struct hpack_decoder *d, const uint8_t *bytes, const uint8_t *end)
{
    if ((*bytes & 0xe0) == 0x20 && d->nchanges == 2)
        return true;
    for (; end - bytes > 4; bytes++)
        if (bytes[0] & bytes[1] & bytes[2] & bytes[3] & 0x80)
            return true;
    return false;
}

#endif

struct run {
    struct hpack_decoder decoder, second;
    struct hpack_encoder encoder;
#ifdef HAVE_NGHTTP2
    nghttp2_hd_inflater *inflater, *other;
#endif
};

static void open_run(struct run *r)
{
    hpack_decoder_init(&r->decoder);
    hpack_decoder_init(&r->second);
    hpack_encoder_init(&r->encoder);
#ifdef HAVE_NGHTTP2
    require(nghttp2_hd_inflate_new(&r->inflater) == 0 && nghttp2_hd_inflate_new(&r->other) == 0);
#endif
}

static void close_run(struct run *r)
{
    hpack_decoder_fini(&r->decoder);
    hpack_decoder_fini(&r->second);
    hpack_encoder_fini(&r->encoder);
#ifdef HAVE_NGHTTP2
    nghttp2_hd_inflate_del(r->inflater);
    nghttp2_hd_inflate_del(r->other);
#endif
}

static bool run_block(struct run *r, const uint8_t *bytes, size_t len, size_t piece)
{
    const uint8_t *refused = decode_block(&r->decoder, bytes, len, piece);
    uint8_t *block;

#ifdef HAVE_NGHTTP2
    bool is_accepted = inflate(r->inflater, bytes, len, !refused, true);

    require(refused ? !is_accepted || got.count == FIELDS_MAX ||
                          is_stricter(&r->decoder, refused, bytes + len)
                    : is_accepted);
#endif
    if (refused)
        return false;
    drop_other_names();
    block = encode_fields(&r->encoder, &len);
    check_again(&r->second, block, len);
#ifdef HAVE_NGHTTP2
    require(inflate(r->other, block, len, true, false));
#endif
    free(block);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t piece = take_byte(&data, &size) + 1;
    bool goes_on = true;
    struct run r;

    open_run(&r);
    while (size > 0 && goes_on) {
        unsigned resize = take_byte(&data, &size);
        size_t len = take_byte(&data, &size);

        if (resize & 1)
            hpack_encoder_resize(&r.encoder, resize * 20);
        if (resize & 2)
            hpack_encoder_resize(&r.encoder, 4096);
        if (resize & 4)
            len *= 16;
        len = len < size ? len : size;
        goes_on = run_block(&r, data, len, piece);
        data += len;
        size -= len;
        forget_fields();
    }
    close_run(&r);
    return 0;
}
