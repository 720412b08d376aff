/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_TEXT_H
#define DIRLISTING_TEXT_H

#include <monkey/types.h>

#include <stdint.h>

/* Sizes for people. */

enum { DIRLISTING_SIZE_MAX = 24 };

/** "17 B", "4.0 KiB", "1.2 GiB": rounded to nearest. @return bytes written; terminated. */
size_t dirlisting_size(char dst[DIRLISTING_SIZE_MAX], int64_t bytes);

#endif
