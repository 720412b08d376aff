/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_head_int.h"

#include "base/str.h"
#include "http/chars_int.h"
#include "http/uri.h"

/** Is text an authority with a host? For CONNECT also with a port (RFC 9110 section 9.3.6). */
static bool is_authority(struct mk_str text, bool port_needed)
{
    struct mk_str host;
    unsigned port;

    return mk_uri_authority(text, &host, &port) == 0 && host.len > 0 && (!port_needed || port > 0);
}

/** @return the length of "http://" or "https://", in any case, at the front of text; or 0. */
static uint32_t scheme_len(struct mk_str text)
{
    static const struct mk_str schemes[] = {MK_STR_INIT("http://"), MK_STR_INIT("https://")};

    for (int i = 0; i < 2; i++) {
        struct mk_str front = {text.p, schemes[i].len};

        if (text.len >= front.len && mk_str_ieq(front, schemes[i]))
            return (uint32_t)front.len;
    }
    return 0;
}

/* The two rare forms are kept out of line, for the sake of the one that all clients send. */

/** RFC 9112 section 3.2.2: scheme "://" authority [path] ["?" query]. */
__attribute__((noinline, cold)) static enum mk_h1_fault
judge_absolute(struct mk_h1_head *h, const char *buf, uint32_t end)
{
    uint32_t scheme = scheme_len(mk_piece_str(h->target, buf));
    uint32_t begin = h->target.off + scheme, at = begin;

    if (scheme == 0)
        return MK_H1_FAULT_TARGET;
    while (at < end && buf[at] != '/')
        at++;
    h->form = MK_TARGET_ABSOLUTE;
    h->authority = (struct mk_piece){begin, at - begin};
    if (at < end)
        h->path = (struct mk_piece){at, end - at};
    return is_authority(mk_piece_str(h->authority, buf), false) ? MK_H1_FAULT_NONE
                                                                : MK_H1_FAULT_TARGET;
}

/** RFC 9112 section 3.2.3. */
__attribute__((noinline, cold)) static enum mk_h1_fault judge_connect(struct mk_h1_head *h,
                                                                      const char *buf)
{
    h->form = MK_TARGET_AUTHORITY;
    h->authority = h->target;
    return is_authority(mk_piece_str(h->target, buf), true) ? MK_H1_FAULT_NONE : MK_H1_FAULT_TARGET;
}

enum mk_h1_fault mk_h1_target_judge(struct mk_h1_head *h, const char *buf)
{
    uint32_t end = h->query.off ? h->query.off - 1 : h->target.off + h->target.len;
    char first = buf[h->target.off];

    if (h->method == MK_METHOD_CONNECT)
        return judge_connect(h, buf);
    if (first == '/') {
        h->form = MK_TARGET_ORIGIN;
        h->path = (struct mk_piece){h->target.off, end - h->target.off};
        return MK_H1_FAULT_NONE;
    }
    if (first == '*' && h->target.len == 1 && h->method == MK_METHOD_OPTIONS) {
        h->form = MK_TARGET_ASTERISK;
        return MK_H1_FAULT_NONE;
    }
    return judge_absolute(h, buf, end);
}

struct mk_str mk_h1_head_path(const struct mk_h1_head *h, const char *buf)
{
    if (h->form == MK_TARGET_ASTERISK)
        return MK_STR("*");
    return h->path.off ? mk_piece_str(h->path, buf) : MK_STR("/");
}

int mk_h1_head_bad_byte(const struct mk_h1_head *h, const char *buf, size_t len)
{
    const char *p = mk_chars_skip(buf + h->target.off, buf + len, MK_CHAR_TARGET);

    return p < buf + len && *p != ' ' ? (unsigned char)*p : -1;
}
