/* SPDX-License-Identifier: Apache-2.0 */
#include "data/redis/nodes.h"

#include "kit/pure/number.h"
#include "data/remote/take.h"

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

static bool read_slot(struct mk_str s, unsigned *slot)
{
    *slot = number_of(s, REDIS_SLOTS - 1);
    return *slot > 0 || (s.len == 1 && s.p[0] == '0');
}

/* IPv6 addresses come without brackets. */
static int read_place(struct remote_place *p, struct mk_str s, const struct remote_place *from)
{
    const char *colon = s.len > 0 ? memrchr(s.p, ':', s.len) : NULL;
    struct mk_str host = {s.p, colon ? (size_t)(colon - s.p) : 0};
    char text[REMOTE_TEXT_MAX + 2];
    bool is_v6;
    int n;

    if (!colon || s.len >= sizeof(text) || memchr(s.p, '\0', s.len))
        return -1;
    if (host.len == 0)
        host = mk_str_from(from->host);
    is_v6 = memchr(host.p, ':', host.len) && host.p[0] != '[';
    n = snprintf(text, sizeof(text), is_v6 ? "[%.*s]%.*s" : "%.*s%.*s", (int)host.len, host.p,
                 (int)(s.p + s.len - colon), colon);
    if (n < 0 || (size_t)n >= sizeof(text))
        return -1;
    *p = (struct remote_place){.connections = from->connections, .is_secure = from->is_secure};
    return remote_place_read_host(p, (struct mk_str){text, (size_t)n}, 0) ? -1 : 0;
}

int redis_redirect_read(struct redis_redirect *r, const char *text, size_t len,
                        const struct remote_place *from)
{
    struct mk_str slot = {text, len}, place;

    if (remote_take(&slot, "MOVED "))
        r->kind = REDIS_MOVED;
    else if (remote_take(&slot, "ASK "))
        r->kind = REDIS_ASK;
    else
        return -1;
    place = remote_cut(&slot, ' ');
    return place.p && read_slot(slot, &r->slot) ? read_place(&r->place, place, from) : -1;
}
