/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_WHY_H
#define MBED_WHY_H

enum { MBED_WHY_MAX = 128 };

/** What an error of the library means, as far as it says. @return text. */
const char *mbed_why(int err, char text[MBED_WHY_MAX]);

#endif
