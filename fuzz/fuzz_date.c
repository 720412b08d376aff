/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "http/date.h"

/*
 * Any bytes as a date, and any number as a time: what is read can be written, and what is
 * written reads as the same time.
 * Input: eight bytes of a time, which is also the present; the text.
 */

static const int64_t first = -62167219200, last = 253402300799; /* years 0 and 9999 */

static void check_round_trip(int64_t t, int64_t now)
{
    char text[MK_DATE_LEN];
    int64_t back;

    mk_date_format(text, t);
    require(mk_date_parse((struct mk_str){text, sizeof(text)}, now, &back) == 0);
    require(back == (t < first ? first : t > last ? last : t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t bits = 0;
    int64_t now, t;
    char *text;

    for (int i = 0; i < 8; i++)
        bits = bits << 8 | take_byte(&data, &size);
    memcpy(&now, &bits, sizeof(now));
    check_round_trip(now, 0);
    check_round_trip(now % (last + 1), now);
    text = exact_copy(data, size);
    if (mk_date_parse((struct mk_str){text, size}, now, &t) == 0) {
        require(t >= first && t <= last + 1); /* one more: a leap second at the very end */
        check_round_trip(t, now);
    }
    free(text);
    return 0;
}
