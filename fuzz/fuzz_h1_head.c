/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "http/h1_head.h"
#include "http/uri.h"

/*
 * A request head, under small or usual limits, whole and cut in two: the verdict and all values
 * must agree, and what is accepted must hold what the contract says.
 * Input: one byte of limits, two bytes of cut, the head.
 */

/** Parse the first len bytes at an address of their own. */
static ssize_t feed(struct mk_h1_head *h, const uint8_t *data, size_t len,
                    const struct mk_h1_limits *limits)
{
    char *buf = exact_copy(data, len);
    ssize_t ret = mk_h1_head_parse(h, buf, len, limits);

    free(buf);
    return ret;
}

static void require_same(struct mk_h1_head a, struct mk_h1_head b)
{
    a.line = b.line = a.scanned = b.scanned = a.colon = b.colon = a.field = b.field = 0;
    /* both were zeroed with their padding: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
    require(memcmp(&a, &b, sizeof(a)) == 0);
}

static ssize_t parse_cut(struct mk_h1_head *h, const uint8_t *data, size_t size, size_t cut,
                         const struct mk_h1_limits *limits)
{
    ssize_t ret;

    memset(h, 0, sizeof(*h));
    ret = feed(h, data, cut, limits);
    return ret == MK_E_AGAIN ? feed(h, data, size, limits) : ret;
}

static ssize_t parse_dripped(struct mk_h1_head *h, const uint8_t *data, size_t size,
                             const struct mk_h1_limits *limits)
{
    ssize_t ret = MK_E_AGAIN;

    memset(h, 0, sizeof(*h));
    for (size_t len = 0; len <= size && ret == MK_E_AGAIN; len++)
        ret = feed(h, data, len, limits);
    return ret;
}

static void check_piece(struct mk_piece piece, size_t end)
{
    require(piece.off <= end && piece.len <= end - piece.off);
}

static void check_value(struct mk_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.p[i];

        require((c >= 0x20 && c != 0x7f) || c == '\t');
    }
    if (value.len > 0) {
        require(value.p[0] != ' ' && value.p[0] != '\t');
        require(value.p[value.len - 1] != ' ' && value.p[value.len - 1] != '\t');
    }
}

static void check_fields(const struct mk_h1_head *h, const char *buf)
{
    struct mk_str name, value;
    uint32_t at = 0;
    unsigned count = 0;

    while (mk_h1_head_next_field(h, buf, &at, &name, &value)) {
        require(name.len > 0 && memchr(name.p, ' ', name.len) == NULL);
        check_value(value);
        require(mk_h1_head_find(h, buf, name).p != NULL);
        count++;
    }
    require(count == h->nfields);
}

static void check_accepted(const struct mk_h1_head *h, const char *buf, size_t end)
{
    struct mk_str target = mk_piece_str(h->target, buf), path = mk_h1_head_path(h, buf);
    static const char *const names[MK_FIELD_COUNT] = {
#define FIELD_NAME(name, text) text,
        MK_FIELDS(FIELD_NAME)
#undef FIELD_NAME
    };

    require(memcmp(buf + end - 4, "\r\n\r\n", 4) == 0);
    require(target.len > 0 && mk_uri_is_target(target));
    require(path.len > 0 && (path.p[0] == '/' || h->form == MK_TARGET_ASTERISK));
    require(h->minor <= 1 && !(h->chunked && h->has_length));
    require(h->content_length <= INT64_MAX);
    check_piece(h->method_name, end);
    check_piece(h->path, end);
    check_piece(h->query, end);
    check_piece(h->authority, end);
    check_piece(h->fields, end);
    check_fields(h, buf);
    for (int id = 0; id < MK_FIELD_COUNT; id++) {
        struct mk_str known = mk_h1_head_field(h, buf, (enum mk_field_id)id);
        struct mk_str found = mk_h1_head_find(h, buf, mk_str_from(names[id]));

        check_piece(h->known[id], end);
        require((known.p == NULL) == (found.p == NULL));
        require(known.len == found.len && (known.len == 0 || known.p == found.p));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned kind = take_byte(&data, &size);
    size_t cut = take_byte(&data, &size);
    struct mk_h1_limits limits = {.head = 32768, .target = 8192, .fields = 100};
    struct mk_h1_head whole = {0}, other;
    ssize_t ret;

    cut = cut << 8 | take_byte(&data, &size);
    if (kind & 1)
        limits = (struct mk_h1_limits){.head = 64 + kind, .target = kind / 8, .fields = kind / 64};
    ret = feed(&whole, data, size, &limits);
    require(parse_cut(&other, data, size, size ? cut % size : 0, &limits) == ret);
    require_same(whole, other);
    if (size < 512) {
        require(parse_dripped(&other, data, size, &limits) == ret);
        if (ret != MK_E_AGAIN)
            require_same(whole, other);
    }
    require((whole.fault != 0) == (ret == MK_E_BAD));
    if (ret > 0) {
        char *buf = exact_copy(data, (size_t)ret);

        require((size_t)ret <= size && (size_t)ret <= limits.head);
        require(whole.target.len <= limits.target && whole.nfields <= limits.fields);
        check_accepted(&whole, buf, (size_t)ret);
        free(buf);
    }
    return 0;
}
