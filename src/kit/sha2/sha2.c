/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/sha2/sha2.h"

#include <string.h>

/* FIPS 180-4 section 4.2.3; the first 64, cut to 32 bits, are those of section 4.2.2. */
static const uint64_t constants[80] = {
    0x428a2f98d728ae22U, 0x7137449123ef65cdU, 0xb5c0fbcfec4d3b2fU, 0xe9b5dba58189dbbcU,
    0x3956c25bf348b538U, 0x59f111f1b605d019U, 0x923f82a4af194f9bU, 0xab1c5ed5da6d8118U,
    0xd807aa98a3030242U, 0x12835b0145706fbeU, 0x243185be4ee4b28cU, 0x550c7dc3d5ffb4e2U,
    0x72be5d74f27b896fU, 0x80deb1fe3b1696b1U, 0x9bdc06a725c71235U, 0xc19bf174cf692694U,
    0xe49b69c19ef14ad2U, 0xefbe4786384f25e3U, 0x0fc19dc68b8cd5b5U, 0x240ca1cc77ac9c65U,
    0x2de92c6f592b0275U, 0x4a7484aa6ea6e483U, 0x5cb0a9dcbd41fbd4U, 0x76f988da831153b5U,
    0x983e5152ee66dfabU, 0xa831c66d2db43210U, 0xb00327c898fb213fU, 0xbf597fc7beef0ee4U,
    0xc6e00bf33da88fc2U, 0xd5a79147930aa725U, 0x06ca6351e003826fU, 0x142929670a0e6e70U,
    0x27b70a8546d22ffcU, 0x2e1b21385c26c926U, 0x4d2c6dfc5ac42aedU, 0x53380d139d95b3dfU,
    0x650a73548baf63deU, 0x766a0abb3c77b2a8U, 0x81c2c92e47edaee6U, 0x92722c851482353bU,
    0xa2bfe8a14cf10364U, 0xa81a664bbc423001U, 0xc24b8b70d0f89791U, 0xc76c51a30654be30U,
    0xd192e819d6ef5218U, 0xd69906245565a910U, 0xf40e35855771202aU, 0x106aa07032bbd1b8U,
    0x19a4c116b8d2d0c8U, 0x1e376c085141ab53U, 0x2748774cdf8eeb99U, 0x34b0bcb5e19b48a8U,
    0x391c0cb3c5c95a63U, 0x4ed8aa4ae3418acbU, 0x5b9cca4f7763e373U, 0x682e6ff3d6b2b8a3U,
    0x748f82ee5defb2fcU, 0x78a5636f43172f60U, 0x84c87814a1f0ab72U, 0x8cc702081a6439ecU,
    0x90befffa23631e28U, 0xa4506cebde82bde9U, 0xbef9a3f7b2c67915U, 0xc67178f2e372532bU,
    0xca273eceea26619cU, 0xd186b8c721c0c207U, 0xeada7dd6cde0eb1eU, 0xf57d4f7fee6ed178U,
    0x06f067aa72176fbaU, 0x0a637dc5a2c898a6U, 0x113f9804bef90daeU, 0x1b710b35131c471bU,
    0x28db77f523047d84U, 0x32caab7b40c72493U, 0x3c9ebe0a15c9bebcU, 0x431d67c49c100d4cU,
    0x4cc5d4becb3e42b6U, 0x597f299cfc657e2aU, 0x5fcb6fab3ad6faecU, 0x6c44198c4a475817U,
};

/* Section 5.3.5, and cut to 32 bits section 5.3.3. */
static const uint64_t beginning[8] = {
    0x6a09e667f3bcc908U, 0xbb67ae8584caa73bU, 0x3c6ef372fe94f82bU, 0xa54ff53a5f1d36f1U,
    0x510e527fade682d1U, 0x9b05688c2b3e6c1fU, 0x1f83d9abfb41bd6bU, 0x5be0cd19137e2179U,
};

static uint64_t big_endian(const uint8_t *p, unsigned len)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < len; i++)
        value = value << 8 | p[i];
    return value;
}

static void put_big_endian(uint8_t *p, unsigned len, uint64_t value)
{
    for (unsigned i = len; i-- > 0; value >>= 8)
        p[i] = (uint8_t)value;
}

/* ---- SHA-256: sections 4.1.2 and 6.2.2 ---- */

