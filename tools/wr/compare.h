/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_COMPARE_H
#define WR_COMPARE_H

#include "result.h"

enum compare_exit { COMPARE_SAME = 0, COMPARE_WORSE = 1, COMPARE_CANNOT_TELL = 2 };

/**
 * Print what changed from a to b beyond noise, for each target and concurrency that both have.
 * @param is_forced  compare another processor, kernel or generator too
 * @return what wr exits with: something became worse; or nothing of it could be compared
 */
enum compare_exit compare_results(FILE *to, const struct result *a, const struct result *b,
                                  bool is_forced);

#endif
