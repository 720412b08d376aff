/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope.h"

#include "kit/text/escape.h"

#include <stdio.h>
#include <string.h>

enum { VERSION = '1' };

size_t envelope_head(char head[ENVELOPE_HEAD_MAX], const struct envelope *e)
{
    return (size_t)snprintf(head, ENVELOPE_HEAD_MAX, "%c %s %d %zu\n", VERSION, e->origin,
                            (int)e->kind, e->room.len);
}

static bool take(struct mk_str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    s->p++;
    s->len--;
    return true;
}

static bool take_origin(struct mk_str *s, char origin[ENVELOPE_ORIGIN + 1])
{
    if (s->len < ENVELOPE_ORIGIN)
        return false;
    memcpy(origin, s->p, ENVELOPE_ORIGIN);
    origin[ENVELOPE_ORIGIN] = '\0';
    s->p += ENVELOPE_ORIGIN;
    s->len -= ENVELOPE_ORIGIN;
    return strspn(origin, "0123456789abcdef") == ENVELOPE_ORIGIN;
}

static bool take_kind(struct mk_str *s, enum mk_ws_kind *kind)
{
    if (take(s, '0' + MK_WS_TEXT))
        *kind = MK_WS_TEXT;
    else if (take(s, '0' + MK_WS_BINARY))
        *kind = MK_WS_BINARY;
    else
        return false;
    return true;
}

/* Without zeros before it, up to its bound. */
static bool take_length(struct mk_str *s, size_t *n)
{
    *n = 0;
    if (s->len == 0 || s->p[0] == '0')
        return false;
    while (s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9' && *n <= ENVELOPE_ROOM) {
        *n = *n * 10 + (size_t)(s->p[0] - '0');
        s->p++;
        s->len--;
    }
    return *n > 0 && *n <= ENVELOPE_ROOM;
}

static bool is_utf8(struct mk_str s)
{
    while (s.len > 0) {
        const size_t n = text_utf8(s);

        if (n == 0)
            return false;
        s.p += n;
        s.len -= n;
    }
    return true;
}

int envelope_read(struct envelope *e, struct mk_str bytes)
{
    size_t n;

    if (!take(&bytes, VERSION) || !take(&bytes, ' ') || !take_origin(&bytes, e->origin) ||
        !take(&bytes, ' ') || !take_kind(&bytes, &e->kind) || !take(&bytes, ' ') ||
        !take_length(&bytes, &n) || !take(&bytes, '\n') || bytes.len < n ||
        memchr(bytes.p, '\0', n))
        return -1;
    e->room = (struct mk_str){bytes.p, n};
    e->message = (struct mk_str){bytes.p + n, bytes.len - n};
    return e->kind == MK_WS_TEXT && !is_utf8(e->message) ? -1 : 0;
}
