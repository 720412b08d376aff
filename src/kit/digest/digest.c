/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/digest/digest.h"

#include "kit/pure/base64.h"

#include <string.h>

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* FIPS 180-4 section 4.1.1 and 4.2.1: the function and the constant of round t. */
static uint32_t mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999U;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1U;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
    return (b ^ c ^ d) + 0xca62c1d6U;
}

static void add_block(struct sha1 *s)
{
    uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];

    for (unsigned t = 0; t < 16; t++)
        w[t] = big_endian(s->block + t * 4UL);
    for (unsigned t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

void sha1_init(struct sha1 *s)
{
    *s = (struct sha1){
        .h = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U},
    };
}

void sha1_add(struct sha1 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < len; i++) {
        s->block[s->total++ % sizeof(s->block)] = p[i];
        if (s->total % sizeof(s->block) == 0)
            add_block(s);
    }
}

void sha1_end(struct sha1 *s, uint8_t digest[SHA1_LEN])
{
    uint64_t bits = s->total * 8;
    uint8_t length[8];

    sha1_add(s, "\x80", 1);
    while (s->total % sizeof(s->block) != sizeof(s->block) - sizeof(length))
        sha1_add(s, "", 1);
    for (unsigned i = 0; i < sizeof(length); i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha1_add(s, length, sizeof(length));
    for (unsigned i = 0; i < SHA1_LEN; i++)
        digest[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void digest_websocket_accept(char dst[WEBSOCKET_ACCEPT_LEN], const char *key, size_t len)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint8_t digest[SHA1_LEN];
    struct sha1 sha1;

    sha1_init(&sha1);
    sha1_add(&sha1, key, len);
    sha1_add(&sha1, guid, sizeof(guid) - 1);
    sha1_end(&sha1, digest);
    (void)base64_encode(dst, digest, sizeof(digest));
}

bool digest_is_same(const void *a, const void *b, size_t len)
{
    const uint8_t *x = a, *y = b;
    uint8_t diff = 0;

    for (size_t i = 0; i < len; i++)
        diff |= x[i] ^ y[i];
    return diff == 0;
}
