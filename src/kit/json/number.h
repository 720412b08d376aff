/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_NUMBER_H
#define KIT_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers read and printed with a point, whatever the locale: RFC 8259 section 6. No allocation. */

/** What the grammar lets be a number. */
struct json_number {
    const char *begin, *end; /* borrowed */
    bool is_negative;
    uint64_t value; /* of the digits, if 64 bits hold them */
    long power;     /* of ten */
};

/** Read what is a number by its grammar. @return false: it does not begin with one, or only with a part of one */
bool json_scan_number(struct json_number *n, const char *p, const char *end);
/** The double nearest to it, which is 0 for what is nearer to that than to the least above. @return false: it is beyond the largest, and *number infinite */
bool json_number_double(const struct json_number *n, double *number);

/**
 * The integer that it is by its digits, exactly: 10, 1e1 and 10.0 are one.
 * @param magnitude  out: without its sign
 * @return 0; MK_E_BAD: it has a fraction; MK_E_LIMIT: its magnitude is above 64 bits
 */
int json_number_integer(const struct json_number *n, uint64_t *magnitude);
/** The same with its sign. @return MK_E_LIMIT: it is out of range */
int json_number_int64(const struct json_number *n, int64_t *number);

/** Both at once. @return its end; NULL: *number is infinite, or is no number where there is none */
const char *json_read_number(const char *p, const char *end, double *number);

enum { JSON_NUMBER_ROOM = 40 };
/** Print the shortest digits that read back as the same number, in any locale; "null" if it is none. */
void json_print_number(char text[JSON_NUMBER_ROOM], double number);
/** The same without an end mark. @return behind it */
char *json_put_number(char *to, double number);

#endif
