/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/credit.h"

static const uint8_t prices[H2_PRICE_COUNT] = {
#define H2_PRICE_ROW(name, price, sentence) [H2_PRICE_##name] = (price),
    H2_PRICES(H2_PRICE_ROW)
#undef H2_PRICE_ROW
};

void h2_credit_init(struct h2_credit *credit, int64_t now_ms)
{
    *credit = (struct h2_credit){.left = H2_CREDIT_MAX, .at_ms = now_ms};
}

void h2_credit_earn(struct h2_credit *credit, int32_t points)
{
    credit->left = points < H2_CREDIT_MAX - credit->left ? credit->left + points : H2_CREDIT_MAX;
}

void h2_credit_move(struct h2_credit *credit, uint64_t bytes)
{
    uint64_t all = credit->bytes + bytes, points = all / H2_CREDIT_BYTES;

    credit->bytes = (uint32_t)(all % H2_CREDIT_BYTES);
    h2_credit_earn(credit, points < H2_CREDIT_MAX ? (int32_t)points : H2_CREDIT_MAX);
}

static void earn_time(struct h2_credit *credit, int64_t now_ms)
{
    int64_t points = (now_ms - credit->at_ms) * H2_CREDIT_A_SECOND / 1000;

    if (points <= 0)
        return;
    credit->at_ms = now_ms;
    h2_credit_earn(credit, points < H2_CREDIT_MAX ? (int32_t)points : H2_CREDIT_MAX);
}

bool h2_credit_pay(struct h2_credit *credit, enum h2_price what, int64_t now_ms)
{
    earn_time(credit, now_ms);
    credit->left -= prices[what];
    return credit->left >= 0;
}
