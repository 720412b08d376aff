/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/response.h>

/*
 * A response of a backend, HTTP or CGI, whole, cut in two and dripped: the verdict and all values must
 * agree; what is accepted must hold what the contract says, and its body must decode alike however it is cut.
 * Input: one byte of kind and limits, two bytes of cut, head and body.
 */

struct plan {
    enum mk_response_kind kind;
    size_t max;
    bool to_head;
};

/** Parse the first len bytes at an address of their own. */
static ssize_t feed(struct mk_response_head *h, const struct plan *plan, const uint8_t *data,
                    size_t len)
{
    char *buf = exact_copy(data, len);
    ssize_t ret = mk_response_parse(h, plan->kind, buf, len, plan->max);

    free(buf);
    return ret;
}

static void require_same(struct mk_response_head a, struct mk_response_head b)
{
    a.line = b.line = a.scanned = b.scanned = 0;
    /* both were zeroed with their padding: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*) */
    require(memcmp(&a, &b, sizeof(a)) == 0);
}

/** Parse growing beginnings: the first cut bytes, then step more each time, then all. */
static void parse_again(const struct mk_response_head *whole, ssize_t expected,
                        const struct plan *plan, const uint8_t *data, size_t size, size_t cut,
                        size_t step)
{
    struct mk_response_head h;
    ssize_t ret;

    memset(&h, 0, sizeof(h));
    ret = feed(&h, plan, data, cut);
    while (ret == MK_E_AGAIN && cut < size) {
        cut = step < size - cut ? cut + step : size;
        ret = feed(&h, plan, data, cut);
    }
    require(ret == expected);
    if (ret != MK_E_AGAIN)
        require_same(*whole, h);
}

static void check_value(struct mk_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.p[i];

        require((c >= 0x20 && c != 0x7f) || c == '\t');
    }
}

static void check_accepted(const struct mk_response_head *h, const struct plan *plan,
                           const char *buf, size_t end)
{
    struct mk_str name, value;
    uint32_t at = 0, count = 0;

    require(end <= plan->max && buf[end - 1] == '\n' && !h->why);
    require(h->status >= 100 && h->status <= 599 && h->minor <= 1);
    require(h->content_length >= -1 && !(h->chunked && h->content_length >= 0));
    require(h->reason_off <= end && h->reason_len <= end - h->reason_off);
    require(h->fields_off <= end && h->fields_len <= end - h->fields_off);
    require(!(plan->kind == MK_RESPONSE_CGI && (h->chunked || h->keep_alive)));
    while (mk_response_next(h, buf, &at, &name, &value)) {
        require(name.len > 0 && memchr(name.p, ' ', name.len) == NULL);
        check_value(value);
        require(mk_response_find(h, buf, name).p != NULL);
        count++;
    }
    require(count == h->nfields && count <= 200);
}

struct outcome {
    int ret, end;
    size_t len, used;
    char *data;
};

/** Decode in pieces: first bytes, then step bytes at a time. */
static struct outcome decode(struct mk_body b, const uint8_t *data, size_t size, size_t first,
                             size_t step)
{
    struct outcome o = {.ret = MK_E_AGAIN, .data = exact_copy(data, size)};
    size_t at = 0, n = first;

    do {
        size_t len = n < size - at ? n : size - at, used, received = len;
        char *piece = exact_copy(data + at, len);

        o.ret = mk_body_decode(&b, piece, &len, &used);
        require(len <= used && used <= received);
        require(o.ret != MK_E_AGAIN || used == received);
        memcpy(o.data + o.len, piece, len);
        o.len += len;
        o.used += used;
        at += received;
        n = step;
        free(piece);
    } while (o.ret == MK_E_AGAIN && at < size);
    require(b.total == o.len);
    o.end = mk_body_end(&b);
    require(o.ret != 1 || o.end == 0);
    return o;
}

static void require_same_body(const struct outcome *a, struct outcome b)
{
    require(a->ret == b.ret && a->end == b.end && a->len == b.len && a->used == b.used);
    require(memcmp(a->data, b.data, a->len) == 0);
    free(b.data);
}

static void check_body(const struct mk_response_head *h, bool to_head, const uint8_t *data,
                       size_t size, size_t cut)
{
    struct mk_body b;
    struct outcome whole;

    mk_body_init(&b, h, to_head);
    whole = decode(b, data, size, size, size);
    require_same_body(&whole, decode(b, data, size, size ? cut % size : 0, size));
    if (size < 1024)
        require_same_body(&whole, decode(b, data, size, 1, 1));
    free(whole.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned kind = take_byte(&data, &size);
    size_t cut = take_byte(&data, &size);
    struct plan plan = {
        .kind = kind & 1 ? MK_RESPONSE_CGI : MK_RESPONSE_HTTP,
        .max = kind & 2 ? kind : 32768,
        .to_head = kind & 4,
    };
    struct mk_response_head whole = {0};
    ssize_t ret;

    cut = cut << 8 | take_byte(&data, &size);
    ret = feed(&whole, &plan, data, size);
    parse_again(&whole, ret, &plan, data, size, size ? cut % size : 0, size);
    if (size < 512)
        parse_again(&whole, ret, &plan, data, size, 0, 1);
    require((whole.why != NULL) == (ret == MK_E_BAD || ret == MK_E_LIMIT));
    if (ret > 0) {
        char *buf = exact_copy(data, (size_t)ret);

        require((size_t)ret <= size);
        check_accepted(&whole, &plan, buf, (size_t)ret);
        check_body(&whole, plan.to_head, data + ret, size - (size_t)ret, cut);
        free(buf);
    }
    return 0;
}
