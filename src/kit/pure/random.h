/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_RANDOM_H
#define KIT_PURE_RANDOM_H

#include <stdbool.h>

/** 128 random bits in hexadecimal, as names that nobody can guess have them. */
enum { RANDOM_TEXT_LEN = 32 };

/** Write such a text, terminated. @return false: the kernel gives none. Any thread. */
bool random_text(char text[RANDOM_TEXT_LEN + 1]);

#endif
