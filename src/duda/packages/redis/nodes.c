/* SPDX-License-Identifier: Apache-2.0 */
#include "nodes.h"

#include "remote/take.h"

#include <stdio.h>
#include <string.h>

/* CRC16 of CCITT, as XMODEM has it. */
static unsigned checksum(const char *bytes, size_t len)
{
    unsigned sum = 0;

    for (size_t i = 0; i < len; i++) {
        sum ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1;
        sum &= 0xffff;
    }
    return sum;
}

unsigned redis_slot(const char *key, size_t len)
{
    const char *open = len > 0 ? memchr(key, '{', len) : NULL;
    const char *close = open ? memchr(open, '}', len - (size_t)(open - key)) : NULL;

    if (close && close > open + 1)
        return checksum(open + 1, (size_t)(close - open - 1)) % REDIS_SLOTS;
    return checksum(key, len) % REDIS_SLOTS;
}

/* Those of scripts have it behind the script and the number of keys. A wrong guess costs a redirect. */
unsigned redis_slot_of(const char *bytes)
{
    struct redis_words words = redis_words_of(bytes);
    struct redis_word word;
    unsigned skip = 1;

    if (!redis_words_next(&words, &word))
        return 0;
    if (redis_word_is(&word, "EVAL") || redis_word_is(&word, "EVALSHA"))
        skip = 3;
    while (skip-- > 0) {
        if (!redis_words_next(&words, &word))
            return 0;
    }
    return redis_slot(word.p, word.len);
}

static bool take_slot(struct mk_str *s, unsigned *slot)
{
    size_t n = 0;

    *slot = 0;
    for (; n < s->len && n < 5 && s->p[n] >= '0' && s->p[n] <= '9'; n++)
        *slot = *slot * 10 + (unsigned)(s->p[n] - '0');
    s->p += n;
    s->len -= n;
    return n > 0 && *slot < REDIS_SLOTS && remote_take(s, " ");
}

/* IPv6 addresses come without brackets. */
static int read_place(struct address *a, struct mk_str s, const struct address *from)
{
    const char *colon = s.len > 0 ? memrchr(s.p, ':', s.len) : NULL;
    const char *own = strrchr(from->text, ':');
    struct mk_str host = {s.p, colon ? (size_t)(colon - s.p) : 0};
    char text[ADDRESS_TEXT_MAX];
    int n;

    if (!colon || !own || s.len >= sizeof(text) || memchr(s.p, '\0', s.len))
        return -1;
    if (host.len == 0)
        n = snprintf(text, sizeof(text), "%.*s%.*s", (int)(own - from->text), from->text,
                     (int)s.len, s.p);
    else if (memchr(host.p, ':', host.len) && host.p[0] != '[')
        n = snprintf(text, sizeof(text), "[%.*s]%.*s", (int)host.len, host.p,
                     (int)(s.len - host.len), colon);
    else
        n = snprintf(text, sizeof(text), "%.*s", (int)s.len, s.p);
    return n < 0 || (size_t)n >= sizeof(text) ? -1 : address_read(a, text, (size_t)n);
}

int redis_redirect_read(struct redis_redirect *r, const char *text, size_t len,
                        const struct address *from)
{
    struct mk_str s = {text, len};

    if (remote_take(&s, "MOVED "))
        r->kind = REDIS_MOVED;
    else if (remote_take(&s, "ASK "))
        r->kind = REDIS_ASK;
    else
        return -1;
    return take_slot(&s, &r->slot) ? read_place(&r->place, s, from) : -1;
}
