/* SPDX-License-Identifier: Apache-2.0 */
#include "hpack_int.h"

#include <endian.h>

/*
 * The code is canonical: those of one length follow each other as their symbols do, and are larger than all shorter ones.
 * The decoder looks up the next byte, in which the code of every usual character ends. Others are compared with the end of
 * each length.
 */

/* RFC 7541 appendix B, by symbol. */
static const uint32_t codes[256] = {
    0x1ff8,    0x7fffd8,  0xfffffe2,  0xfffffe3, 0xfffffe4, 0xfffffe5,  0xfffffe6,  0xfffffe7,
    0xfffffe8, 0xffffea,  0x3ffffffc, 0xfffffe9, 0xfffffea, 0x3ffffffd, 0xfffffeb,  0xfffffec,
    0xfffffed, 0xfffffee, 0xfffffef,  0xffffff0, 0xffffff1, 0xffffff2,  0x3ffffffe, 0xffffff3,
    0xffffff4, 0xffffff5, 0xffffff6,  0xffffff7, 0xffffff8, 0xffffff9,  0xffffffa,  0xffffffb,
    0x14,      0x3f8,     0x3f9,      0xffa,     0x1ff9,    0x15,       0xf8,       0x7fa,
    0x3fa,     0x3fb,     0xf9,       0x7fb,     0xfa,      0x16,       0x17,       0x18,
    0x0,       0x1,       0x2,        0x19,      0x1a,      0x1b,       0x1c,       0x1d,
    0x1e,      0x1f,      0x5c,       0xfb,      0x7ffc,    0x20,       0xffb,      0x3fc,
    0x1ffa,    0x21,      0x5d,       0x5e,      0x5f,      0x60,       0x61,       0x62,
    0x63,      0x64,      0x65,       0x66,      0x67,      0x68,       0x69,       0x6a,
    0x6b,      0x6c,      0x6d,       0x6e,      0x6f,      0x70,       0x71,       0x72,
    0xfc,      0x73,      0xfd,       0x1ffb,    0x7fff0,   0x1ffc,     0x3ffc,     0x22,
    0x7ffd,    0x3,       0x23,       0x4,       0x24,      0x5,        0x25,       0x26,
    0x27,      0x6,       0x74,       0x75,      0x28,      0x29,       0x2a,       0x7,
    0x2b,      0x76,      0x2c,       0x8,       0x9,       0x2d,       0x77,       0x78,
    0x79,      0x7a,      0x7b,       0x7ffe,    0x7fc,     0x3ffd,     0x1ffd,     0xffffffc,
    0xfffe6,   0x3fffd2,  0xfffe7,    0xfffe8,   0x3fffd3,  0x3fffd4,   0x3fffd5,   0x7fffd9,
    0x3fffd6,  0x7fffda,  0x7fffdb,   0x7fffdc,  0x7fffdd,  0x7fffde,   0xffffeb,   0x7fffdf,
    0xffffec,  0xffffed,  0x3fffd7,   0x7fffe0,  0xffffee,  0x7fffe1,   0x7fffe2,   0x7fffe3,
    0x7fffe4,  0x1fffdc,  0x3fffd8,   0x7fffe5,  0x3fffd9,  0x7fffe6,   0x7fffe7,   0xffffef,
    0x3fffda,  0x1fffdd,  0xfffe9,    0x3fffdb,  0x3fffdc,  0x7fffe8,   0x7fffe9,   0x1fffde,
    0x7fffea,  0x3fffdd,  0x3fffde,   0xfffff0,  0x1fffdf,  0x3fffdf,   0x7fffeb,   0x7fffec,
    0x1fffe0,  0x1fffe1,  0x3fffe0,   0x1fffe2,  0x7fffed,  0x3fffe1,   0x7fffee,   0x7fffef,
    0xfffea,   0x3fffe2,  0x3fffe3,   0x3fffe4,  0x7ffff0,  0x3fffe5,   0x3fffe6,   0x7ffff1,
    0x3ffffe0, 0x3ffffe1, 0xfffeb,    0x7fff1,   0x3fffe7,  0x7ffff2,   0x3fffe8,   0x1ffffec,
    0x3ffffe2, 0x3ffffe3, 0x3ffffe4,  0x7ffffde, 0x7ffffdf, 0x3ffffe5,  0xfffff1,   0x1ffffed,
    0x7fff2,   0x1fffe3,  0x3ffffe6,  0x7ffffe0, 0x7ffffe1, 0x3ffffe7,  0x7ffffe2,  0xfffff2,
    0x1fffe4,  0x1fffe5,  0x3ffffe8,  0x3ffffe9, 0xffffffd, 0x7ffffe3,  0x7ffffe4,  0x7ffffe5,
    0xfffec,   0xfffff3,  0xfffed,    0x1fffe6,  0x3fffe9,  0x1fffe7,   0x1fffe8,   0x7ffff3,
    0x3fffea,  0x3fffeb,  0x1ffffee,  0x1ffffef, 0xfffff4,  0xfffff5,   0x3ffffea,  0x7ffff4,
    0x3ffffeb, 0x7ffffe6, 0x3ffffec,  0x3ffffed, 0x7ffffe7, 0x7ffffe8,  0x7ffffe9,  0x7ffffea,
    0x7ffffeb, 0xffffffe, 0x7ffffec,  0x7ffffed, 0x7ffffee, 0x7ffffef,  0x7fffff0,  0x3ffffee,
};

