/* SPDX-License-Identifier: Apache-2.0 */
#include "http/uri.h"

#include "base/str.h"
#include "http/chars_int.h"

#include <arpa/inet.h>

/** The path written so far: dst[0..len), of which dst[segment..len) is the segment being written. */
struct path {
    char *dst;
    size_t len, segment;
};

/** Take `.` and `..` out when the segment that ends here is one. */
static int end_segment(struct path *path)
{
    size_t len = path->len - path->segment;
    const char *text = path->dst + path->segment;

    if (len == 0 || len > 2 || text[0] != '.')
        return 0;
    if (len == 1)
        path->len = path->segment;
    if (len == 1 || text[1] != '.')
        return 0;
    if (path->segment <= 1)
        return MK_E_ACCESS;
    path->len = path->segment - 1;
    while (path->dst[path->len - 1] != '/') /* dst[0] is one */
        path->len--;
    path->segment = path->len;
    return 0;
}

static int add_slash(struct path *path)
{
    int err = end_segment(path);

    if (err < 0)
        return err;
    if (path->len == 0 || path->len > path->segment) /* not after another slash */
        path->dst[path->len++] = '/';
    path->segment = path->len;
    return 0;
}

/** @return the byte that an escape at p stands for, which is not NUL, or MK_E_BAD. */
static int unescape(const char *p, const char *end)
{
    int byte;

    if (end - p < 3 || !mk_char_is(p[1], MK_CHAR_HEX) || !mk_char_is(p[2], MK_CHAR_HEX))
        return MK_E_BAD;
    byte = (int)(mk_hex_value(p[1]) << 4 | mk_hex_value(p[2]));
    return byte ? byte : MK_E_BAD;
}

/** Take the bytes of nearly all names as they are. @return the first that is to be looked at, or end. */
static const char *add_plain(struct path *path, const char *p, const char *end)
{
    char *to = path->dst + path->len;
    const char *begin = p;

    while (p < end && mk_char_is(*p, MK_CHAR_HOST))
        *to++ = *p++;
    path->len += (size_t)(p - begin);
    return p;
}

/* Nearly all paths are as they are to be: no escape, no empty segment, none that begins with a dot. @return whether it was copied. */
static bool copy_normal(struct mk_str raw, char *dst)
{
    bool at_segment = false;

    for (size_t i = 0; i < raw.len; i++) {
        const char c = raw.p[i];

        if (!mk_char_is(c, MK_CHAR_SEGMENT) || (at_segment && (c == '/' || c == '.')))
            return false;
        dst[i] = c;
        at_segment = c == '/';
    }
    return true;
}

int mk_uri_normalise(struct mk_str raw, char *dst, size_t *len)
{
    struct path path = {.dst = dst};
    const char *p = raw.p, *end = raw.p + raw.len;
    int err;

    if (raw.len == 0 || raw.p[0] != '/')
        return MK_E_BAD;
    if (copy_normal(raw, dst)) {
        *len = raw.len;
        return 0;
    }
    while ((p = add_plain(&path, p, end)) < end) {
        int c = (unsigned char)*p;

        if (c == '%') {
            c = unescape(p, end);
            if (c < 0)
                return c;
            p += 2;
        } else if (c == '\0') {
            return MK_E_BAD;
        }
        p++;
        if (c != '/') {
            path.dst[path.len++] = (char)c;
            continue;
        }
        err = add_slash(&path);
        if (err < 0)
            return err;
    }
    err = end_segment(&path);
    *len = path.len;
    return err;
}

static bool is_ipv6(struct mk_str s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr addr;

    if (s.len >= sizeof(text) || memchr(s.p, '\0', s.len))
        return false;
    memcpy(text, s.p, s.len);
    text[s.len] = '\0';
    return inet_pton(AF_INET6, text, &addr) == 1;
}

/** @return where the host that begins at p ends, or NULL. Out of line: it is rare and has a buffer. */
__attribute__((noinline)) static const char *skip_literal(const char *p, const char *end)
{
    const char *close = memchr(p, ']', (size_t)(end - p));

    if (!close || !is_ipv6((struct mk_str){p + 1, (size_t)(close - p - 1)}))
        return NULL;
    return close + 1;
}

static const char *skip_name(const char *p, const char *end)
{
    for (;;) {
        p = mk_chars_skip(p, end, MK_CHAR_HOST);
        if (p == end || *p != '%')
            return p;
        if (unescape(p, end) < 0)
            return NULL;
        p += 3;
    }
}

static int parse_port(const char *p, const char *end, unsigned *port)
{
    unsigned number = 0;

    for (; p < end; p++) {
        unsigned digit = (unsigned char)(*p - '0');

        number = number * 10 + digit;
        if (digit > 9 || number > UINT16_MAX)
            return MK_E_BAD;
    }
    *port = number;
    return 0;
}

int mk_uri_authority(struct mk_str authority, struct mk_str *host, unsigned *port)
{
    const char *p = authority.p, *end = p + authority.len;

    *host = authority;
    *port = 0;
    if (authority.len == 0)
        return 0;
    p = *p == '[' ? skip_literal(p, end) : skip_name(p, end);
    if (!p || (p < end && *p != ':'))
        return MK_E_BAD;
    host->len = (size_t)(p - authority.p);
    if (host->len > 0 && p[-1] == '.')
        host->len--;
    if (host->len == 0)
        return MK_E_BAD;
    return p < end ? parse_port(p + 1, end, port) : 0;
}

bool mk_uri_is_target(struct mk_str s)
{
    return mk_chars_all(s, MK_CHAR_TARGET);
}
