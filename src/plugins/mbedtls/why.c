/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <mbedtls/error.h>

const char *mbed_why(int err, char text[MBED_WHY_MAX])
{
    mbedtls_strerror(err, text, MBED_WHY_MAX);
    return text;
}
