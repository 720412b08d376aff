/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/lines.h"

#include "kit/text/words.h"

#include <string.h>

bool h2_next_line(struct mk_str *lines, struct mk_str *name, struct mk_str *value)
{
    const char *end = lines->len > 0 ? memchr(lines->p, '\r', lines->len) : NULL;
    const char *colon = end ? memchr(lines->p, ':', (size_t)(end - lines->p)) : NULL;

    if (!colon)
        return false;
    *name = (struct mk_str){lines->p, (size_t)(colon - lines->p)};
    *value = text_trim((struct mk_str){colon + 1, (size_t)(end - colon - 1)});
    lines->len -= (size_t)(end + 2 - lines->p);
    lines->p = end + 2;
    return true;
}

bool h2_is_of_http1(struct mk_str name)
{
    switch (name.len) {
    case 7:
        return text_is_word(name, MK_STR("upgrade"));
    case 10:
        return text_is_word(name, MK_STR("connection")) || text_is_word(name, MK_STR("keep-alive"));
    case 16:
        return text_is_word(name, MK_STR("proxy-connection"));
    case 17:
        return text_is_word(name, MK_STR("transfer-encoding"));
    case 20:
        return text_is_word(name, MK_STR("sec-websocket-accept"));
    default:
        return false;
    }
}

/* ---- the same again ---- */

static bool are_kept(const struct h2_kept *kept, struct mk_str lines)
{
    return kept->len == lines.len && memcmp(kept->lines, lines.p, lines.len) == 0;
}

/* @return false: they are not what came last, or were not encoded since the table changed. */
static bool repeat(struct h2_head *h, struct mk_str lines)
{
    const struct h2_session *s = h->stream->session;
    const struct hpack_code *code = &s->encoder.code;

    if (code->len == 0 || code->of != s->kept->number || !are_kept(s->kept, lines))
        return false;
    memcpy(h->at, code->bytes,
           sizeof(code->bytes)); /* there is room for the lines, which are longer */
    h->at += code->len;
    return true;
}

static void keep(struct h2_kept *kept, struct mk_str lines)
{
    if (are_kept(kept, lines))
        return;
    memcpy(kept->lines, lines.p, lines.len);
    kept->len = (uint32_t)lines.len;
    kept->number++;
}

/* What these lines have become is the same the next time, unless the table changes. */
static void remember(const struct h2_head *h, const uint8_t *from, struct mk_str lines)
{
    struct h2_session *s = h->stream->session;
    const size_t len = (size_t)(h->at - from);

    if (!s->kept || !s->encoder.is_steady || len > HPACK_CODE_MAX || lines.len < H2_KEPT_MIN ||
        lines.len > H2_KEPT_MAX)
        return;
    keep(s->kept, lines);
    s->encoder.code.of = s->kept->number;
    s->encoder.code.len = (uint8_t)len;
    memcpy(s->encoder.code.bytes, from, len);
}

static void add_lines(struct h2_head *h, struct mk_str lines)
{
    struct mk_str name, value;

    while (lines.len > 0) {
        if (h2_head_add_line(h, &lines))
            continue;
        if (!h2_next_line(&lines, &name, &value))
            return;
        if (!h2_is_of_http1(name))
            h2_head_add(h, name, value);
    }
}

void h2_head_add_lines(struct h2_head *h, struct mk_str lines)
{
    const uint8_t *const from = h->at;

    if (repeat(h, lines))
        return;
    h->stream->session->encoder.is_steady = true;
    add_lines(h, lines);
    remember(h, from, lines);
}

bool h2_send_trailers(struct h2_stream *st, struct mk_str lines)
{
    struct h2_head h;

    if (!h2_head_begin(&h, st, h2_lines_most(lines)))
        return false;
    h2_head_add_lines(&h, lines);
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    return true;
}
