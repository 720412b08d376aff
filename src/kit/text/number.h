/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_NUMBER_H
#define KIT_TEXT_NUMBER_H

#include <monkey/types.h>

/** Digits and nothing else. @return the number, 1 to max; 0: it is none, or out of range. */
uint32_t text_number(struct mk_str text, uint32_t max);

#endif
