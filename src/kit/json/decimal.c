/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/decimal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/*
 * Both ways need powers of ten to 128 bits. Reading is as D. Lemire describes it, "Number Parsing at a Gigabyte per Second";
 * printing as R. Giulietti does, "The Schubfach way to render doubles".
 */

struct wide {
    uint64_t high, low;
};

static struct wide multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;

    return (struct wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
    const uint64_t half = UINT32_MAX, al = a & half, ah = a >> 32, bl = b & half, bh = b >> 32;
    const uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (middle & half);

    return (struct wide){ah * bh + (middle >> 32) + (other >> 32), other << 32 | (low & half)};
#endif
}

enum { STEP = 27, FIRST = -13 * STEP }; /* of the powers that are stored */

/* The first 192 bits of 10^FIRST, 10^(FIRST + STEP), ... */
static const uint64_t steps[][3] = {
    {0x8049a4ac0c5811ae, 0x205b896d777d6278, 0xac261e9f5141430b},
    {0xcf42894a5dce35ea, 0x52064cac828675b9, 0x475f2b7d7df1ad7a},
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36},
    {0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7},
    {0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662},
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418},
    {0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d},
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396},
    {0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3},
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec},
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901},
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8},
    {0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7},
    {0x8000000000000000, 0x0000000000000000, 0x0000000000000000},
    {0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000},
    {0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000},
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28},
    {0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3},
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f},
    {0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5},
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c},
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde},
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47},
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c},
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37},
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2},
};

/* 10^0 to 10^26, with their first bit set. */
static const uint64_t between[STEP] = {
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000,
    0x9c40000000000000, 0xc350000000000000, 0xf424000000000000, 0x9896800000000000,
    0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000,
    0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000,
    0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
    0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400,
    0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8,
};

/* @return the first 128 bits of 10^power, which is from -342 to 324: all of them are right, not rounded */
static struct wide power_of_ten(int power)
{
    const uint64_t *step = steps[(power - FIRST) / STEP], factor = between[(power - FIRST) % STEP];
    const struct wide low = multiply(step[2], factor), middle = multiply(step[1], factor);
    struct wide high = multiply(step[0], factor);
    const uint64_t third = middle.low + low.high, carry = middle.high + (third < middle.low);

    high.low += carry;
    high.high += high.low < carry;
    if (high.high >> 63)
        return high;
    return (struct wide){high.high << 1 | high.low >> 63, high.low << 1 | third >> 63};
}

static struct wide plus_one(struct wide value)
{
    value.low++;
    value.high += value.low == 0;
    return value;
}

/* ---- reading ---- */

enum { FRACTION = 52, BIAS = 1023, POWER_MIN = -342, POWER_MAX = 308 };

/* @return the first bits of digits * 10^power; enough of them to round */
static struct wide scale(uint64_t digits, int power)
{
    struct wide ten = power_of_ten(power), product, more;

    if (power < 0 && power >= -27)
        ten = plus_one(ten);
    product = multiply(digits, ten.high);
    if ((product.high & 0x1ff) != 0x1ff)
        return product;
    more = multiply(digits, ten.low);
    product.low += more.high;
    product.high += product.low < more.high;
    return product;
}