static uint32_t rotate32(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void fill256(uint32_t w[64], const uint8_t *block)
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)big_endian(block + t * 4UL, 4);
    for (unsigned t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = w[t - 16] + w[t - 7] + (rotate32(a, 7) ^ rotate32(a, 18) ^ a >> 3) +
               (rotate32(b, 17) ^ rotate32(b, 19) ^ b >> 10);
    }
}

static void add_block256(struct sha256 *s, const uint8_t *block)
{
    uint32_t w[64], v[8];

    fill256(w, block);
    memcpy(v, s->h, sizeof(v));
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t one = v[7] + (rotate32(v[4], 6) ^ rotate32(v[4], 11) ^ rotate32(v[4], 25)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + (uint32_t)(constants[t] >> 32) +
                             w[t];
        const uint32_t two = (rotate32(v[0], 2) ^ rotate32(v[0], 13) ^ rotate32(v[0], 22)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += one;
        v[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        s->h[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
    s->total = 0;
    for (unsigned i = 0; i < 8; i++)
        s->h[i] = (uint32_t)(beginning[i] >> 32);
}

void sha256_add(struct sha256 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    while (len > 0) {
        const size_t used = s->total % sizeof(s->block), room = sizeof(s->block) - used;
        const size_t part = len < room ? len : room;

        memcpy(s->block + used, p, part);
        s->total += part;
        p += part;
        len -= part;
        if (part == room)
            add_block256(s, s->block);
    }
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_LEN])
{
    const uint64_t bits = s->total * 8;
    uint8_t length[8];

    sha256_add(s, "\x80", 1);
    while (s->total % sizeof(s->block) != sizeof(s->block) - sizeof(length))
        sha256_add(s, "", 1);
    put_big_endian(length, sizeof(length), bits);
    sha256_add(s, length, sizeof(length));
    for (unsigned i = 0; i < 8; i++)
        put_big_endian(digest + i * 4UL, 4, s->h[i]);
}

/* ---- SHA-512: sections 4.1.3 and 6.4.2 ---- */

static uint64_t rotate64(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static void fill512(uint64_t w[80], const uint8_t *block)
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = big_endian(block + t * 8UL, 8);
    for (unsigned t = 16; t < 80; t++) {
        const uint64_t a = w[t - 15], b = w[t - 2];

        w[t] = w[t - 16] + w[t - 7] + (rotate64(a, 1) ^ rotate64(a, 8) ^ a >> 7) +
               (rotate64(b, 19) ^ rotate64(b, 61) ^ b >> 6);
    }
}

static void add_block512(struct sha512 *s, const uint8_t *block)
{
    uint64_t w[80], v[8];

    fill512(w, block);
    memcpy(v, s->h, sizeof(v));
    for (unsigned t = 0; t < 80; t++) {
        const uint64_t one = v[7] + (rotate64(v[4], 14) ^ rotate64(v[4], 18) ^ rotate64(v[4], 41)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[t] + w[t];
        const uint64_t two = (rotate64(v[0], 28) ^ rotate64(v[0], 34) ^ rotate64(v[0], 39)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += one;
        v[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        s->h[i] += v[i];
}

void sha512_init(struct sha512 *s)
{
    s->total = 0;
    memcpy(s->h, beginning, sizeof(s->h));
}

void sha512_add(struct sha512 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;

    while (len > 0) {
        const size_t used = s->total % sizeof(s->block), room = sizeof(s->block) - used;
        const size_t part = len < room ? len : room;

        memcpy(s->block + used, p, part);
        s->total += part;
        p += part;
        len -= part;
        if (part == room)
            add_block512(s, s->block);
    }
}

void sha512_end(struct sha512 *s, uint8_t digest[SHA512_LEN])
{
    const uint64_t total = s->total;
    uint8_t length[16];

    sha512_add(s, "\x80", 1);
    while (s->total % sizeof(s->block) != sizeof(s->block) - sizeof(length))
        sha512_add(s, "", 1);
    put_big_endian(length, 8, total >> 61);
    put_big_endian(length + 8, 8, total << 3);
    sha512_add(s, length, sizeof(length));
    for (unsigned i = 0; i < 8; i++)
        put_big_endian(digest + i * 8UL, 8, s->h[i]);
}
