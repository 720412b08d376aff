/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "packages/memcached/reader.h"

#include <string.h>

/*
 * What a server of memcached sends, whole and dripped: the same answer or the same refusal, in the same bytes. Input: a byte
 * for the kind of command, then answers.
 */

enum { VALUE_MAX = 1000 };

static ssize_t read_in_pieces(struct memc_reader *r, enum memc_kind kind, const uint8_t *data,
                              size_t size, size_t step)
{
    size_t at = 0;

    memc_reader_begin(r, kind, "key", 3, VALUE_MAX);
    while (at < size && r->state != MEMC_READER_DONE) {
        const size_t len = step < size - at ? step : size - at;
        char *copy = exact_copy(data + at, len);
        const ssize_t n = memc_reader_feed(r, copy, len);

        free(copy);
        require((n < 0) == (r->why != NULL) && n <= (ssize_t)len);
        if (n < 0)
            return -1;
        require((size_t)n == len || r->state == MEMC_READER_DONE);
        at += (size_t)n;
    }
    return (ssize_t)at;
}

static void require_same(const struct memc_reader *a, const struct memc_reader *b)
{
    require(a->state == b->state && a->result == b->result && a->number == b->number);
    require(a->value_got == b->value_got && a->value_got <= a->value_len &&
            a->value_len <= VALUE_MAX && !a->value == !b->value);
    require(!a->value || memcmp(a->value, b->value, a->value_got + 1) == 0);
    require(a->result >= 0 || strcmp(a->line, b->line) == 0);
    require(!a->why || strcmp(a->why, b->why) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const enum memc_kind kind = 1 << take_byte(&data, &size) % 6;
    struct memc_reader whole, dripped;
    const ssize_t used = read_in_pieces(&whole, kind, data, size, size);

    require(read_in_pieces(&dripped, kind, data, size, 1) == used);
    require_same(&whole, &dripped);
    memc_reader_fini(&whole);
    memc_reader_fini(&dripped);
    return 0;
}