static double of_bits(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* @return the double of a mantissa that has a bit to round, when its exponent is below the least */
static double subnormal(uint64_t mantissa, int exponent)
{
    if (exponent <= -63)
        return 0;
    mantissa >>= 1 - exponent;
    mantissa += mantissa & 1;
    return of_bits(mantissa >> 1); /* the least normal one when it has grown to that */
}

bool json_to_double(uint64_t digits, long power, double *number)
{
    struct wide product;
    uint64_t mantissa;
    int zeros, upper, exponent, ten = (int)power;

    *number = digits == 0 || power < POWER_MIN ? 0 : (double)INFINITY;
    if (digits == 0 || power < POWER_MIN || power > POWER_MAX)
        return true;
    zeros = __builtin_clzll(digits);
    product = scale(digits << zeros, ten);
    if (product.low == UINT64_MAX && (ten < -27 || ten > 55))
        return false;
    upper = (int)(product.high >> 63);
    mantissa = product.high >> (upper + 64 - FRACTION - 3);
    exponent = ((217706 * ten) >> 16) + 63 + upper - zeros + BIAS;
    if (exponent <= 0) {
        *number = subnormal(mantissa, exponent);
        return true;
    }
    /* Just between two doubles, which takes a product that is exact. */
    if (product.low <= 1 && ten >= -4 && ten <= 23 && (mantissa & 3) == 1 &&
        mantissa << (upper + 64 - FRACTION - 3) == product.high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    exponent += (int)(mantissa >> (FRACTION + 1));
    mantissa &= mantissa >> (FRACTION + 1) ? 0 : (UINT64_C(1) << FRACTION) - 1;
    if (exponent < 2 * BIAS + 1)
        *number = of_bits((uint64_t)exponent << FRACTION | mantissa);
    return true;
}

/* ---- printing ---- */

/* @return the whole part of a product, the last bit set if more follows */
static uint64_t round_to_odd(struct wide ten, uint64_t value)
{
    const uint64_t carry = multiply(ten.low, value).high;
    struct wide product = multiply(ten.high, value);

    product.low += carry;
    product.high += product.low < carry;
    return product.high | (product.low > 1);
}

/* What reads back as the number lies from lower to upper: both, and the number itself, four times as large. */
struct interval {
    uint64_t lower, number, upper;
    int power; /* of ten */
};

static struct interval interval_of(uint64_t fraction, int biased)
{
    const uint64_t hidden = biased > 0 ? UINT64_C(1) << FRACTION : 0, mantissa = fraction | hidden;
    const int two = (biased > 0 ? biased : 1) - BIAS - FRACTION;
    const int is_closer =
        fraction == 0 && biased > 1; /* the next smaller double has half the distance */
    const int power = (two * 1262611 - (is_closer ? 524031 : 0)) >> 22;
    const int shift = two + ((-power * 1741647) >> 19) + 1;
    const unsigned is_odd = mantissa & 1;
    struct wide ten = power_of_ten(-power);

    if (-power < 0 || -power > 55)
        ten = plus_one(ten);
    return (struct interval){
        round_to_odd(ten, (4 * mantissa - 2 + (unsigned)is_closer) << shift) + is_odd,
        round_to_odd(ten, (4 * mantissa) << shift),
        round_to_odd(ten, (4 * mantissa + 2) << shift) - is_odd,
        power,
    };
}

static struct json_decimal choose(const struct interval *in)
{
    const uint64_t digits = in->number / 4, tens = digits / 10, middle = 4 * digits + 2;
    bool is_below, is_above;

    if (digits >= 10) {
        is_below = in->lower <= 40 * tens;
        is_above = 40 * tens + 40 <= in->upper;
        if (is_below != is_above)
            return (struct json_decimal){tens + is_above, in->power + 1};
    }
    is_below = in->lower <= 4 * digits;
    is_above = 4 * digits + 4 <= in->upper;
    if (is_below == is_above)
        is_above = in->number > middle || (in->number == middle && (digits & 1));
    return (struct json_decimal){digits + is_above, in->power};
}

static void drop_zeros(struct json_decimal *decimal)
{
    static const struct {
        uint64_t divisor;
        int count;
    } parts[] = {{100000000, 8}, {10000, 4}, {100, 2}, {10, 1}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (decimal->digits % parts[i].divisor != 0)
            continue;
        decimal->digits /= parts[i].divisor;
        decimal->power += parts[i].count;
    }
}

struct json_decimal json_shortest(double number)
{
    struct json_decimal decimal;
    struct interval in;
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    in = interval_of(bits & ((UINT64_C(1) << FRACTION) - 1), (int)(bits >> FRACTION & 0x7ff));
    decimal = choose(&in);
    drop_zeros(&decimal);
    return decimal;
}
