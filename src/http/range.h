/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_RANGE_H
#define MK_HTTP_RANGE_H

#include <monkey/types.h>

/* Byte ranges: RFC 9110 section 14. */

struct mk_range {
    uint64_t first, last; /* inclusive offsets, last < size */
};

/**
 * Read a Range value against a representation of size bytes.
 * Unsatisfiable ranges are dropped, the rest clamped to size; overlapping and adjoining ranges
 * are merged. Order of first appearance is kept.
 * @param ranges  room for max results
 * @return > 0: number of ranges to send;
 *         0: the field is to be ignored (another unit, bad syntax, more than
 *         MK_LIMIT_RANGES_ASKED written or more than max left after merging);
 *         MK_E_INVALID: syntax right but nothing satisfiable: 416.
 */
int mk_range_parse(struct mk_str value, uint64_t size, struct mk_range *ranges,
                   int max) MK_MUST_USE;

#endif
