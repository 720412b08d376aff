/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_DECIMAL_H
#define KIT_JSON_DECIMAL_H

/* Doubles from decimal digits and back, without the locale: no allocation, any thread. */

#include <stdbool.h>
#include <stdint.h>

/** A number as its shortest digits: digits * 10^power. */
struct json_decimal {
    uint64_t digits;
    int power;
};

/**
 * The double nearest to digits * 10^power, ties to even; infinite beyond the largest.
 * @return false: these digits do not decide it
 */
bool json_to_double(uint64_t digits, long power, double *number);

/** @return the shortest digits that read back as a positive finite number, of these the nearest, without zeros at the end. */
struct json_decimal json_shortest(double number);

#endif
