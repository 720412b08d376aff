/* SPDX-License-Identifier: Apache-2.0 */
#include "links/call_int.h"

#include "kit/digest/digest.h"
#include "kit/h2/lines.h"
#include "kit/pure/base64.h"
#include "kit/text/words.h"

/*
 * A request's head, from the text of HTTP/1 to fields of HTTP/2 (RFC 9113 section 8.3.1). One that asks for another protocol
 * becomes an extended CONNECT (RFC 8441 section 4).
 */

enum {
    PSEUDO = 256, /* bytes of pseudo-header fields in a block, beside those that the text has */
    PROTOCOL_MAX = 255, /* of the name of a protocol */
    OPENING_MAX = 1024, /* of the lines of an opened tunnel */
};

/* ---- reading ---- */

static struct mk_str first_line(struct mk_str *text)
{
    struct mk_str line = text_cut(text, '\n');

    return text_trim((struct mk_str){line.p, line.len > 0 ? line.len - 1 : 0});
}

static int64_t length_of(struct mk_str digits)
{
    int64_t n = 0;

    for (size_t i = 0; i < digits.len && n < INT64_MAX / 16; i++)
        n = n * 10 + (digits.p[i] - '0');
    return n;
}

static void read_line(struct proxy_call_head *h, struct mk_str name, struct mk_str value)
{
    if (text_is_word(name, MK_STR("Host")))
        h->authority = value;
    else if (text_is_word(name, MK_STR("Content-Length")))
        h->to_send = length_of(value);
    else if (text_is_word(name, MK_STR("Transfer-Encoding")))
        h->to_send = -1;
    else if (text_is_word(name, MK_STR("Upgrade")))
        h->protocol = text_trim(text_cut(&value, ','));
}

static bool is_key(struct mk_str name)
{
    return text_is_word(name, MK_STR("Sec-WebSocket-Key"));
}

/* Sixteen bytes, and said once. */
static int read_key(struct proxy_call_head *h)
{
    struct mk_str lines = h->fields, name, value;
    uint8_t bytes[WEBSOCKET_KEY_LEN];
    unsigned n = 0;

    while (h2_next_line(&lines, &name, &value)) {
        if (is_key(name) && n++ == 0)
            h->key = value;
    }
    if (n != 1 || h->key.len != WEBSOCKET_KEY_LEN)
        return MK_E_INVALID;
    return base64_decode(bytes, h->key.p, h->key.len) == 16 ? 0 : MK_E_INVALID;
}

int proxy_call_read_head(struct proxy_call_head *h, struct mk_str text)
{
    struct mk_str line = first_line(&text), name, value, lines;

    *h = (struct proxy_call_head){.to_send = 0};
    h->method = text_cut(&line, ' ');
    h->target = text_cut(&line, ' ');
    h->fields = lines = text;
    while (h2_next_line(&lines, &name, &value))
        read_line(h, name, value);
    if (h->method.len == 0 || h->target.len == 0 || h->protocol.len > PROTOCOL_MAX ||
        (h->protocol.p && h->protocol.len == 0))
        return MK_E_INVALID;
    if (h->protocol.p)
        h->to_send = -1;
    return text_is_word(h->protocol, MK_STR("websocket")) ? read_key(h) : 0;
}

/* ---- writing ---- */

/* HTTP/2 has no key of WebSocket (RFC 8441 section 5). */
static bool is_left_out(const struct proxy_call_head *h, struct mk_str name)
{
    return h2_is_of_http1(name) || text_is_word(name, MK_STR("Host")) || (h->key.p && is_key(name));
}

int proxy_call_write_head(struct h2_stream *st, const struct proxy_call_head *h, bool is_secure)
{
    const size_t text = h->method.len + h->target.len + h->fields.len;
    struct mk_str lines = h->fields, name, value;
    struct h2_head block;

    if (!h2_head_begin(&block, st, PSEUDO + 4 * text))
        return MK_E_NOMEM;
    h2_head_add(&block, MK_STR(":method"), h->protocol.p ? MK_STR("CONNECT") : h->method);
    if (h->protocol.p)
        h2_head_add(&block, MK_STR(":protocol"), h->protocol);
    h2_head_add(&block, MK_STR(":scheme"), is_secure ? MK_STR("https") : MK_STR("http"));
    if (h->authority.len > 0)
        h2_head_add(&block, MK_STR(":authority"), h->authority);
    h2_head_add(&block, MK_STR(":path"), h->target);
    while (h2_next_line(&lines, &name, &value)) {
        if (!is_left_out(h, name))
            h2_head_add(&block, name, value);
    }
    h2_head_end(&block, h->to_send != 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
    return 0;
}

int proxy_call_write_opening(struct h2_text *to, const struct proxy_call_head *h)
{
    char accept[WEBSOCKET_ACCEPT_LEN];
    int err = h2_text_append_line(to, MK_STR("Connection"), MK_STR("upgrade"), OPENING_MAX);

    if (err == 0)
        err = h2_text_append_line(to, MK_STR("Upgrade"), h->protocol, OPENING_MAX);
    if (err < 0 || !h->key.p)
        return err;
    digest_websocket_accept(accept, h->key.p, h->key.len);
    return h2_text_append_line(to, MK_STR("Sec-WebSocket-Accept"),
                               (struct mk_str){accept, sizeof(accept)}, OPENING_MAX);
}
