/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "exchange/head.h"
#include "http/h1_head.h"

#include <monkey/plugin.h>

#include <strings.h>

/*
 * A head that the server takes, passed on by the proxy: the backend must take it too, and understand the same
 * method and the same body, whatever the client's fields were. Nothing of the client's connection is left.
 * Input: one byte of settings, the head.
 */

enum { ROOM = 1 << 16 };

static const struct mk_h1_limits limits = {.head = ROOM, .target = ROOM, .fields = 1000};

struct client {
    struct mk_h1_head head;
    const char *buf;
};

static bool next(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    const struct client *c = of;

    return mk_h1_head_next_field(&c->head, c->buf, at, name, value);
}

static bool is(struct mk_str a, const char *b)
{
    return a.len == strlen(b) && memcmp(a.p, b, a.len) == 0;
}

/* What the client announces goes on, as it spelled it, when its body is chunked. */
static bool is_trailer(const struct mk_h1_head *h, struct mk_str name)
{
    return h->chunked && name.len == strlen("Trailer") &&
           strncasecmp(name.p, "Trailer", name.len) == 0;
}

static void check_fields(const struct mk_h1_head *h, const char *buf)
{
    struct mk_str name, value;
    uint32_t at = 0;
    unsigned vias = 0;

    while (mk_h1_head_next_field(h, buf, &at, &name, &value)) {
        vias += is(name, "Via");
        require(!proxy_is_hop_by_hop(name) || is(name, "Connection") || is(name, "Upgrade") ||
                is(name, "Content-Length") || is(name, "Transfer-Encoding") || is_trailer(h, name));
    }
    require(vias == 1);
}

static void check(const struct proxy_request *q, const char *text, size_t len)
{
    char *copy = exact_copy(text, len);
    struct mk_h1_head h;
    struct mk_str method;

    memset(&h, 0, sizeof(h));
    require(mk_h1_head_parse(&h, copy, len, &limits) == (ssize_t)len);
    method = mk_piece_str(h.method_name, copy);
    require(method.len == q->method.len && memcmp(method.p, q->method.p, method.len) == 0);
    require(h.chunked == (q->content_length < 0));
    require(h.chunked || h.content_length == (uint64_t)q->content_length);
    require(h.keep_alive == (q->keeps || q->upgrade.p));
    require(h.form == MK_TARGET_ORIGIN || h.form == MK_TARGET_ASTERISK);
    check_fields(&h, copy);
    free(copy);
}

static void pass_on(const struct client *c, unsigned bits)
{
    static const struct mk_template_piece one = {.text = MK_STR_INIT("1")};
    static struct proxy_line set = {.name = MK_STR_INIT("X-Set"), .value = {&one, 1}};
    struct proxy_settings settings = {
        .host = (int)(bits & 1) ? PROXY_HOST_CLIENT : PROXY_HOST_SERVER,
        .forwarded = (int)(bits >> 1 & 3),
        .sets = bits & 8 ? &set : NULL,
        .rewrite_from = {bits & 16 ? "/" : NULL, bits & 16 ? 1 : 0},
        .rewrite_to = MK_STR("/to/"),
    };
    const struct mk_h1_head *h = &c->head;
    struct mk_str authority = mk_piece_str(h->authority, c->buf);
    struct proxy_request q = {
        .method = mk_piece_str(h->method_name, c->buf),
        .target = mk_piece_str(h->target, c->buf),
        .path = mk_piece_str(h->path, c->buf),
        .query = mk_piece_str(h->query, c->buf),
        .host = authority.p ? authority : mk_piece_str(h->known[MK_FIELD_HOST], c->buf),
        .scheme = "http",
        .peer = MK_STR("2001:db8::1"),
        .minor = h->minor,
        .content_length = h->chunked ? -1 : (int64_t)h->content_length,
        .trusted = bits & 4,
        .keeps = bits & 32,
        .expects = h->expect_continue,
        .next = next,
        .of = c,
    };
    char *text = malloc(ROOM);
    ssize_t n;

    require(text != NULL);
    if (h->upgrade)
        q.upgrade = mk_piece_str(h->known[MK_FIELD_UPGRADE], c->buf);
    if (!q.path.p)
        q.path = MK_STR("/");
    n = proxy_head_write(text, ROOM, &q, &settings, MK_STR("backend:8080"));
    require(n > 0 || n == MK_E_BAD || n == MK_E_LIMIT || n == MK_E_NOMEM);
    require(n != MK_E_BAD || h->form == MK_TARGET_AUTHORITY);
    if (n > 0)
        check(&q, text, (size_t)n);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned bits = take_byte(&data, &size);
    char *buf = exact_copy(data, size);
    struct client c = {.buf = buf};

    memset(&c.head, 0, sizeof(c.head));
    if (size < ROOM / 8 && mk_h1_head_parse(&c.head, buf, size, &limits) > 0 &&
        c.head.content_length <= INT64_MAX)
        pass_on(&c, bits);
    free(buf);
    return 0;
}