static const uint8_t lens[256] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,
    7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,
    7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
};

#define ONE(c, len)                                                                                \
    {                                                                                              \
        (uint8_t)(c), len                                                                          \
    }
#define OF_7(c) ONE(c, 7), ONE(c, 7)
#define OF_6(c) ONE(c, 6), ONE(c, 6), ONE(c, 6), ONE(c, 6)
#define OF_5(c)                                                                                    \
    ONE(c, 5), ONE(c, 5), ONE(c, 5), ONE(c, 5), ONE(c, 5), ONE(c, 5), ONE(c, 5), ONE(c, 5)

/* By the byte that begins with its code. */
static const struct quick {
    uint8_t symbol, len; /* 0: longer than a byte */
} quick[256] = {
    OF_5('0'),   OF_5('1'),   OF_5('2'),   OF_5('a'),   OF_5('c'), OF_5('e'),   OF_5('i'),
    OF_5('o'),   OF_5('s'),   OF_5('t'),   OF_6(' '),   OF_6('%'), OF_6('-'),   OF_6('.'),
    OF_6('/'),   OF_6('3'),   OF_6('4'),   OF_6('5'),   OF_6('6'), OF_6('7'),   OF_6('8'),
    OF_6('9'),   OF_6('='),   OF_6('A'),   OF_6('_'),   OF_6('b'), OF_6('d'),   OF_6('f'),
    OF_6('g'),   OF_6('h'),   OF_6('l'),   OF_6('m'),   OF_6('n'), OF_6('p'),   OF_6('r'),
    OF_6('u'),   OF_7(':'),   OF_7('B'),   OF_7('C'),   OF_7('D'), OF_7('E'),   OF_7('F'),
    OF_7('G'),   OF_7('H'),   OF_7('I'),   OF_7('J'),   OF_7('K'), OF_7('L'),   OF_7('M'),
    OF_7('N'),   OF_7('O'),   OF_7('P'),   OF_7('Q'),   OF_7('R'), OF_7('S'),   OF_7('T'),
    OF_7('U'),   OF_7('V'),   OF_7('W'),   OF_7('Y'),   OF_7('j'), OF_7('k'),   OF_7('q'),
    OF_7('v'),   OF_7('w'),   OF_7('x'),   OF_7('y'),   OF_7('z'), ONE('&', 8), ONE('*', 8),
    ONE(',', 8), ONE(';', 8), ONE('X', 8), ONE('Z', 8), ONE(0, 0), ONE(0, 0)};

/* Symbols of longer codes, in their order. */
static const uint8_t rare[182] = {
    33,  34,  40,  41,  63,  39,  43,  124, 35,  62,  0,   36,  64,  91,  93,  126, 94,  125, 60,
    96,  123, 92,  195, 208, 128, 130, 131, 162, 184, 194, 224, 226, 153, 161, 167, 172, 176, 177,
    179, 209, 216, 217, 227, 229, 230, 129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169,
    170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228, 232, 233, 1,   135, 137, 138, 139,
    140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174, 175, 180, 182, 183,
    188, 191, 197, 231, 239, 9,   142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237, 199, 207,
    234, 235, 192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255, 203, 204,
    211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254, 2,   3,
    4,   5,   6,   7,   8,   11,  12,  14,  15,  16,  17,  18,  19,  20,  21,  23,  24,  25,  26,
    27,  28,  29,  30,  31,  127, 220, 249, 10,  13,  22,
};

