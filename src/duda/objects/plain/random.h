/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_RANDOM_H
#define MK_DUDA_OBJECTS_RANDOM_H

#include <stdbool.h>

/** 128 random bits in hexadecimal, as names that nobody can guess have them. */
enum { MK_DUDA_RANDOM_LEN = 32 };

/** Write such a text, terminated. @return false: the kernel gives none. Any thread. */
bool mk_duda_random_text(char text[MK_DUDA_RANDOM_LEN + 1]);

#endif
