/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_UTC_H
#define KIT_TEXT_UTC_H

#include <monkey/types.h>

enum { TEXT_UTC_MAX = 24 };

/**
 * A time as RFC 3339 writes it in UTC: "2026-11-21T17:46:56Z".
 * @param seconds  since 1970
 * @param between  the character in place of the T
 * @return bytes written, and a zero behind them; 0 for years that have not four digits.
 */
size_t text_utc(char dst[TEXT_UTC_MAX], int64_t seconds, char between);

#endif