/* The lengths of these codes. */
static const struct {
    uint32_t end;   /* after the last code of the length, from the highest bit on */
    uint32_t first; /* code of the length, less the place of its symbol among the rare */
    uint8_t len;
} lengths[] = {
    {0xff400000, 1016, 10},      {0xffa00000, 2037, 11},       {0xffc00000, 4082, 12},
    {0xfff00000, 8174, 13},      {0xfff80000, 16364, 14},      {0xfffe0000, 32746, 15},
    {0xfffe6000, 524251, 19},    {0xfffee000, 1048526, 20},    {0xffff4800, 2097084, 21},
    {0xffffb000, 4194213, 22},   {0xffffea00, 8388497, 23},    {0xfffff600, 16777094, 24},
    {0xfffff800, 33554300, 25},  {0xfffffbc0, 67108716, 26},   {0xfffffe20, 134217563, 27},
    {0xfffffff0, 268435276, 28}, {0xfffffffc, 1073741641, 30},
};

enum { CODE_MAX = 30 }; /* bits */

size_t huffman_encoded_len(const char *text, size_t len)
{
    size_t bits = 0;

    for (size_t i = 0; i < len; i++)
        bits += lens[(uint8_t)text[i]];
    return (bits + 7) / 8;
}

static inline uint8_t *put_32(uint8_t *dst, uint32_t bits)
{
    bits = htobe32(bits);
    memcpy(dst, &bits, sizeof(bits));
    return dst + sizeof(bits);
}

/* The last byte is filled with the beginning of EOS, ones (RFC 7541 section 5.2). */
static inline uint8_t *put_rest(uint8_t *dst, uint64_t bits, unsigned count)
{
    const unsigned padding = -count % 8;

    bits = bits << padding | ((1U << padding) - 1);
    count += padding;
    while (count > 0) {
        count -= 8;
        *dst++ = (uint8_t)(bits >> count);
    }
    return dst;
}

/* NULL: they need more than room. */
static inline uint8_t *encode(uint8_t *dst, size_t room, const char *text, size_t len)
{
    const uint8_t *const limit = dst + room;
    uint64_t bits = 0;
    unsigned count = 0;

    for (size_t i = 0; i < len; i++) {
        const uint8_t symbol = (uint8_t)text[i];

        bits = bits << lens[symbol] | codes[symbol];
        count += lens[symbol];
        if (count < 32)
            continue;
        if (limit - dst < 4)
            return NULL;
        count -= 32;
        dst = put_32(dst, (uint32_t)(bits >> count));
    }
    return (size_t)(limit - dst) >= (count + 7) / 8 ? put_rest(dst, bits, count) : NULL;
}

uint8_t *huffman_encode(uint8_t *dst, const char *text, size_t len)
{
    return encode(dst, len * 4, text, len);
}

uint8_t *huffman_encode_shorter(uint8_t *dst, const char *text, size_t len)
{
    return len > 0 ? encode(dst, len - 1, text, len) : NULL;
}

/* The next bits of a code, from the highest on; behind them may be those that follow, and zeros at the end. */
struct bits {
    const uint8_t *at, *end;
    uint64_t next;
    unsigned count;
};

/* Bits that are already there are read again with those of their byte: they are the same. */
static inline void refill(struct bits *b)
{
    if (b->end - b->at >= 8) {
        b->next |= be64toh(hpack_load_64((const char *)b->at)) >> b->count;
        b->at += (63 - b->count) / 8;
        b->count |= 56;
        return;
    }
    while (b->count <= 56 && b->at < b->end) {
        b->next |= (uint64_t)*b->at++ << (56 - b->count);
        b->count += 8;
    }
}

/* EOS is no symbol (RFC 7541 section 5.2): len is 0. */
__attribute__((noinline)) static struct quick find_rare(uint64_t next)
{
    const uint32_t code = (uint32_t)(next >> 32);

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (code < lengths[i].end) {
            const uint32_t place = (code >> (32 - lengths[i].len)) - lengths[i].first;

            return (struct quick){rare[place], lengths[i].len};
        }
    }
    return (struct quick){0, 0};
}

static inline struct quick next_symbol(const struct bits *b)
{
    const struct quick q = quick[b->next >> 56];

    return q.len ? q : find_rare(b->next);
}

static bool is_padding(const struct bits *b)
{
    return b->count < 8 && b->next == ~(~UINT64_C(0) >> b->count);
}

ssize_t huffman_decode(char *dst, size_t room, const uint8_t *bytes, size_t len)
{
    struct bits b = {bytes, bytes + len, 0, 0};
    size_t n = 0;

    for (;;) {
        struct quick q;

        if (b.count < CODE_MAX)
            refill(&b);
        q = next_symbol(&b);
        if (q.len == 0)
            return MK_E_BAD;
        if (q.len > b.count)
            break;
        if (n == room)
            return MK_E_LIMIT;
        dst[n++] = (char)q.symbol;
        b.next <<= q.len;
        b.count -= q.len;
    }
    return is_padding(&b) ? (ssize_t)n : MK_E_BAD;
}
