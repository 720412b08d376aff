/* SPDX-License-Identifier: Apache-2.0 */
#include "links/call_int.h"

#include "kit/h2/lines.h"
#include "kit/text/words.h"

/* A request's head, from the text of HTTP/1 to fields of HTTP/2 (RFC 9113 section 8.3.1). */

enum { PSEUDO = 64 }; /* bytes of pseudo-header fields in a block, beside those that the text has */

struct head {
    struct mk_str method, target, authority;
    struct mk_str fields;
    int64_t to_send;
};

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

static bool split(struct head *h, struct mk_str text)
{
    struct mk_str line = first_line(&text), name, value, lines;

    h->method = text_cut(&line, ' ');
    h->target = text_cut(&line, ' ');
    h->fields = lines = text;
    while (h2_next_line(&lines, &name, &value)) {
        if (text_is_word(name, MK_STR("Host")))
            h->authority = value;
        else if (text_is_word(name, MK_STR("Content-Length")))
            h->to_send = length_of(value);
        else if (text_is_word(name, MK_STR("Transfer-Encoding")))
            h->to_send = -1;
    }
    return h->method.len > 0 && h->target.len > 0;
}

static bool is_left_out(struct mk_str name)
{
    return h2_is_of_http1(name) || text_is_word(name, MK_STR("Host"));
}

int proxy_call_write_head(struct h2_stream *st, struct mk_str text, bool is_secure,
                          int64_t *to_send)
{
    struct head h = {.to_send = 0};
    struct mk_str name, value;
    struct h2_head block;

    if (!split(&h, text))
        return MK_E_BAD;
    if (!h2_head_begin(&block, st, PSEUDO + h2_lines_most(text)))
        return MK_E_NOMEM;
    h2_head_add(&block, MK_STR(":method"), h.method);
    h2_head_add(&block, MK_STR(":scheme"), is_secure ? MK_STR("https") : MK_STR("http"));
    if (h.authority.len > 0)
        h2_head_add(&block, MK_STR(":authority"), h.authority);
    h2_head_add(&block, MK_STR(":path"), h.target);
    while (h2_next_line(&h.fields, &name, &value)) {
        if (!is_left_out(name))
            h2_head_add(&block, name, value);
    }
    *to_send = h.to_send;
    h2_head_end(&block, h.to_send != 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
    return 0;
}
